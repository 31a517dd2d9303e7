// y = alpha A x + beta y, A in ELLPACK with row lengths, columns `stride` apart, a thread for LANES rows.
#include "slices.h"

KERNEL ellpack_r(const long stride, const long rows, const real alpha, const real beta,
                 GLOBAL const int *RESTRICT lengths, GLOBAL const int *RESTRICT columns,
                 GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long past = (block + 1) * BLOCK * LANES, last = past < stride ? past : stride;
    for (long first = block * BLOCK * LANES; first < last; first += TOGETHER) {
        long longest = 0;
        for (int lane = 0; lane < TOGETHER; ++lane)
            longest = lengths[first + lane] > longest ? lengths[first + lane] : longest;
        real sums[TOGETHER];
        add_slice(columns, values, x, first, first + longest * stride, stride, sums);
        for (long row = first; row < first + TOGETHER && row < rows; ++row)
            y[row] = alpha * sums[row - first] + (beta == 0 ? 0 : beta * y[row]);
    }
}
