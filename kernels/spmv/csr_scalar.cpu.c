// y = alpha A x + beta y, A in CSR, a row after the other, four entries at once: one chain of additions would be waited
// for, and more lanes leave more of a short row over.
#include "ahead.h"
#define SHORT 16 // entries: from row to row of fewer the processor does not foresee what is read
#define LONG 32  // of more, columns and values are most of what is read, and are more than caches hold

typedef real four __attribute__((vector_size(4 * sizeof(real))));
typedef real four_anywhere __attribute__((vector_size(4 * sizeof(real)), aligned(sizeof(real)), may_alias));
#define LOAD_FOUR(from) (*(const four_anywhere *)(from))
#define FIND_FOUR(x, at) (four){(x)[(at)[0]], (x)[(at)[1]], (x)[(at)[2]], (x)[(at)[3]]}

KERNEL csr_scalar(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long last = (block + 1) * BLOCK < rows ? (block + 1) * BLOCK : rows;
    for (long row = block * BLOCK; row < last; ++row) {
        int k = row_offsets[row];
        const int end = row_offsets[row + 1];
        if (end - k < SHORT)
            ask_for(columns + k, values + k, 8);
        else if (end - k >= LONG)
            ask_for(columns + k, values + k, end - k);
        four parts = {0};
        for (; end - k >= 4; k += 4) {
            const int *at = columns + k;
            OPAQUE(at);
            parts += LOAD_FOUR(values + k) * FIND_FOUR(x, at);
        }
        real sum = (parts[0] + parts[2]) + (parts[1] + parts[3]);
        if (end - k >= 2) {
            sum += values[k] * x[columns[k]] + values[k + 1] * x[columns[k + 1]];
            k += 2;
        }
        if (k < end) sum += values[k] * x[columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}
