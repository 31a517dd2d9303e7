// y = alpha A x + beta y, A in CSR, a row by the lanes of a vector, WIDTH or not.
#include "ahead.h"
#include "vectors.h"

KERNEL csr_vector(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long past = (block + 1) * (BLOCK / WIDTH), last = past < rows ? past : rows;
    for (long row = block * (BLOCK / WIDTH); row < last; ++row) {
        const int end = row_offsets[row + 1];
        int k = row_offsets[row];
        real sum = 0;
        if (end - k >= SOME) {
            some parts = {0};
            for (; k + SOME <= end; k += SOME) {
                ask_for(columns + k, values + k, SOME);
                parts += LOAD_SOME(values + k) * FIND_SOME(x, columns + k);
            }
            sum = SUM_OF_SOME(parts);
        } else
            ask_for(columns + k, values + k, SOME);
        for (; k < end; ++k) sum += values[k] * x[columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}
