/* A product with A, in ELLPACK-R or in slices, and the vector operations around it, a thread for LANES rows: two of
 * ELLPACK-R, one of a slice. Arguments are as in the portable source. */
#include "../spmv/row_sums.h"

#if SLICED
#define LIMITS                                                                                                       \
    const long slice = first / SLICE, place = extents[slice] + first % SLICE;                                        \
    const int width = (extents[slice + 1] - extents[slice]) / SLICE
#define STRIDE SLICE
#else // there are as many lengths as the stride, which is a multiple of LANES
#define LIMITS                                                                                                       \
    int width = 0;                                                                                                   \
    _Pragma("unroll LANES_AT_ONCE") for (int lane = 0; lane < LANES; ++lane)                                         \
        width = max(width, extents[first + lane]);                                                                   \
    const long place = first
#define STRIDE stride
#endif

#if BITS == 16 // a slice is a warp's, which takes one way
#define ADD_ROWS                                                                                                     \
    const int start = first_columns[slice];                                                                          \
    if (start < 0)                                                                                                   \
        add_rows(width, STRIDE, far + (long)(-1 - start) * SLICE + first % SLICE, values + place, x, sums);          \
    else                                                                                                             \
        add_rows(width, STRIDE, columns + place, values + place, x + start, sums)
#else
#define ADD_ROWS add_rows(width, STRIDE, columns + place, values + place, x, sums)
#endif

/* For each row of a thread: `sum` is its entry of A x, `i` its number, and one, two, three and four what stands there
 * in the vectors that are named. */
#define THREAD threadIdx.x
#define FOR_ROWS(a, b, c, d, statement)                                                                              \
    OUTER(block);                                                                                                    \
    const long first = (block * BLOCK + threadIdx.x) * LANES;                                                        \
    if (first < slots) {                                                                                             \
        LIMITS;                                                                                                      \
        real sums[LANES] = {};                                                                                       \
        ADD_ROWS;                                                                                                    \
        _Pragma("unroll LANES_AT_ONCE") for (int lane = 0; lane < LANES; ++lane)                                     \
        {                                                                                                            \
            const long i = SORTED ? order[first + lane] : first + lane;                                              \
            if (i < 0 || i >= rows)                                                                                  \
                continue;                                                                                            \
            const real sum = sums[lane];                                                                             \
            const real one = (a)[i], two = (b)[i], three = (c)[i], four = (d)[i];                                    \
            statement;                                                                                               \
        }                                                                                                            \
    }

#include "fused_kernels.h"
