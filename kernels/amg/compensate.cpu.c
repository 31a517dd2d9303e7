/* The boundary's part of a residual or right-hand side, see compensate.c: some rows of a slice at once. */

#include "../spmv/vectors.h"

#define SLICE 32
#define SLICE_NUMBERS 4

/* target -= A_B u. */
KERNEL compensate(const long slice_count, GLOBAL const ushort *RESTRICT boundary_order,
                  GLOBAL const int *RESTRICT boundary_slices, GLOBAL const real *RESTRICT boundary_values,
                  GLOBAL const int *RESTRICT boundary_columns, GLOBAL const real *RESTRICT u,
                  GLOBAL real *RESTRICT target)
{
    OUTER(block);
    const long past = (block + 1) * (BLOCK / SLICE), last = past < slice_count ? past : slice_count;
    for (long s = block * (BLOCK / SLICE); s < last; ++s) {
        const int *const slice = boundary_slices + SLICE_NUMBERS * s;
        const int width = slice[1], first = slice[2], place = slice[3] >> 6, step = slice[3] & 63;
        const real *const values = boundary_values + slice[0];
        const int *const columns = boundary_columns + slice[0];
        const ushort *const order = boundary_order + first + place;
        if (width == 0) continue;
        int lane = 0;
        for (; lane + SOME <= step; lane += SOME) {
            some sum = {0};
            for (int k = 0; k < width; ++k)
                sum += LOAD_SOME(values + k * step + lane) * FIND_SOME(u, columns + k * step + lane);
            for (int l = 0; l < SOME; ++l) target[first + order[lane + l]] -= sum[l];
        }
        for (; lane < step; ++lane) {
            real sum = 0;
            for (int k = 0; k < width; ++k) sum += values[k * step + lane] * u[columns[k * step + lane]];
            target[first + order[lane]] -= sum;
        }
    }
}
