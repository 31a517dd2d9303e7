/* A product with A and the vector operations around it, see fused.c: TOGETHER rows at once. */

#include "../spmv/slices.h"

#if SLICED
#define LIMITS const long slice = first / SLICE, place = extents[slice] + first % SLICE, end = extents[slice + 1]
#define STRIDE SLICE
#else
#define LIMITS                                                                                                       \
    long longest = 0;                                                                                                \
    for (int lane = 0; lane < TOGETHER; ++lane)                                                                      \
        longest = extents[first + lane] > longest ? extents[first + lane] : longest;                                 \
    const long place = first, end = first + longest * stride
#define STRIDE stride
#endif

#if BITS == 16
#define ADD_SLICE                                                                                                    \
    const int start = first_columns[slice];                                                                          \
    const long distant = (long)(-1 - start) * SLICE - extents[slice];                                                \
    for (int lane = 0; lane < TOGETHER; ++lane) sums[lane] = 0;                                                      \
    for (long k = place; k < end; k += STRIDE)                                                                       \
        for (int lane = 0; lane < TOGETHER; ++lane) {                                                                \
            if (columns[k + lane] == 65535) continue;                                                                \
            sums[lane] += values[k + lane] * x[start < 0 ? far[distant + k + lane] : start + columns[k + lane]];     \
        }
#else
#define ADD_SLICE add_slice(columns, values, x, place, end, STRIDE, sums)
#endif

/* For each row of a block: `sum` is its entry of A x, `i` its number, and one, two, three and four what stands there
 * in the vectors that are named. */
#define THREAD 0
#define FOR_ROWS(a, b, c, d, statement)                                                                              \
    OUTER(block);                                                                                                    \
    const long past = (block + 1) * BLOCK * LANES < slots ? (block + 1) * BLOCK * LANES : slots;                     \
    for (long first = block * BLOCK * LANES; first < past; first += TOGETHER) {                                      \
        LIMITS;                                                                                                      \
        real sums[TOGETHER];                                                                                         \
        ADD_SLICE;                                                                                                   \
        const int here = SORTED || rows - first > TOGETHER ? TOGETHER : rows - first;                                \
        for (int lane = 0; lane < here; ++lane) {                                                                    \
            const long i = SORTED ? order[first + lane] : first + lane;                                              \
            if (SORTED && i < 0) continue;                                                                           \
            const real sum = sums[lane];                                                                             \
            const real one = (a)[i], two = (b)[i], three = (c)[i], four = (d)[i];                                    \
            statement;                                                                                               \
        }                                                                                                            \
    }

#include "fused_kernels.h"
