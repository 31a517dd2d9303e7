// y = alpha A x + beta y, A in slices of SLICE rows that are stored by columns, a thread a row. Arguments are those of
// the portable source.
#include "row_sums.h"

KERNEL sell(const long slots, const long rows, const real alpha, const real beta,
            GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long slot = block * BLOCK + threadIdx.x;
    if (slot >= slots)
        return;
    const long slice = slot / SLICE, place = slice_offsets[slice] + slot % SLICE;
    const int width = (slice_offsets[slice + 1] - slice_offsets[slice]) / SLICE;
    const long row = SORTED ? order[slot] : slot;
    real sum[LANES] = {};
    add_rows(width, SLICE, columns + place, values + place, x, sum);
    if (row >= 0 && row < rows)
        y[row] = alpha * sum[0] + (beta == 0 ? 0 : beta * y[row]);
}
