/* The operator of stiffness.c for high orders: same arguments, same layout, same test.
 *
 * A thread takes a pencil of Q nodes along each axis in turn, sums along it in its registers, with D as constants of the code, and puts
 * the sums back to shared memory: twice a node and an axis, where stiffness.c reads rows and columns Q times. As D is its own negative
 * when both its axes are turned, sums of what is even and odd in a pencil take half of the products. */

#define Q2 (Q * Q)
#define HALF (Q / 2)
#define THREADS (ELEMENTS * Q2)
#define LANES THREADS
#define TILE (Q * SLAB) /* rows lie PITCH apart, and slabs SLAB: see shapes.py */
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2
#define PLACE(k) ((group * Q + (k)) * LANES + t)

#ifdef __OPENCL_VERSION__
#define CONSTANT_MEMORY __constant
#elif defined(__CUDACC__)
#define CONSTANT_MEMORY __constant__
#else
#define CONSTANT_MEMORY static const
#endif

#include "output.h"
#if GEOMETRY == TRILINEAR
#include "trilinear.h"
#endif

/* D folded: for even and odd pencils, row after row; the middle column and the middle row; and E's first number. CUDA's instructions
 * take operands from such memory, where they move numbers of the code to registers first. */
CONSTANT_MEMORY real folded[2 * HALF * (HALF + 1) + 2] = {FOLDED};

/* Sums and differences of what lies opposite each other. */
DEVICE_FUNCTION void fold(const real *values, real *even, real *odd)
{
    UNROLL
    for (int m = 0; m < HALF; ++m) {
        even[m] = values[m] + values[Q - 1 - m];
        odd[m] = values[m] - values[Q - 1 - m];
    }
    if (Q % 2) even[HALF] = values[HALF];
}

/* Rows i and Q - 1 - i of D times a folded pencil, or of E, which is D with the sign of its diagonal changed: that is zero but at i = 0. */
DEVICE_FUNCTION void sums(const real *even, const real *odd, const int i, const int of_flux, real *first, real *last)
{
    real of_even = 0, of_odd = 0;
    UNROLL
    for (int m = 0; m < HALF; ++m) {
        const int at = of_flux && i == 0 && m == 0 ? 2 * HALF * (HALF + 1) : 2 * (HALF * i + m);
        of_even += folded[at] * even[m];
        of_odd += folded[at + 1] * odd[m];
    }
    if (Q % 2) of_even += folded[2 * (HALF * HALF + i)] * even[HALF];
    *first = of_odd + of_even;
    *last = of_odd - of_even;
}

/* The row in the middle, of an odd number of nodes. */
DEVICE_FUNCTION real middle(const real *odd)
{
    real sum = 0;
    UNROLL
    for (int m = 0; m < HALF; ++m) sum += folded[2 * (HALF * HALF + m) + 1] * odd[m];
    return sum;
}

/* D (or E) times a pencil in shared memory, into another or itself. */
DEVICE_FUNCTION void along(SHARED_POINTER real *to, SHARED_POINTER const real *from, const int step, const int of_flux)
{
    real values[Q], even[HALF + 1], odd[HALF + 1];
    UNROLL
    for (int m = 0; m < Q; ++m) values[m] = from[m * step];
    fold(values, even, odd);
    UNROLL
    for (int i = 0; i < HALF; ++i) {
        real first, last;
        sums(even, odd, i, of_flux, &first, &last);
        to[i * step] = first;
        to[(Q - 1 - i) * step] = last;
    }
    if (Q % 2) to[HALF * step] = middle(odd);
}

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED_POOL(real, pool, 3 * ELEMENTS * Q * SLAB + ELEMENTS * CONSTANTS);
    PRIVATE_ARRAY(real, u, Q); /* along ζ; then ∂u/∂ζ, then its flux */
    SHARED_POINTER real *values = pool, *flux_i = pool + ELEMENTS * TILE, *flux_j = pool + 2 * ELEMENTS * TILE;
    const real weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real point[Q] = {POINTS};
#endif
#if GEOMETRY == STORED
    GLOBAL const real *factors = geometry + group * (Q * COMPONENTS * LANES);
#else
    SHARED_POINTER real *constants = pool + 3 * ELEMENTS * TILE;
    INNER_FOR(c, ELEMENTS * CONSTANTS) {
        constants[c] = geometry[group * (ELEMENTS * CONSTANTS) + c];
    }
#endif
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        SHARED_POINTER real *own = values + t / Q2 * TILE + t % Q2 / Q * PITCH + t % Q;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int node = table[PLACE(k)];
            P(u)[k] = node < 0 ? (real)0 : x[node];
        }
        UNROLL
        for (int k = 0; k < Q; ++k) own[k * SLAB] = P(u)[k];
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int begin = t / Q2 * TILE + t % Q2 / Q * SLAB, at_i = begin + t % Q * PITCH, at_j = begin + t % Q;
        along(flux_i + at_i, values + at_i, 1, 0);
        along(flux_j + at_j, values + at_j, PITCH, 0);
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / Q2, j = t % Q2 / Q, i = t % Q, own = e * TILE + j * PITCH + i;
        real even[HALF + 1], odd[HALF + 1];
        fold(P(u), even, odd);
        UNROLL
        for (int k = 0; k < HALF; ++k) sums(even, odd, k, 0, &P(u)[k], &P(u)[Q - 1 - k]);
        if (Q % 2) P(u)[HALF] = middle(odd);
#if GEOMETRY == TRILINEAR
        const struct pencil pencil = pencil_of(constants + e * CONSTANTS, rule[Q2 + Q + i], rule[Q2 + Q + j]);
        const struct cofactors metric = cofactors_of(&pencil);
#endif
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int at = own + k * SLAB;
            const real u_i = flux_i[at], u_j = flux_j[at], u_k = P(u)[k];
#if GEOMETRY == TRILINEAR
            real flux[3];
            const real volume = cofactors_flux(&metric, point[k], constants[e * CONSTANTS + 21], u_i, u_j, u_k, flux);
            flux_i[at] = flux[0];
            flux_j[at] = flux[1];
            P(u)[k] = flux[2];
#if HAS_MASS
            values[at] *= constants[e * CONSTANTS + 22] * volume;
#endif
#else
#if GEOMETRY == STORED
#define G(c) factors[(k * COMPONENTS + (c)) * LANES + t]
#else
#define G(c) constants[e * CONSTANTS + (c)]
#endif
            const real g11 = G(0), g12 = G(1), g13 = G(2), g22 = G(3), g23 = G(4), g33 = G(5);
            flux_i[at] = g11 * u_i + g12 * u_j + g13 * u_k;
            flux_j[at] = g12 * u_i + g22 * u_j + g23 * u_k;
            P(u)[k] = g13 * u_i + g23 * u_j + g33 * u_k;
#if HAS_MASS
            values[at] *= G(6);
#endif
#endif
        }
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int begin = t / Q2 * TILE + t % Q2 / Q * SLAB, at_i = begin + t % Q * PITCH, at_j = begin + t % Q;
        along(flux_i + at_i, flux_i + at_i, 1, 1);
        along(flux_j + at_j, flux_j + at_j, PITCH, 1);
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / Q2, j = t % Q2 / Q, i = t % Q, own = e * TILE + j * PITCH + i;
        const real product = rule[Q2 + i] * rule[Q2 + j]; /* ρ_i ρ_j */
        real even[HALF + 1], odd[HALF + 1];
        fold(P(u), even, odd);
        UNROLL
        for (int k = 0; k < HALF; ++k) sums(even, odd, k, 1, &P(u)[k], &P(u)[Q - 1 - k]);
        if (Q % 2) P(u)[HALF] = middle(odd);
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int at = own + k * SLAB;
            real sum = P(u)[k] + flux_i[at] + flux_j[at];
#if HAS_MASS
            sum -= values[at];
#endif
            const real result = -product * weight[k] * sum;
#if OUTPUT != TO_PARTS
            DELIVER(table[PLACE(k)], group * ELEMENTS + e, k, j, i, parts, y, result);
#else
            parts[PLACE(k)] = result;
#endif
        }
    }
}
