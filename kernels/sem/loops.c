/* The operator of stiffness.c for a processor: same arguments, same test, and a layout of its own.
 *
 * A block is one thread, and a group of ELEMENTS elements whose numbers lie side by side, [group][k][j][i][element], as many as the
 * longest vectors hold, so that all arithmetic is on vectors, whatever Q is. Lines along ζ come first and last. Between them a slab is
 * finished while the first level of cache holds it: of whole fields there are two, the values, in whose place the result is summed, and
 * the flux along ζ. D and E turn into their negatives when both their axes are mirrored: sums and differences of mirrored values take
 * half of the products. */

#include "output.h"

#define Q2 (Q * Q)
#define Q3 (Q * Q * Q)
#define HALF (Q / 2)
#define PITCH (Q2 + 1) /* of slabs: at a power of two their rows would meet in the same places of a cache */
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2
#define E(k, m) ((k) == (m) ? -d[(k) * Q + (m)] : d[(k) * Q + (m)])
#define D(k, m) d[(k) * Q + (m)]

#ifndef FOR_PARTS /* a group is one part, see parts.h */
#define W ELEMENTS
#define FOR_PARTS
#define FROM_PART(place) place
#define LAST_PART
#define FOR_SLAB for (int l = 0; l < Q2 * W; ++l)
#define IN_GROUP(l) l
#endif

#include "lanes.h"

/* out[k] = Σ_m A(k, m) in[m]; A(Q - 1 - k, Q - 1 - m) = -A(k, m) */
#define LINE(out, A, in)                                                                                             \
    do {                                                                                                             \
        lanes sums[HALF + 1], gaps[HALF + 1];                                                                        \
        WHOLE for (int m = 0; m < HALF; ++m) {                                                                       \
            sums[m] = in[m] + in[Q - 1 - m];                                                                         \
            gaps[m] = in[m] - in[Q - 1 - m];                                                                         \
        }                                                                                                            \
        WHOLE for (int k = 0; k < HALF; ++k) {                                                                       \
            lanes even = Q % 2 ? A(k, HALF) * in[HALF] : 0 * in[0], odd = 0 * in[0];                                 \
            WHOLE for (int m = 0; m < HALF; ++m) {                                                                   \
                even += (A(k, m) + A(k, Q - 1 - m)) / 2 * sums[m];                                                   \
                odd += (A(k, m) - A(k, Q - 1 - m)) / 2 * gaps[m];                                                    \
            }                                                                                                        \
            out[k] = odd + even;                                                                                     \
            out[Q - 1 - k] = odd - even;                                                                             \
        }                                                                                                            \
        if (Q % 2) {                                                                                                 \
            lanes odd = 0 * in[0];                                                                                   \
            WHOLE for (int m = 0; m < HALF; ++m) odd += A(HALF, m) * gaps[m];                                        \
            out[HALF] = odd;                                                                                         \
        }                                                                                                            \
    } while (0)

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED lanes u[Q * PITCH], f_k[Q * PITCH], slab[Q2];
    const real d[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
#if GEOMETRY == TRILINEAR
    const real point[Q] = {POINTS};
#endif
    INNER(t) FOR_PARTS {
        GLOBAL const int *nodes = FROM_PART(table + group * (Q3 * ELEMENTS));
        for (int k = 0; k < Q; ++k) {
            SHARED_POINTER real *to = (SHARED_POINTER real *)(u + k * PITCH);
            FOR_SLAB {
                const int node = nodes[k * (Q2 * ELEMENTS) + IN_GROUP(l)];
                to[l] = node < 0 ? (real)0 : x[node];
            }
        }
#if GEOMETRY != STORED
        lanes c[CONSTANTS];
        for (int n = 0; n < CONSTANTS; ++n) {
            for (int l = 0; l < W; ++l) ((real *)c)[n * W + l] = geometry[(FROM_PART(group * ELEMENTS) + l) * CONSTANTS + n];
        }
#endif
        for (int p = 0; p < Q2; ++p) {
            lanes in[Q], out[Q];
            WHOLE for (int m = 0; m < Q; ++m) in[m] = u[m * PITCH + p];
            LINE(out, D, in);
            WHOLE for (int k = 0; k < Q; ++k) f_k[k * PITCH + p] = out[k];
        }
        for (int k = 0; k < Q; ++k) {
            SHARED_POINTER lanes *own = u + k * PITCH, *flux = f_k + k * PITCH;
#if GEOMETRY == STORED
            GLOBAL const real *g = FROM_PART(geometry + (group * Q + k) * (COMPONENTS * Q2 * ELEMENTS)),
                              *next = g + Q3 * COMPONENTS * ELEMENTS;
#endif
            for (int i = 0; i < Q; ++i) {
                lanes in[Q], out[Q];
                WHOLE for (int m = 0; m < Q; ++m) in[m] = own[m * Q + i];
                LINE(out, D, in);
                WHOLE for (int j = 0; j < Q; ++j) slab[j * Q + i] = out[j];
            }
            for (int j = 0; j < Q; ++j) {
                lanes in[Q], out[Q];
                WHOLE for (int m = 0; m < Q; ++m) in[m] = own[j * Q + m];
                LINE(out, D, in);
                for (int i = 0; i < Q; ++i) {
                    const int at = j * Q + i;
                    const lanes u_i = out[i], u_j = slab[at], u_k = flux[at];
#if GEOMETRY == TRILINEAR /* as in trilinear.h, on vectors */
                    const real xi = point[i], eta = point[j], zeta = point[k];
#define COLUMN(own, second, third, both, s, t, n) \
    const lanes n##0 = c[own] + (s) * c[second] + (t) * (c[third] + (s) * c[both]), \
                n##1 = c[own + 1] + (s) * c[second + 1] + (t) * (c[third + 1] + (s) * c[both + 1]), \
                n##2 = c[own + 2] + (s) * c[second + 2] + (t) * (c[third + 2] + (s) * c[both + 2])
                    COLUMN(0, 9, 12, 18, eta, zeta, a);
                    COLUMN(3, 9, 15, 18, xi, zeta, b);
                    COLUMN(6, 12, 15, 18, xi, eta, h);
                    const lanes r0 = b1 * h2 - b2 * h1, r1 = b2 * h0 - b0 * h2, r2 = b0 * h1 - b1 * h0;
                    const lanes s0 = h1 * a2 - h2 * a1, s1 = h2 * a0 - h0 * a2, s2 = h0 * a1 - h1 * a0;
                    const lanes t0 = a1 * b2 - a2 * b1, t1 = a2 * b0 - a0 * b2, t2 = a0 * b1 - a1 * b0;
                    const lanes volume = r0 * a0 + r1 * a1 + r2 * a2, scale = c[21] / volume;
                    const lanes g0 = scale * (r0 * u_i + s0 * u_j + t0 * u_k), g1 = scale * (r1 * u_i + s1 * u_j + t1 * u_k);
                    const lanes g2 = scale * (r2 * u_i + s2 * u_j + t2 * u_k);
                    in[i] = r0 * g0 + r1 * g1 + r2 * g2;
                    slab[at] = s0 * g0 + s1 * g1 + s2 * g2;
                    flux[at] = t0 * g0 + t1 * g1 + t2 * g2;
#define MASS (c[22] * volume)
#else
#if GEOMETRY == STORED
#define G(n) LOAD(g + ((n) * Q2 + at) * ELEMENTS)
                    LAST_PART for (int n = 0; n < COMPONENTS; ++n) AHEAD(next + (at * COMPONENTS + n) * ELEMENTS);
#else
#define G(n) c[n]
#endif
                    in[i] = G(0) * u_i + G(1) * u_j + G(2) * u_k;
                    slab[at] = G(1) * u_i + G(3) * u_j + G(4) * u_k;
                    flux[at] = G(2) * u_i + G(4) * u_j + G(5) * u_k;
#define MASS G(6)
#endif
#if HAS_MASS
                    own[at] *= MASS;
#else
                    own[at] = 0 * u_i;
#endif
                }
                LINE(out, E, in);
                WHOLE for (int i = 0; i < Q; ++i) own[j * Q + i] -= out[i];
            }
            for (int i = 0; i < Q; ++i) {
                lanes in[Q], out[Q];
                WHOLE for (int m = 0; m < Q; ++m) in[m] = slab[m * Q + i];
                LINE(out, E, in);
                WHOLE for (int j = 0; j < Q; ++j) own[j * Q + i] -= out[j];
            }
        }
        for (int p = 0; p < Q2; ++p) {
            lanes in[Q], out[Q];
            WHOLE for (int m = 0; m < Q; ++m) in[m] = f_k[m * PITCH + p];
            LINE(out, E, in);
            WHOLE for (int k = 0; k < Q; ++k) {
                const real product = weight[p % Q] * weight[p / Q] * weight[k];
                const lanes result = product * (u[k * PITCH + p] - out[k]);
#if OUTPUT == TO_PARTS
                STORE(FROM_PART(parts + ((group * Q + k) * Q2 + p) * ELEMENTS), result);
#else
                for (int l = 0; l < W; ++l) {
                    const int node = nodes[(k * Q2 + p) * ELEMENTS + l];
                    DELIVER(node, FROM_PART(group * ELEMENTS) + l, k, p / Q, p % Q, parts, y, ((const real *)&result)[l]);
                }
#endif
            }
        }
    }
}
