/* The stiffness (and mass) operator of spectral elements, r_ijk;e of the paper's equation 8, a block a group of ELEMENTS hexahedra.
 *
 * A thread owns the pencil of Q nodes along ζ at one (i, j) of one element. Derivatives along ζ stay in its registers, with D as
 * constants of the code; along ξ and η rows and columns are read from shared memory and the thread's two rows of D are in registers.
 * Three stages, two barriers: derivatives, products with the metric, divergence.
 *
 * Two departures from the equation as printed. The weights belong inside its sums, or the operator is not symmetric. And D' is not
 * needed: on GLL points summation by parts holds, ρ_i D_im + ρ_m D_mi = 0 but for the corners, where it is ∓1, so that
 *
 *     Σ_m D_mi ρ_m g_m = -ρ_i Σ_m E_im g_m,   E = D with the sign of its diagonal changed,
 *
 * and one pair of rows serves both stages; the metric is stored without weights, and they come in at the end.
 *
 * Nodes of a group lie slab after slab, [group][k][element][j][i], so that threads read what lies together (layout.py). In `table` a
 * negative number is a node that reads as zero: Dirichlet's, or of the elements that fill up the last group. */

#define Q2 (Q * Q)
#define LANES (ELEMENTS * Q2)
#define PITCH (Q + PADDING)
#define SLAB (Q * PITCH)
#define TILE (ELEMENTS * Q * SLAB)
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2

#if GEOMETRY == TRILINEAR
#include "trilinear.h"
#endif

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED_POOL(real, pool, 3 * ELEMENTS * Q * Q * (Q + PADDING) + ELEMENTS * CONSTANTS);
    PRIVATE_ARRAY(real, u, Q); /* then ∂u/∂ζ, then its flux */
    PRIVATE_ARRAY(real, di, Q);
    PRIVATE_ARRAY(real, dj, Q);
    SHARED_POINTER real *values = pool, *flux_i = pool + TILE, *flux_j = pool + 2 * TILE;
    const real derivative[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real point[Q] = {POINTS};
#endif
#if GEOMETRY != STORED
    SHARED_POINTER real *constants = pool + 3 * TILE;
    INNER_FOR(c, ELEMENTS * CONSTANTS) {
        constants[c] = geometry[group * (ELEMENTS * CONSTANTS) + c];
    }
#endif
    INNER(t) {
        if (LANES < BLOCK && t >= LANES) continue;
        const int e = t / Q2, j = t % Q2 / Q, i = t % Q;
        GLOBAL const int *node = table + group * (Q * LANES) + t;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int n = node[k * LANES];
            P(u)[k] = n < 0 ? (real)0 : x[n];
        }
        UNROLL
        for (int k = 0; k < Q; ++k) values[(e * Q + k) * SLAB + j * PITCH + i] = P(u)[k];
        UNROLL
        for (int m = 0; m < Q; ++m) { /* the rule holds D transposed: neighbours read neighbours */
            P(di)[m] = rule[m * Q + i];
            P(dj)[m] = rule[m * Q + j];
        }
    }
    BARRIER;
    INNER(t) {
        if (LANES < BLOCK && t >= LANES) continue;
        const int e = t / Q2, j = t % Q2 / Q, i = t % Q;
#if GEOMETRY == STORED
        GLOBAL const real *factor = geometry + group * (Q * COMPONENTS * LANES) + t;
#elif GEOMETRY == TRILINEAR
        const struct pencil along = pencil_of(constants + e * CONSTANTS, rule[Q2 + Q + i], rule[Q2 + Q + j]);
#endif
        real derived[Q];
        UNROLL
        for (int k = 0; k < Q; ++k) {
            derived[k] = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) derived[k] += derivative[k * Q + m] * P(u)[m];
        }
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int slab = (e * Q + k) * SLAB;
            real u_i = 0, u_j = 0;
            const real u_k = derived[k];
            UNROLL
            for (int m = 0; m < Q; ++m) {
                u_i += P(di)[m] * values[slab + j * PITCH + m];
                u_j += P(dj)[m] * values[slab + m * PITCH + i];
            }
#if GEOMETRY == TRILINEAR
            real flux[3];
            pencil_flux(&along, point[k], constants[e * CONSTANTS + 21], u_i, u_j, u_k, flux);
            flux_i[slab + j * PITCH + i] = flux[0];
            flux_j[slab + j * PITCH + i] = flux[1];
            P(u)[k] = flux[2];
#else
#if GEOMETRY == STORED
            const real g11 = factor[(k * COMPONENTS + 0) * LANES], g12 = factor[(k * COMPONENTS + 1) * LANES];
            const real g13 = factor[(k * COMPONENTS + 2) * LANES], g22 = factor[(k * COMPONENTS + 3) * LANES];
            const real g23 = factor[(k * COMPONENTS + 4) * LANES], g33 = factor[(k * COMPONENTS + 5) * LANES];
#else
            SHARED_POINTER const real *g = constants + e * CONSTANTS;
            const real g11 = g[0], g12 = g[1], g13 = g[2], g22 = g[3], g23 = g[4], g33 = g[5];
#endif
            flux_i[slab + j * PITCH + i] = g11 * u_i + g12 * u_j + g13 * u_k;
            flux_j[slab + j * PITCH + i] = g12 * u_i + g22 * u_j + g23 * u_k;
            P(u)[k] = g13 * u_i + g23 * u_j + g33 * u_k;
#endif
        }
        UNROLL
        for (int m = 0; m < Q; ++m) {
            P(di)[m] = m == i ? -P(di)[m] : P(di)[m];
            P(dj)[m] = m == j ? -P(dj)[m] : P(dj)[m];
        }
    }
    BARRIER;
    INNER(t) {
        if (LANES < BLOCK && t >= LANES) continue;
        const int e = t / Q2, j = t % Q2 / Q, i = t % Q;
        const real weight_ij = -rule[Q2 + i] * rule[Q2 + j];
#if HAS_MASS && GEOMETRY == STORED
        GLOBAL const real *factor = geometry + group * (Q * COMPONENTS * LANES) + t;
#elif HAS_MASS && GEOMETRY == TRILINEAR
        const struct pencil along = pencil_of(constants + e * CONSTANTS, rule[Q2 + Q + i], rule[Q2 + Q + j]);
#endif
#if ATOMIC
        GLOBAL const int *node = table + group * (Q * LANES) + t;
#else
        GLOBAL real *out = y + group * (Q * LANES) + t;
#endif
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int slab = (e * Q + k) * SLAB;
            real sum = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) {
                sum += P(di)[m] * flux_i[slab + j * PITCH + m];
                sum += P(dj)[m] * flux_j[slab + m * PITCH + i];
                sum += (m == k ? -derivative[k * Q + m] : derivative[k * Q + m]) * P(u)[m];
            }
            sum *= weight_ij * weight[k];
#if HAS_MASS
            const real own = values[slab + j * PITCH + i];
#if GEOMETRY == STORED
            sum += factor[(k * COMPONENTS + 6) * LANES] * own;
#elif GEOMETRY == TRILINEAR
            sum -= constants[e * CONSTANTS + 22] * weight_ij * weight[k] * pencil_volume(&along, point[k]) * own;
#else
            sum -= weight_ij * weight[k] * constants[e * CONSTANTS + 6] * own;
#endif
#endif
#if ATOMIC
            const int n = node[k * LANES];
            const int is_inner = k > 0 && k < Q - 1 && j > 0 && j < Q - 1 && i > 0 && i < Q - 1;
            if (n >= 0) {
                if (is_inner) y[n] = sum; /* of this element alone */
                else ATOMIC_ADD_GLOBAL(&y[n], sum);
            }
#else
            out[k * LANES] = sum;
#endif
        }
    }
}
