// y = alpha A x + beta y, A in ELLPACK with row lengths, columns `stride` apart, a thread for LANES rows.
KERNEL ellpack_r(const long stride, const long rows, const real alpha, const real beta,
                 GLOBAL const int *RESTRICT lengths, GLOBAL const int *RESTRICT columns,
                 GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long first = (block * BLOCK + t) * LANES;
        if (first >= rows)
            continue;
        const int lanes = LANES == 1 || stride - first > LANES ? LANES : stride - first;
        real sums[LANES];
        int longest = 0;
        for (int lane = 0; lane < lanes; ++lane) {
            sums[lane] = 0;
            longest = lengths[first + lane] > longest ? lengths[first + lane] : longest;
        }
        for (long place = first; place < longest * stride; place += stride)
            for (int lane = 0; lane < lanes; ++lane) {
                const int column = columns[place + lane];
                const real found = x[column < 0 ? 0 : column]; // in any case, so that processors gather
                const real factor = column < 0 ? 0 : found; // of shorter rows beside this one
                sums[lane] += READ_ONCE_LOAD(&values[place + lane]) * factor;
            }
        for (int lane = 0; lane < lanes; ++lane) {
            const long row = first + lane;
            if (row < rows)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
