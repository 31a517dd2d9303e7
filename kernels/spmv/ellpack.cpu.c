// y = alpha A x + beta y, A in ELLPACK, columns `stride` apart, a thread for LANES rows.
#include "slices.h"

KERNEL ellpack(const long stride, const long stored, const long rows, const real alpha, const real beta,
               GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
               GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long past = (block + 1) * BLOCK * LANES, last = past < stride ? past : stride;
    for (long first = block * BLOCK * LANES; first < last; first += TOGETHER) {
        real sums[TOGETHER];
        add_slice(columns, values, x, first, stored, stride, sums);
        for (long row = first; row < first + TOGETHER && row < rows; ++row)
            y[row] = alpha * sums[row - first] + (beta == 0 ? 0 : beta * y[row]);
    }
}
