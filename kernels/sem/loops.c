/* The operator of stiffness.c for a processor: same arguments, same layout with one element a group, same test.
 *
 * A block is one thread, and an element's arrays lie in its cache, rows filled up with zeros to W. Every loop that is innermost runs over
 * neighbours in memory with a length known to the compiler, so that it becomes vector instructions: over a slab for sums along ζ, over a
 * row for the others. */

#include "output.h"

#define Q2 (Q * Q)
#define Q3 (Q * Q * Q)
#define W (Q <= 4 ? 4 : Q <= 8 ? 8 : Q <= 12 ? 12 : 16)
#define SLAB (Q * W)
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2
#if W == Q /* nothing between rows: a slab is as good as one */
#define LINES 1
#define LENGTH SLAB
#else
#define LINES Q
#define LENGTH W
#endif
#define SLABS (Q <= 8 ? Q : 1) /* at a time, so that what they share is loaded once, as long as registers hold them */
#define AT(k, j, i) ((k) * SLAB + (j) * W + (i))

/* A sum that is unrolled whole stays in registers, and the loop around it becomes vector instructions. */
#ifdef __OPENCL_VERSION__
#define SUM _Pragma("unroll")
#define AHEAD(pointer)
#elif defined(__CUDACC__)
#define SUM UNROLL
#define AHEAD(pointer)
#else
#define SUM _Pragma("GCC unroll 16")
#define AHEAD(pointer) __builtin_prefetch(pointer, 0, 2)
#endif

/* out[k][p] = Σ_m a[k][m] in[m][p], p along a slab */
#define ALONG_ZETA(out, a, in)                                                                                       \
    for (int k = 0; k < Q; ++k) {                                                                                    \
        for (int p = 0; p < SLAB; ++p) {                                                                             \
            real total = 0;                                                                                          \
            SUM for (int m = 0; m < Q; ++m) total += (a)[k * Q + m] * (in)[m * SLAB + p];                            \
            (out)[k * SLAB + p] = total;                                                                             \
        }                                                                                                            \
    }

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(element);
    SHARED real u[Q * SLAB], f_i[Q * SLAB], f_j[Q * SLAB], f_k[Q * SLAB], sum[Q * SLAB];
    const real d[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real given[Q] = {POINTS};
#endif
    INNER(t) {
        real dt[Q * W], e[Q * Q], et[Q * W]; /* D', and E and E' of the divergence: D with the sign of its diagonal changed */
        for (int a = 0; a < Q; ++a) {
            for (int b = 0; b < W; ++b) dt[a * W + b] = et[a * W + b] = 0;
        }
        for (int a = 0; a < Q; ++a) {
            for (int b = 0; b < Q; ++b) {
                const real value = d[a * Q + b];
                dt[b * W + a] = value;
                e[a * Q + b] = a == b ? -value : value;
                et[b * W + a] = e[a * Q + b];
            }
        }
        real rho[W];
        for (int i = 0; i < W; ++i) rho[i] = i < Q ? weight[i < Q ? i : 0] : 0;
        GLOBAL const int *nodes = table + element * Q3;
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) {
                    const int node = nodes[k * Q2 + j * Q + i];
                    u[AT(k, j, i)] = node < 0 ? (real)0 : x[node];
                }
                for (int i = Q; i < W; ++i) u[AT(k, j, i)] = 0;
            }
        }
        ALONG_ZETA(f_k, d, u)
        for (int k = 0; k < Q; k += SLABS) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < W; ++i) {
                    real along_i[SLABS], along_j[SLABS];
                    SUM for (int r = 0; r < SLABS; ++r) along_i[r] = along_j[r] = 0;
                    SUM for (int m = 0; m < Q; ++m) {
                        SUM for (int r = 0; r < SLABS; ++r) {
                            along_i[r] += u[AT(k + r, j, m)] * dt[m * W + i];
                            along_j[r] += d[j * Q + m] * u[AT(k + r, m, i)];
                        }
                    }
                    SUM for (int r = 0; r < SLABS; ++r) {
                        f_i[AT(k + r, j, i)] = along_i[r];
                        f_j[AT(k + r, j, i)] = along_j[r];
                    }
                }
#if GEOMETRY == STORED /* of the next element, while there is something else to do */
                GLOBAL const real *next = geometry + (((element + 1) * Q + k) * Q + j * SLABS) * (Q * COMPONENTS);
                for (int l = 0; l < SLABS * Q * COMPONENTS; l += 64 / (int)sizeof(real)) AHEAD(next + l);
#endif
            }
        }
#if GEOMETRY == TRILINEAR
        GLOBAL const real *c = geometry + element * CONSTANTS;
        real point[W];
        for (int i = 0; i < W; ++i) point[i] = i < Q ? given[i < Q ? i : 0] : 0;
#endif
        for (int k = 0; k < Q; ++k) {
#if GEOMETRY != TRILINEAR
            for (int j = 0; j < LINES; ++j) {
#if GEOMETRY == STORED /* what is read past a row meets a zero */
                GLOBAL const real *g = geometry + (element * Q + k) * COMPONENTS * Q2 + j * Q;
#define G(c) g[(c) * Q2 + i]
#else
                GLOBAL const real *g = geometry + element * CONSTANTS;
#define G(c) g[c]
#endif
                for (int i = 0; i < LENGTH; ++i) {
                    const int l = AT(k, j, i);
                    const real u_i = f_i[l], u_j = f_j[l], u_k = f_k[l];
                    f_i[l] = G(0) * u_i + G(1) * u_j + G(2) * u_k;
                    f_j[l] = G(1) * u_i + G(3) * u_j + G(4) * u_k;
                    f_k[l] = G(2) * u_i + G(4) * u_j + G(5) * u_k;
#if HAS_MASS
                    u[l] *= G(6);
#endif
                }
            }
#else
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < W; ++i) { /* as in trilinear.h, written out so that it becomes vector instructions */
                    const int l = AT(k, j, i);
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
        for (int k = 0; k < Q; k += SLABS) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < W; ++i) {
                    real total[SLABS];
                    SUM for (int r = 0; r < SLABS; ++r) total[r] = sum[AT(k + r, j, i)];
                    SUM for (int m = 0; m < Q; ++m) {
                        SUM for (int r = 0; r < SLABS; ++r)
                            total[r] += f_i[AT(k + r, j, m)] * et[m * W + i] + e[j * Q + m] * f_j[AT(k + r, m, i)];
                    }
                    SUM for (int r = 0; r < SLABS; ++r) {
                        const int l = AT(k + r, j, i);
                        const real product = rho[i] * weight[j] * weight[k + r]; /* ρ_i ρ_j ρ_k */
#if HAS_MASS
                        sum[l] = product * (u[l] - total[r]);
#else
                        sum[l] = -product * total[r];
#endif
                    }
                }
            }
        }
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                for (int i = 0; i < Q; ++i) {
#if OUTPUT == TO_PARTS
                    parts[element * Q3 + k * Q2 + j * Q + i] = sum[AT(k, j, i)];
#else
                    DELIVER(nodes[k * Q2 + j * Q + i], element, k, j, i, parts, y, sum[AT(k, j, i)]);
#endif
                }
            }
        }
    }
}
