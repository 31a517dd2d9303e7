/* Weighted Jacobi relaxation merged with its product, a thread a row. Arguments are as in the portable source. */
#include "../spmv/row_sums.h"

#define FOR_ROWS(statement)                                                                                          \
    OUTER(block);                                                                                                    \
    const long slot = block * BLOCK + threadIdx.x;                                                                   \
    if (slot >= slots)                                                                                               \
        return;                                                                                                      \
    const long slice = slot / SLICE, place = slice_offsets[slice] + slot % SLICE;                                    \
    const int width = (slice_offsets[slice + 1] - slice_offsets[slice]) / SLICE;                                     \
    const long i = SORTED ? order[slot] : slot;                                                                      \
    real sum[LANES] = {};                                                                                            \
    add_rows(width, SLICE, columns + place, values + place, u, sum);                                                 \
    if (i >= 0 && i < rows)                                                                                          \
        statement;

KERNEL start(const long count, GLOBAL const real *RESTRICT weights, GLOBAL const rhs_real *RESTRICT b,
             GLOBAL real *RESTRICT u)
{
    OUTER(block);
    const long i = block * BLOCK + threadIdx.x;
    if (i < count)
        u[i] = weights[i] * (real)b[i];
}

KERNEL defect(const long slots, const long rows, GLOBAL const long *RESTRICT slice_offsets,
              GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
              GLOBAL const rhs_real *RESTRICT b, GLOBAL const real *RESTRICT u, GLOBAL real *RESTRICT residual)
{
    FOR_ROWS(residual[i] = (real)b[i] - sum[0])
}

KERNEL correct(const long slots, const long rows, GLOBAL const long *RESTRICT slice_offsets,
               GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
               GLOBAL const real *RESTRICT weights, GLOBAL const real *RESTRICT b, GLOBAL const real *RESTRICT u,
               GLOBAL result_real *RESTRICT result)
{
    FOR_ROWS(result[i] = u[i] + weights[i] * (b[i] - sum[0]))
}
