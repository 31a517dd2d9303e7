// y = alpha A x + beta y, A in CSR, WIDTH threads a row, whose sums are added through registers.
KERNEL csr_vector(const int rows, const real alpha, const real beta, GLOBAL const int *RESTRICT row_offsets,
                  GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long row = (block * BLOCK + threadIdx.x) / WIDTH;
    const int lane = threadIdx.x % WIDTH, end = row < rows ? row_offsets[row + 1] : 0;
    real sum = 0;
    // Loads of DEPTH entries before the first use. A row starts anywhere, so lines are shared with its neighbours: they
    // must stay in the cache.
    for (int k = row < rows ? row_offsets[row] + lane : 0; k < end; k += DEPTH * WIDTH) {
        int column[DEPTH];
        real value[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            if (k + d * WIDTH < end) {
                column[d] = __ldg(&columns[k + d * WIDTH]);
                value[d] = __ldg(&values[k + d * WIDTH]);
            }
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            if (k + d * WIDTH < end)
                sum += value[d] * __ldg(&x[column[d]]);
    }
#pragma unroll
    for (int step = WIDTH / 2; step > 0; step /= 2)
        sum += __shfl_down_sync(0xffffffffu, sum, step, WIDTH);
    if (lane == 0 && row < rows)
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
}
