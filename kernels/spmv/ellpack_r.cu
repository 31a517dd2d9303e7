// y = alpha A x + beta y, A in ELLPACK with row lengths, columns `stride` apart, a thread for LANES rows. Arguments are
// as in the portable source.
#include "row_sums.h"

KERNEL ellpack_r(const long stride, const long rows, const real alpha, const real beta,
                 GLOBAL const int *RESTRICT lengths, GLOBAL const int *RESTRICT columns,
                 GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long row = (block * BLOCK + threadIdx.x) * LANES;
    if (row >= rows)
        return;
    int longest = 0; // there are as many lengths as the stride, which is a multiple of LANES
    for (int lane = 0; lane < LANES; ++lane)
        longest = max(longest, lengths[row + lane]);
    real sums[LANES] = {};
    add_rows(longest, stride, columns + row, values + row, x, sums);
    for (int lane = 0; lane < LANES && row + lane < rows; ++lane)
        y[row + lane] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row + lane]);
}
