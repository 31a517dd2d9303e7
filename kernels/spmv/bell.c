// y = alpha A x + beta y, A in SIZE x SIZE blocks in ELLPACK, columns `stride` apart, a thread for LANES block rows.
KERNEL bell(const long stride, const long blocks, const int block_rows, const real alpha, const real beta,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long slot = (block * BLOCK + t) * LANES;
        if (slot >= block_rows)
            continue;
        real sums[SIZE][LANES];
        for (int r = 0; r < SIZE; ++r)
            for (int lane = 0; lane < LANES; ++lane)
                sums[r][lane] = 0;
        for (long first = 0; first < blocks; first += stride) {
            GLOBAL const real *const block_values = values + first * (SIZE * SIZE) + slot;
            UNROLL
            for (int c = 0; c < SIZE; ++c) {
                real factors[LANES];
                for (int lane = 0; lane < LANES; ++lane) {
                    const int column = READ_ONCE_LOAD(&columns[first + slot + lane]);
                    const real found = x[(column < 0 ? 0 : column) * SIZE + c]; // in any case, for gathers
                    factors[lane] = column < 0 ? 0 : found; // x may be NaN where padding reads it
                }
                UNROLL
                for (int r = 0; r < SIZE; ++r)
                    for (int lane = 0; lane < LANES; ++lane)
                        sums[r][lane] += READ_ONCE_LOAD(&block_values[(r * SIZE + c) * stride + lane]) * factors[lane];
            }
        }
        for (int lane = 0; lane < LANES; ++lane)
            if (slot + lane < block_rows)
                for (int r = 0; r < SIZE; ++r) {
                    const long row = (slot + lane) * SIZE + r;
                    y[row] = alpha * sums[r][lane] + (beta == 0 ? 0 : beta * y[row]);
                }
    }
}
