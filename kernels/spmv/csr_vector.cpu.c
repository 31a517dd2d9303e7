// y = alpha A x + beta y, A in CSR, a row by the eight lanes of a vector, WIDTH or not.
#include "ahead.h"

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
        if (end - k >= 8) {
            eight parts = {0};
            for (; k + 8 <= end; k += 8) {
                ask_for(columns + k, values + k, 8);
                parts += LOAD_EIGHT(values + k) * FIND_EIGHT(x, columns + k);
            }
            sum = SUM_OF_EIGHT(parts);
        } else
            ask_for(columns + k, values + k, 8);
        for (; k < end; ++k) sum += values[k] * x[columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}
