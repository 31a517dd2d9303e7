/* The stiffness (and mass) operator of spectral elements, r_ijk;e of the paper's equation 8, a block a group of ELEMENTS hexahedra.
 *
 * A thread owns PENCILS pencils of Q nodes along ζ, at one i and at j, j + ROWS, ... of one element. Derivatives along ζ stay in its
 * registers, with D as constants of the code; along ξ and η rows and columns are read from shared memory, a column once for all
 * pencils of the thread, and the rows of D are in registers. Three stages, two barriers: derivatives and products with the metric
 * between them, divergence after.
 *
 * Two departures from the equation as printed. The weights belong inside its sums, or the operator is not symmetric. And D' is not
 * needed: on GLL points summation by parts holds, ρ_i D_im + ρ_m D_mi = 0 but in the corners, where it is ∓1, so that
 *
 *     Σ_m D_mi ρ_m g_m = -ρ_i Σ_m E_im g_m,   E = D with the sign of its diagonal changed,
 *
 * and the same rows serve both stages; the metric is stored without weights, which come in at the end.
 *
 * Nodes of a group lie slab after slab, [group][k][element][j][i], so that threads read what lies together (layout.py). In `table` a
 * negative number is a node that reads as zero: Dirichlet's, or of the elements that fill up the last group. */

#define Q2 (Q * Q)
#define ROWS ((Q + PENCILS - 1) / PENCILS)
#define PER_ELEMENT (Q * ROWS)
#define THREADS (ELEMENTS * PER_ELEMENT)
#define LANES (ELEMENTS * Q2)
#define PITCH (Q + PADDING)
#define SLAB (Q * PITCH)
#define TILE (ELEMENTS * Q * SLAB)
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2
#define IS_THERE(r) (Q % PENCILS == 0 || j + (r) * ROWS < Q)          /* the last pencil of some threads */
#define ROW(r) (IS_THERE(r) ? j + (r) * ROWS : 0)
#define NODE(r) (e * Q2 + (r) * PER_ELEMENT + t % PER_ELEMENT)         /* in the slab of the group */
#define AT(k, row, column) (((e * Q + (k)) * Q + (row)) * PITCH + (column)) /* in a tile of shared memory */
#define E(k, m) ((k) == (m) ? -derivative[(k) * Q + (m)] : derivative[(k) * Q + (m)])

#include "output.h"
#include "stages.h"
#if GEOMETRY == TRILINEAR
#include "trilinear.h"
#endif
#define FACTOR(r, k, c) (factors + ((k) * COMPONENTS + (c)) * LANES + NODE(r))
#if STAGES
#define STAGED(r, k, c) (pool + 3 * TILE + ((k) % STAGES * 6 + (c)) * LANES + NODE(r))
#define METRIC(r, k, c) arrived(STAGED(r, k, c))
#else
#define METRIC(r, k, c) *FACTOR(r, k, c)
#endif
#if GEOMETRY == STORED /* c |J| */
#define MASS(r, k) *FACTOR(r, k, 6)
#elif GEOMETRY == TRILINEAR
#define MASS(r, k) constants[e * CONSTANTS + 22] * P(volume)[(r) * Q + (k)]
#else
#define MASS(r, k) constants[e * CONSTANTS + 6]
#endif
#if HAS_MASS && GEOMETRY == TRILINEAR
#define KEEP_VOLUME(r, k) P(volume)[(r) * Q + (k)] =
#else
#define KEEP_VOLUME(r, k)
#endif

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED_POOL(real, pool, 3 * ELEMENTS * Q * Q * (Q + PADDING) + ELEMENTS * CONSTANTS + STAGES * 6 * ELEMENTS * Q * Q);
    PRIVATE_ARRAY(real, u, PENCILS * Q); /* then ∂u/∂ζ, then its flux */
#if HAS_MASS && GEOMETRY == TRILINEAR
    PRIVATE_ARRAY(real, volume, PENCILS * Q);
#endif
    PRIVATE_ARRAY(real, d_i, Q);
    PRIVATE_ARRAY(real, d_j, PENCILS * Q);
    SHARED_POINTER real *values = pool, *flux_i = pool + TILE, *flux_j = pool + 2 * TILE;
    const real derivative[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real point[Q] = {POINTS};
#endif
#if GEOMETRY == STORED
    GLOBAL const real *factors = geometry + group * (Q * COMPONENTS * LANES);
#else
    SHARED_POINTER real *constants = pool + 3 * TILE;
    INNER_FOR(c, ELEMENTS * CONSTANTS) {
        constants[c] = geometry[group * (ELEMENTS * CONSTANTS) + c];
    }
#endif
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / PER_ELEMENT, j = t % PER_ELEMENT / Q, i = t % Q;
        GLOBAL const int *nodes = table + group * (Q * LANES);
#if STAGES
        UNROLL
        for (int k = 0; k < STAGES; ++k) {
            UNROLL
            for (int r = 0; r < PENCILS; ++r) {
                UNROLL
                for (int c = 0; c < 6 && IS_THERE(r); ++c) copy_ahead(STAGED(r, k, c), FACTOR(r, k, c));
            }
            end_of_stage();
        }
#endif
        UNROLL
        for (int r = 0; r < PENCILS; ++r) {
            if (!IS_THERE(r)) continue;
            UNROLL
            for (int k = 0; k < Q; ++k) {
                const int node = nodes[k * LANES + NODE(r)];
                P(u)[r * Q + k] = node < 0 ? (real)0 : x[node];
            }
        }
        UNROLL
        for (int r = 0; r < PENCILS; ++r) {
            if (!IS_THERE(r)) continue;
            UNROLL
            for (int k = 0; k < Q; ++k) values[AT(k, ROW(r), i)] = P(u)[r * Q + k];
        }
        UNROLL
        for (int m = 0; m < Q; ++m) { /* the rule holds D transposed: neighbours read neighbours */
            P(d_i)[m] = rule[m * Q + i];
            UNROLL
            for (int r = 0; r < PENCILS; ++r) P(d_j)[r * Q + m] = rule[m * Q + ROW(r)];
        }
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / PER_ELEMENT, j = t % PER_ELEMENT / Q, i = t % Q;
#if GEOMETRY == TRILINEAR
        struct pencil along[PENCILS];
        UNROLL
        for (int r = 0; r < PENCILS; ++r)
            along[r] = pencil_of(constants + e * CONSTANTS, rule[Q2 + Q + i], rule[Q2 + Q + ROW(r)]);
#endif
        UNROLL
        for (int r = 0; r < PENCILS; ++r) {
            real own[Q];
            UNROLL
            for (int k = 0; k < Q; ++k) own[k] = P(u)[r * Q + k];
            UNROLL
            for (int k = 0; k < Q; ++k) {
                real sum = 0;
                UNROLL
                for (int m = 0; m < Q; ++m) sum += derivative[k * Q + m] * own[m];
                P(u)[r * Q + k] = sum;
            }
        }
        UNROLL
        for (int k = 0; k < Q; ++k) {
            real u_i[PENCILS], u_j[PENCILS];
#if STAGES
            wait_for_stage();
#endif
            UNROLL
            for (int r = 0; r < PENCILS; ++r) u_i[r] = u_j[r] = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) {
                const real column = values[AT(k, m, i)];
                UNROLL
                for (int r = 0; r < PENCILS; ++r) {
                    u_i[r] += P(d_i)[m] * values[AT(k, ROW(r), m)];
                    u_j[r] += P(d_j)[r * Q + m] * column;
                }
            }
            UNROLL
            for (int r = 0; r < PENCILS; ++r) {
                if (!IS_THERE(r)) continue;
                const int here = AT(k, ROW(r), i);
                const real u_k = P(u)[r * Q + k];
#if GEOMETRY == TRILINEAR
                real flux[3];
                KEEP_VOLUME(r, k) pencil_flux(&along[r], point[k], constants[e * CONSTANTS + 21], u_i[r], u_j[r], u_k, flux);
                flux_i[here] = flux[0];
                flux_j[here] = flux[1];
                P(u)[r * Q + k] = flux[2];
#else
#if GEOMETRY == STORED
                const real g11 = METRIC(r, k, 0), g12 = METRIC(r, k, 1), g13 = METRIC(r, k, 2);
                const real g22 = METRIC(r, k, 3), g23 = METRIC(r, k, 4), g33 = METRIC(r, k, 5);
#else
                SHARED_POINTER const real *g = constants + e * CONSTANTS;
                const real g11 = g[0], g12 = g[1], g13 = g[2], g22 = g[3], g23 = g[4], g33 = g[5];
#endif
                flux_i[here] = g11 * u_i[r] + g12 * u_j[r] + g13 * u_k;
                flux_j[here] = g12 * u_i[r] + g22 * u_j[r] + g23 * u_k;
                P(u)[r * Q + k] = g13 * u_i[r] + g23 * u_j[r] + g33 * u_k;
#endif
            }
#if STAGES
            UNROLL
            for (int r = 0; r < PENCILS; ++r) {
                UNROLL
                for (int c = 0; c < 6 && IS_THERE(r) && k + STAGES < Q; ++c)
                    copy_ahead(STAGED(r, k, c), FACTOR(r, k + STAGES, c));
            }
            end_of_stage();
#endif
        }
        UNROLL
        for (int m = 0; m < Q; ++m) { /* from D to E */
            P(d_i)[m] = m == i ? -P(d_i)[m] : P(d_i)[m];
            UNROLL
            for (int r = 0; r < PENCILS; ++r) P(d_j)[r * Q + m] = m == j + r * ROWS ? -P(d_j)[r * Q + m] : P(d_j)[r * Q + m];
        }
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / PER_ELEMENT, j = t % PER_ELEMENT / Q, i = t % Q;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            real sum[PENCILS];
            UNROLL
            for (int r = 0; r < PENCILS; ++r) sum[r] = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) {
                const real column = flux_j[AT(k, m, i)];
                UNROLL
                for (int r = 0; r < PENCILS; ++r) {
                    sum[r] += P(d_i)[m] * flux_i[AT(k, ROW(r), m)];
                    sum[r] += P(d_j)[r * Q + m] * column;
                    sum[r] += E(k, m) * P(u)[r * Q + m];
                }
            }
            UNROLL
            for (int r = 0; r < PENCILS; ++r) {
                if (!IS_THERE(r)) continue;
                const long place = group * (Q * LANES) + k * LANES + NODE(r);
                const real product = rule[Q2 + i] * rule[Q2 + ROW(r)] * weight[k]; /* ρ_i ρ_j ρ_k */
                real result = -product * sum[r];
#if HAS_MASS
                result += product * MASS(r, k) * values[AT(k, ROW(r), i)];
#endif
#if OUTPUT != TO_PARTS
                DELIVER(table[place], group * ELEMENTS + e, k, ROW(r), i, parts, y, result);
#else
                parts[place] = result;
#endif
            }
        }
    }
}
