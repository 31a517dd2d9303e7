/* The operator of stiffness.c for a processor: same arguments, same layout with one element a group, same test.
 *
 * A block is one thread, and an element's arrays lie in its cache. Every loop that is innermost runs over neighbours in memory with
 * a length known to the compiler, so that it becomes vector instructions: over a slab for sums along ζ, over a row for the others. */

#include "output.h"

#define Q2 (Q * Q)
#define Q3 (Q * Q * Q)
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2

/* A sum that is unrolled whole stays in registers, and the loop around it becomes vector instructions. */
#ifdef __OPENCL_VERSION__
#define SUM _Pragma("unroll")
#else
#define SUM _Pragma("GCC unroll 16")
#endif

/* out[k][p] = Σ_m a[k][m] in[m][p], p along a slab */
#define ALONG_ZETA(out, a, in)                                                                                       \
    for (int k = 0; k < Q; ++k) {                                                                                    \
        for (int p = 0; p < Q2; ++p) {                                                                               \
            real total = 0;                                                                                          \
            SUM for (int m = 0; m < Q; ++m) total += (a)[k * Q + m] * (in)[m * Q2 + p];                              \
            (out)[k * Q2 + p] = total;                                                                               \
        }                                                                                                            \
    }

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(element);
    SHARED real u[Q3], f_i[Q3], f_j[Q3], f_k[Q3], sum[Q3];
    const real d[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real point[Q] = {POINTS};
#endif
    INNER(t) {
        real dt[Q * Q], e[Q * Q], et[Q * Q]; /* D', and E and E' of the divergence: D with the sign of its diagonal changed */
        for (int a = 0; a < Q; ++a) {
            for (int b = 0; b < Q; ++b) {
                const real value = d[a * Q + b];
                dt[b * Q + a] = value;
                e[a * Q + b] = a == b ? -value : value;
                et[b * Q + a] = e[a * Q + b];
            }
        }
        GLOBAL const int *nodes = table + element * Q3;
        for (int l = 0; l < Q3; ++l) u[l] = nodes[l] < 0 ? (real)0 : x[nodes[l]];
        ALONG_ZETA(f_k, d, u)
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) {
                    real along_i = 0, along_j = 0;
                    SUM for (int m = 0; m < Q; ++m) {
                        along_i += u[k * Q2 + j * Q + m] * dt[m * Q + i];
                        along_j += d[j * Q + m] * u[k * Q2 + m * Q + i];
                    }
                    f_i[k * Q2 + j * Q + i] = along_i;
                    f_j[k * Q2 + j * Q + i] = along_j;
                }
            }
        }
#if GEOMETRY == TRILINEAR
        GLOBAL const real *c = geometry + element * CONSTANTS;
#endif
        for (int k = 0; k < Q; ++k) {
#if GEOMETRY == STORED
            GLOBAL const real *g = geometry + (element * Q + k) * COMPONENTS * Q2;
            for (int p = 0; p < Q2; ++p) {
                const int l = k * Q2 + p;
                const real u_i = f_i[l], u_j = f_j[l], u_k = f_k[l];
                f_i[l] = g[p] * u_i + g[Q2 + p] * u_j + g[2 * Q2 + p] * u_k;
                f_j[l] = g[Q2 + p] * u_i + g[3 * Q2 + p] * u_j + g[4 * Q2 + p] * u_k;
                f_k[l] = g[2 * Q2 + p] * u_i + g[4 * Q2 + p] * u_j + g[5 * Q2 + p] * u_k;
#if HAS_MASS
                u[l] *= g[6 * Q2 + p];
#endif
            }
#elif GEOMETRY == AFFINE
            GLOBAL const real *g = geometry + element * CONSTANTS;
            for (int p = 0; p < Q2; ++p) {
                const int l = k * Q2 + p;
                const real u_i = f_i[l], u_j = f_j[l], u_k = f_k[l];
                f_i[l] = g[0] * u_i + g[1] * u_j + g[2] * u_k;
                f_j[l] = g[1] * u_i + g[3] * u_j + g[4] * u_k;
                f_k[l] = g[2] * u_i + g[4] * u_j + g[5] * u_k;
#if HAS_MASS
                u[l] *= g[6];
#endif
            }
#else
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) { /* as in trilinear.h, written out so that it becomes vector instructions */
                    const int l = k * Q2 + j * Q + i;
                    const real xi = point[i], eta = point[j], zeta = point[k];
                    const real u_i = f_i[l], u_j = f_j[l], u_k = f_k[l];
#define COLUMN(own, second, third, both, s, t, n) \
    const real n##0 = c[own] + (s) * c[second] + (t) * (c[third] + (s) * c[both]), \
               n##1 = c[own + 1] + (s) * c[second + 1] + (t) * (c[third + 1] + (s) * c[both + 1]), \
               n##2 = c[own + 2] + (s) * c[second + 2] + (t) * (c[third + 2] + (s) * c[both + 2])
                    COLUMN(0, 9, 12, 18, eta, zeta, a);
                    COLUMN(3, 9, 15, 18, xi, zeta, b);
                    COLUMN(6, 12, 15, 18, xi, eta, h);
                    const real r0 = b1 * h2 - b2 * h1, r1 = b2 * h0 - b0 * h2, r2 = b0 * h1 - b1 * h0;
                    const real s0 = h1 * a2 - h2 * a1, s1 = h2 * a0 - h0 * a2, s2 = h0 * a1 - h1 * a0;
                    const real t0 = a1 * b2 - a2 * b1, t1 = a2 * b0 - a0 * b2, t2 = a0 * b1 - a1 * b0;
                    const real volume = r0 * a0 + r1 * a1 + r2 * a2, scale = c[21] / volume;
                    const real g0 = scale * (r0 * u_i + s0 * u_j + t0 * u_k), g1 = scale * (r1 * u_i + s1 * u_j + t1 * u_k);
                    const real g2 = scale * (r2 * u_i + s2 * u_j + t2 * u_k);
                    f_i[l] = r0 * g0 + r1 * g1 + r2 * g2;
                    f_j[l] = s0 * g0 + s1 * g1 + s2 * g2;
                    f_k[l] = t0 * g0 + t1 * g1 + t2 * g2;
#if HAS_MASS
                    u[l] *= c[22] * volume;
#endif
                }
            }
#endif
        }
        ALONG_ZETA(sum, e, f_k)
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) {
                    const int l = k * Q2 + j * Q + i;
                    real total = sum[l];
                    SUM for (int m = 0; m < Q; ++m)
                        total += f_i[k * Q2 + j * Q + m] * et[m * Q + i] + e[j * Q + m] * f_j[k * Q2 + m * Q + i];
                    const real product = weight[i] * weight[j] * weight[k]; /* ρ_i ρ_j ρ_k */
#if HAS_MASS
                    sum[l] = product * (u[l] - total);
#else
                    sum[l] = -product * total;
#endif
                }
            }
        }
#if OUTPUT != TO_PARTS
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) {
                    const int l = k * Q2 + j * Q + i;
                    DELIVER(nodes[l], element, k, j, i, parts, y, sum[l]);
                }
            }
        }
#else
        for (int l = 0; l < Q3; ++l) parts[element * Q3 + l] = sum[l];
#endif
    }
}
