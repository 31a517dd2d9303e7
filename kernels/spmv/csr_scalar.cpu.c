// y = alpha A x + beta y, A in CSR, a row after the other.
#include "ahead.h"
#define SHORT 16 // entries: where rows are longer, columns and values are most of what is read, and are foreseen

KERNEL csr_scalar(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long last = (block + 1) * BLOCK < rows ? (block + 1) * BLOCK : rows;
    for (long row = block * BLOCK; row < last; ++row) {
        int k = row_offsets[row];
        const int end = row_offsets[row + 1];
        if (end - k < SHORT) ask_for(columns + k, values + k, 8);
        real sum = 0;
        for (; k < end; ++k) sum += values[k] * x[columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}
