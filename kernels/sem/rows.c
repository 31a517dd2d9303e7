/* The operator of stiffness.c with recomputed factors, for low orders: same arguments, same layout, same test.
 *
 * A thread owns all nodes at one j of one element. Sums along ξ and ζ stay in its registers, and a node's flux along them is added to
 * the results as soon as it is there. Along η the Q threads of an element read the same numbers of shared memory at once, so that a warp
 * meets there as few as it has elements. */

#define Q2 (Q * Q)
#define THREADS (ELEMENTS * Q)
#define LANES (ELEMENTS * Q2)
#define TILE (Q * Q2 + (Q + 1) % 2) /* odd: elements of a warp meet no bank twice */
#define TRILINEAR 1
#define AFFINE 2
#define E(k, m) ((k) == (m) ? -derivative[(k) * Q + (m)] : derivative[(k) * Q + (m)])
#define PLACE(k, i) (((group * Q + (k)) * ELEMENTS + e) * Q2 + j * Q + (i))

#include "output.h"
#include "trilinear.h"

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED_POOL(real, pool, ELEMENTS * (2 * (Q * Q * Q + (Q + 1) % 2) + CONSTANTS));
    PRIVATE_ARRAY(real, u, Q2);
    PRIVATE_ARRAY(real, sum, Q2);
    SHARED_POINTER real *values = pool, *fluxes = pool + ELEMENTS * TILE, *constants = pool + 2 * ELEMENTS * TILE;
    const real derivative[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS}, point[Q] = {POINTS};
    INNER_FOR(c, ELEMENTS * CONSTANTS) {
        constants[c] = geometry[group * (ELEMENTS * CONSTANTS) + c];
    }
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / Q, j = t % Q;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            UNROLL
            for (int i = 0; i < Q; ++i) {
                const int node = table[PLACE(k, i)];
                P(u)[k * Q + i] = node < 0 ? (real)0 : x[node];
            }
        }
        UNROLL
        for (int k = 0; k < Q; ++k) {
            UNROLL
            for (int i = 0; i < Q; ++i) {
                values[e * TILE + k * Q2 + j * Q + i] = P(u)[k * Q + i];
                P(sum)[k * Q + i] = 0;
            }
        }
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / Q, j = t % Q;
        SHARED_POINTER const real *c = constants + e * CONSTANTS, *own = values + e * TILE;
        real d_j[Q];
        UNROLL
        for (int m = 0; m < Q; ++m) d_j[m] = rule[m * Q + j];
#if GEOMETRY == TRILINEAR
        const real eta = rule[Q2 + Q + j];
        struct pencil along = pencil_of(c, 0, eta);
        const real start[3] = {along.j_zeta[0], along.j_zeta[1], along.j_zeta[2]};
#endif
        UNROLL
        for (int i = 0; i < Q; ++i) {
#if GEOMETRY == TRILINEAR
            UNROLL
            for (int l = 0; l < 3; ++l) {
                along.g[l] = c[3 + l] + point[i] * c[9 + l];
                along.d[l] = c[15 + l] + point[i] * c[18 + l];
                along.j_zeta[l] = start[l] + point[i] * along.b[l];
            }
#endif
            UNROLL
            for (int k = 0; k < Q; ++k) {
                real u_i = 0, u_j = 0, u_k = 0, flux[3];
                UNROLL
                for (int m = 0; m < Q; ++m) {
                    u_i += derivative[i * Q + m] * P(u)[k * Q + m];
                    u_j += d_j[m] * own[k * Q2 + m * Q + i];
                    u_k += derivative[k * Q + m] * P(u)[m * Q + i];
                }
#if GEOMETRY == TRILINEAR
                const real mass = c[22] * pencil_flux(&along, point[k], c[21], u_i, u_j, u_k, flux);
#else
                const real mass = c[6];
                flux[0] = c[0] * u_i + c[1] * u_j + c[2] * u_k;
                flux[1] = c[1] * u_i + c[3] * u_j + c[4] * u_k;
                flux[2] = c[2] * u_i + c[4] * u_j + c[5] * u_k;
#endif
                fluxes[e * TILE + k * Q2 + j * Q + i] = flux[1];
#if HAS_MASS
                P(sum)[k * Q + i] -= mass * P(u)[k * Q + i];
#endif
                UNROLL
                for (int m = 0; m < Q; ++m) {
                    P(sum)[k * Q + m] += E(m, i) * flux[0];
                    P(sum)[m * Q + i] += E(m, k) * flux[2];
                }
            }
        }
    }
    BARRIER;
    INNER(t) {
        if (THREADS < BLOCK && t >= THREADS) continue;
        const int e = t / Q, j = t % Q;
        real e_j[Q];
        UNROLL
        for (int m = 0; m < Q; ++m) e_j[m] = m == j ? -rule[m * Q + j] : rule[m * Q + j];
        const real rho = -rule[Q2 + j];
        UNROLL
        for (int k = 0; k < Q; ++k) {
            UNROLL
            for (int i = 0; i < Q; ++i) {
                real total = P(sum)[k * Q + i];
                UNROLL
                for (int m = 0; m < Q; ++m) total += e_j[m] * fluxes[e * TILE + k * Q2 + m * Q + i];
                const real result = rho * (weight[i] * weight[k]) * total;
#if OUTPUT != TO_PARTS
                DELIVER(table[PLACE(k, i)], group * ELEMENTS + e, k, j, i, parts, y, result);
#else
                parts[PLACE(k, i)] = result;
#endif
            }
        }
    }
}
