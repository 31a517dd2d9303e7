/* The local solves of schwarz.c for a processor: same arguments, same layout with one subdomain a group, same test.
 *
 * A block is one thread, and a subdomain's arrays lie in its cache. All six products are sums over the slowest index of the tile, so
 * that the loop over a slab becomes vector instructions; between them the tile is turned, and three turns bring it back. */

#define Q2 (Q * Q)
#define Q3 (Q * Q * Q)
#define HALF (Q / 2)
#define EVEN (Q - HALF)

#if SCALED
#define WEIGHED(node, value) (weights[node] * (value))
#else
#define WEIGHED(node, value) (value)
#endif

/* A sum that is unrolled whole stays in registers, and the loop around it becomes vector instructions. */
#ifdef __OPENCL_VERSION__
#define SUM _Pragma("unroll")
#else
#define SUM _Pragma("GCC unroll 16")
#endif

/* tile[p][d] = Σ_m S[m][d] tile[m][p] */
#define TO_MODES                                                                                                     \
    for (int m = 0; m < HALF; ++m) {                                                                                 \
        for (int p = 0; p < Q2; ++p) {                                                                               \
            sums[m * Q2 + p] = tile[m * Q2 + p] + tile[(Q - 1 - m) * Q2 + p];                                        \
            gaps[m * Q2 + p] = tile[m * Q2 + p] - tile[(Q - 1 - m) * Q2 + p];                                        \
        }                                                                                                            \
    }                                                                                                                \
    if (Q % 2) {                                                                                                     \
        for (int p = 0; p < Q2; ++p) sums[HALF * Q2 + p] = tile[HALF * Q2 + p];                                      \
    }                                                                                                                \
    for (int d = 0; d < EVEN; ++d) {                                                                                 \
        for (int p = 0; p < Q2; ++p) {                                                                               \
            real total = 0;                                                                                          \
            SUM for (int m = 0; m < EVEN; ++m) total += basis[m * Q + d] * sums[m * Q2 + p];                         \
            found[d * Q2 + p] = total;                                                                               \
        }                                                                                                            \
    }                                                                                                                \
    for (int d = EVEN; d < Q; ++d) {                                                                                 \
        for (int p = 0; p < Q2; ++p) {                                                                               \
            real total = 0;                                                                                          \
            SUM for (int m = 0; m < HALF; ++m) total += basis[m * Q + d] * gaps[m * Q2 + p];                         \
            found[d * Q2 + p] = total;                                                                               \
        }                                                                                                            \
    }                                                                                                                \
    TURN

/* tile[p][m] = Σ_d S[m][d] tile[d][p] */
#define TO_NODES                                                                                                     \
    for (int m = 0; m < EVEN; ++m) {                                                                                 \
        for (int p = 0; p < Q2; ++p) {                                                                               \
            real even = 0, odd = 0;                                                                                  \
            SUM for (int d = 0; d < EVEN; ++d) even += basis[m * Q + d] * tile[d * Q2 + p];                          \
            SUM for (int d = EVEN; d < Q; ++d) odd += basis[m * Q + d] * tile[d * Q2 + p];                           \
            found[(Q - 1 - m) * Q2 + p] = even - odd;                                                                \
            found[m * Q2 + p] = even + odd;                                                                          \
        }                                                                                                            \
    }                                                                                                                \
    TURN

#define TURN                                                                                                         \
    for (int p = 0; p < Q2; ++p) {                                                                                   \
        SUM for (int d = 0; d < Q; ++d) tile[p * Q + d] = found[d * Q2 + p];                                         \
    }

KERNEL schwarz(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT boxes, GLOBAL const real *RESTRICT eigenvalues,
               GLOBAL const outer *RESTRICT x, GLOBAL added *RESTRICT parts, GLOBAL const real *RESTRICT weights)
{
    OUTER(element);
    SHARED real tile[Q3], found[Q3], sums[EVEN * Q2], gaps[EVEN * Q2];
    const real basis[Q * Q] = {BASIS};
    INNER(t) {
        GLOBAL const int *nodes = table + element * Q3;
        for (int l = 0; l < Q3; ++l) tile[l] = nodes[l] < 0 ? (real)0 : WEIGHED(nodes[l], (real)x[nodes[l]]);
        TO_MODES
        TO_MODES
        TO_MODES
        GLOBAL const real *box = boxes + 4 * element;
        for (int k = 0; k < Q; ++k) {
            for (int j = 0; j < Q; ++j) {
                const real across = box[1] * eigenvalues[j] + box[2] * eigenvalues[k] + box[3];
                for (int i = 0; i < Q; ++i) tile[(k * Q + j) * Q + i] /= box[0] * eigenvalues[i] + across;
            }
        }
        TO_NODES
        TO_NODES
        TO_NODES
#if ADDS
        for (int l = 0; l < Q3; ++l) {
            if (nodes[l] >= 0) ATOMIC_ADD_GLOBAL(&parts[nodes[l]], (added)WEIGHED(nodes[l], tile[l]));
        }
#else
        for (int l = 0; l < Q3; ++l) parts[element * Q3 + l] = tile[l];
#endif
    }
}
