/* A product with A, in ELLPACK-R or in slices, and the vector operations around it in one kernel: nothing between them
 * goes through memory. A thread takes LANES rows.
 *
 * SLICED: extents are where slices begin, columns of a slice `stride` = SLICE apart, and a row's width is its slice's;
 * else extents are row lengths, and columns `stride` apart. A padded column is -1. SORTED: order is each slot's row.
 * BITS 16: columns are steps from the first of their slice, padding is 65535; where that first is negative the slice
 * spans too much, and its columns stand in `far`, see ``spmv/sbell16.py``. */

#if SLICED
#define LIMITS const long slice = first / SLICE, end = extents[slice + 1]; long place = extents[slice] + first % SLICE
#define LANES_HERE const int lanes = LANES
#else
#define LANES_HERE const int lanes = LANES == 1 || stride - first > LANES ? LANES : stride - first
#define LIMITS                                                                                                       \
    int longest = 0;                                                                                                 \
    for (int lane = 0; lane < lanes; ++lane)                                                                         \
        longest = extents[first + lane] > longest ? extents[first + lane] : longest;                                 \
    long place = first;                                                                                              \
    const long end = first + longest * stride
#endif
#if SLICED
#define STRIDE SLICE
#else
#define STRIDE stride
#endif

#if BITS == 16
#define ORIGIN                                                                                                       \
    const int start = first_columns[slice];                                                                          \
    GLOBAL const real *const from = x + (start < 0 ? 0 : start);                                                     \
    GLOBAL const int *const distant = start < 0 ? far + (long)(-1 - start) * SLICE : 0;                              \
    const long begin = extents[slice]
#define COLUMN(place) (distant ? distant[(place) - begin] : columns[place] == 65535 ? -1 : columns[place])
#else
#define ORIGIN GLOBAL const real *const from = x
#define COLUMN(place) columns[place]
#endif

/* For each row of a thread: `sum` is its entry of A x, `i` its number, and one, two, three and four what stands there
 * in the vectors that are named. */
#define THREAD t
#define FOR_ROWS(a, b, c, d, statement)                                                                              \
    OUTER(block);                                                                                                    \
    INNER(t) {                                                                                                       \
        const long first = (block * BLOCK + t) * LANES;                                                              \
        if (first < slots) {                                                                                         \
            LANES_HERE;                                                                                              \
            LIMITS;                                                                                                  \
            ORIGIN;                                                                                                  \
            real sums[LANES];                                                                                        \
            for (int lane = 0; lane < lanes; ++lane)                                                                 \
                sums[lane] = 0;                                                                                      \
            for (; place < end; place += STRIDE)                                                                     \
                for (int lane = 0; lane < lanes; ++lane) {                                                           \
                    const int column = COLUMN(place + lane);                                                         \
                    const real found = from[column < 0 ? 0 : column]; /* in any case, so that processors gather */   \
                    sums[lane] += values[place + lane] * (column < 0 ? 0 : found);                                   \
                }                                                                                                    \
            for (int lane = 0; lane < lanes; ++lane) {                                                               \
                const long i = SORTED ? order[first + lane] : first + lane;                                          \
                if (i < 0 || i >= rows)                                                                              \
                    continue;                                                                                        \
                const real sum = sums[lane];                                                                         \
                const real one = (a)[i], two = (b)[i], three = (c)[i], four = (d)[i];                                \
                statement;                                                                                           \
            }                                                                                                        \
        }                                                                                                            \
    }

#include "fused_kernels.h"
