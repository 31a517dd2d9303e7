// y = alpha A x + beta y, A in slices of SLICE rows that are stored by columns, a block for the rows of its `chunk`.
#include "slices.h"

KERNEL sell(const long slots, const long chunk, const long rows, const real alpha, const real beta,
            GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long last = (block + 1) * chunk < slots ? (block + 1) * chunk : slots;
    for (long first = block * chunk; first < last; first += TOGETHER) {
        const long slice = first / SLICE;
        real sums[TOGETHER];
        add_slice(columns, values, x, slice_offsets[slice] + first % SLICE, slice_offsets[slice + 1], SLICE, sums);
        const int here = rows - first < TOGETHER ? rows - first : TOGETHER;
        for (int lane = 0; lane < (SORTED ? TOGETHER : here); ++lane) {
            const long row = SORTED ? order[first + lane] : first + lane;
            if (!SORTED || row >= 0)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
