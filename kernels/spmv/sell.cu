// y = alpha A x + beta y, A in slices of SLICE rows that are stored by columns, a thread for LANES rows. Arguments are as in the portable source.
#define X_TOGETHER 1
#include "row_sums.h"
#include "walk.h"

KERNEL sell(const long slots, const long chunk, const long rows, const real alpha, const real beta,
            GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    EACH_SLOT(slot, threadIdx.x)
    {
        const long slice = slot / SLICE, place = slice_offsets[slice] + slot % SLICE;
        const int width = (slice_offsets[slice + 1] - slice_offsets[slice]) / SLICE;
        real sums[LANES] = {};
        add_rows(width, SLICE, columns + place, values + place, x, sums);
#pragma unroll
        for (int lane = 0; lane < LANES; ++lane) {
            const long row = SORTED ? order[slot + lane] : slot + lane;
            if (row >= 0 && row < rows)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
