/* The local solves of schwarz.c for a processor: same arguments, same test, and a layout of its own.
 *
 * A block is one thread, and a group of ELEMENTS subdomains whose numbers lie side by side, [group][k][j][i][subdomain], so that all
 * arithmetic is on vectors. Lines along ζ come first and last; between them a slab is done while the cache holds it. */

#define Q2 (Q * Q)
#define W ELEMENTS
#define HALF (Q / 2)
#define EVEN (Q - HALF)
#define SLAB (Q2 + 1) /* at a power of two their rows would meet in the same places of a cache */

#include "lanes.h"

#if SCALED
#define WEIGHED(node, value) (weights[node] * (value))
#else
#define WEIGHED(node, value) (value)
#endif

/* out[d] = Σ_m S[m][d] in[m] */
#define TO_MODES(out, in)                                                                                            \
    do {                                                                                                             \
        lanes sums[EVEN], gaps[EVEN];                                                                                \
        WHOLE for (int m = 0; m < HALF; ++m) {                                                                       \
            sums[m] = in[m] + in[Q - 1 - m];                                                                         \
            gaps[m] = in[m] - in[Q - 1 - m];                                                                         \
        }                                                                                                            \
        if (Q % 2) sums[EVEN - 1] = in[HALF];                                                                        \
        WHOLE for (int d = 0; d < Q; ++d) {                                                                          \
            lanes total = basis[d] * (d < EVEN ? sums[0] : gaps[0]);                                                 \
            WHOLE for (int m = 1; m < (d < EVEN ? EVEN : HALF); ++m)                                                 \
                total += basis[m * Q + d] * (d < EVEN ? sums[m] : gaps[m]);                                          \
            out[d] = total;                                                                                          \
        }                                                                                                            \
    } while (0)

/* out[m] = Σ_d S[m][d] in[d] */
#define TO_NODES(out, in)                                                                                            \
    WHOLE for (int m = 0; m < EVEN; ++m) {                                                                           \
        lanes even = basis[m * Q] * in[0], odd = basis[m * Q + EVEN] * in[EVEN];                                     \
        WHOLE for (int d = 1; d < EVEN; ++d) even += basis[m * Q + d] * in[d];                                       \
        WHOLE for (int d = EVEN + 1; d < Q; ++d) odd += basis[m * Q + d] * in[d]; /* zero in the middle */           \
        out[Q - 1 - m] = even - odd;                                                                                 \
        out[m] = even + odd;                                                                                         \
    }

#define ALONG(WAY, line, apart)                                                                                      \
    do {                                                                                                             \
        lanes in[Q], out[Q];                                                                                         \
        WHOLE for (int m = 0; m < Q; ++m) in[m] = (line)[m * (apart)];                                               \
        WAY(out, in);                                                                                                \
        WHOLE for (int m = 0; m < Q; ++m) (line)[m * (apart)] = out[m];                                              \
    } while (0)

KERNEL schwarz(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT boxes, GLOBAL const real *RESTRICT eigenvalues,
               GLOBAL const outer *RESTRICT x, GLOBAL added *RESTRICT parts, GLOBAL const real *RESTRICT weights)
{
    OUTER(group);
    SHARED lanes tile[Q * SLAB];
    const real basis[Q * Q] = {BASIS};
    INNER(t) {
        GLOBAL const int *nodes = table + group * (Q * Q2 * W);
        for (int k = 0; k < Q; ++k) {
            SHARED_POINTER real *to = (SHARED_POINTER real *)(tile + k * SLAB);
            for (int l = 0; l < Q2 * W; ++l) {
                const int node = nodes[k * (Q2 * W) + l];
                to[l] = node < 0 ? (real)0 : WEIGHED(node, (real)x[node]);
            }
        }
        lanes box[4];
        for (int n = 0; n < 4; ++n) {
            for (int l = 0; l < W; ++l) ((real *)box)[n * W + l] = boxes[(group * W + l) * 4 + n];
        }
        for (int p = 0; p < Q2; ++p) ALONG(TO_MODES, tile + p, SLAB);
        for (int k = 0; k < Q; ++k) {
            for (int i = 0; i < Q; ++i) ALONG(TO_MODES, tile + k * SLAB + i, Q);
            for (int j = 0; j < Q; ++j) {
                SHARED_POINTER lanes *row = tile + k * SLAB + j * Q;
                lanes in[Q], out[Q];
                const lanes across = box[1] * eigenvalues[j] + box[2] * eigenvalues[k] + box[3];
                WHOLE for (int i = 0; i < Q; ++i) in[i] = row[i];
                TO_MODES(out, in);
                WHOLE for (int i = 0; i < Q; ++i) out[i] /= box[0] * eigenvalues[i] + across;
                TO_NODES(in, out);
                WHOLE for (int i = 0; i < Q; ++i) row[i] = in[i];
            }
            for (int i = 0; i < Q; ++i) ALONG(TO_NODES, tile + k * SLAB + i, Q);
        }
        for (int p = 0; p < Q2; ++p) ALONG(TO_NODES, tile + p, SLAB);
        for (int k = 0; k < Q; ++k) {
            SHARED_POINTER const real *from = (SHARED_POINTER const real *)(tile + k * SLAB);
            for (int l = 0; l < Q2 * W; ++l) {
                const long place = k * (Q2 * W) + l;
#if ADDS
                if (nodes[place] >= 0) ATOMIC_ADD_GLOBAL(&parts[nodes[place]], (added)WEIGHED(nodes[place], from[l]));
#else
                parts[group * (Q * Q2 * W) + place] = from[l];
#endif
            }
        }
    }
}
