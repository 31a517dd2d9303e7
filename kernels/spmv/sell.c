// y = alpha A x + beta y, A in slices of SLICE rows that are stored by columns, a thread for LANES rows.
#include "walk.h"

KERNEL sell(const long slots, const long chunk, const long rows, const real alpha, const real beta,
            GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        EACH_SLOT(slot, t)
        {
            const long slice = slot / SLICE, end = slice_offsets[slice + 1];
            real sums[LANES];
            for (int lane = 0; lane < LANES; ++lane)
                sums[lane] = 0;
            for (long place = slice_offsets[slice] + slot % SLICE; place < end; place += SLICE)
                for (int lane = 0; lane < LANES; ++lane) {
                    const int column = columns[place + lane];
                    const real found = x[column < 0 ? 0 : column]; // in any case, so that processors gather
                    const real factor = column < 0 ? 0 : found; // x may be NaN where padding reads it
                    sums[lane] += READ_ONCE_LOAD(&values[place + lane]) * factor;
                }
            for (int lane = 0; lane < LANES; ++lane) {
                const long row = SORTED ? order[slot + lane] : slot + lane;
                if (row >= 0 && row < rows)
                    y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
            }
        }
    }
}
