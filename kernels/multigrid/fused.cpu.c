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
#define SIZE 1
#define FAR 1
#include "../spmv/gathered.h"
#define FIND_SLICE                                                                                                   \
    const int start = first_columns[slice];                                                                          \
    const int *const distant = start < 0 ? far + (long)(-1 - start) * SLICE : 0
#if GATHERS
#define ADD_SLICE                                                                                                    \
    FIND_SLICE;                                                                                                      \
    const int is_beyond = (sizeof(real) + sizeof(index)) * extents[slots / SLICE] > BEYOND;                          \
    add_gathered(columns, distant, values, distant ? x : x + start, extents[slice], end, first % SLICE, is_beyond, &sums)
#else
#include "../spmv/short_columns.h"
#define ADD_SLICE                                                                                                    \
    FIND_SLICE;                                                                                                      \
    if (distant)                                                                                                     \
        add_slice(distant, values + extents[slice], x, first % SLICE, end - extents[slice], SLICE, sums);            \
    else                                                                                                             \
        add_short(columns, values, x + start, place, end, SLICE, sums)
#endif
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
