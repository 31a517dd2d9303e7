// y = alpha A x + beta y, A in CSR, a thread a row.
KERNEL csr_scalar(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= rows)
            continue;
        real sum = 0;
        for (int k = row_offsets[row]; k < row_offsets[row + 1]; ++k)
            sum += values[k] * x[columns[k]];
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
    }
}
