// y = alpha A x + beta y, A in ELLPACK, columns `stride` apart, a thread for LANES rows.
KERNEL ellpack(const long stride, const long stored, const long rows, const real alpha, const real beta,
               GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
               GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long first = (block * BLOCK + t) * LANES;
        if (first >= rows)
            continue;
        const int lanes = LANES == 1 || stride - first > LANES ? LANES : stride - first;
        real sums[LANES];
        for (int lane = 0; lane < lanes; ++lane)
            sums[lane] = 0;
        for (long place = first; place < stored; place += stride)
            for (int lane = 0; lane < lanes; ++lane) {
                const int column = columns[place + lane];
                const real found = x[column < 0 ? 0 : column]; // in any case, so that processors gather
                const real factor = column < 0 ? 0 : found; // x may be NaN where padding reads it
                sums[lane] += values[place + lane] * factor;
            }
        for (int lane = 0; lane < lanes; ++lane) {
            const long row = first + lane;
            if (row < rows)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
