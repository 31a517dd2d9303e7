// y = alpha A x + beta y, A in CSR, WIDTH threads a row, whose sums are added in pairs.
KERNEL csr_vector(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    SHARED real sums[BLOCK];
    OUTER(block);
    INNER(t) {
        const long row = (block * BLOCK + t) / WIDTH;
        real sum = 0;
        if (row < rows)
            for (int k = row_offsets[row] + t % WIDTH; k < row_offsets[row + 1]; k += WIDTH)
                sum += values[k] * x[columns[k]];
        sums[t] = sum;
    }
    for (int step = WIDTH / 2; step > 0; step /= 2) {
        BARRIER;
        INNER(t) {
            if (t % WIDTH < step)
                sums[t] += sums[t + step];
        }
    }
    INNER(t) {
        const long row = (block * BLOCK + t) / WIDTH;
        if (t % WIDTH == 0 && row < rows)
            y[row] = alpha * sums[t] + (beta == 0 ? 0 : beta * y[row]);
    }
}
