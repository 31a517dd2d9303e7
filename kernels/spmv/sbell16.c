// y = alpha A x + beta before, A as in sbell.c, its block columns counted from the first of each slice in 16 bits;
// where it COMBINES, gamma x + delta z are added, and y may be wider than the rest. `before` may be y. What has the
// factor 0 is not read.
#define PADDED 65535

KERNEL sbell16(const long slots, const int block_rows, const real alpha, const real beta, const real gamma,
               const real delta, GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
               GLOBAL const int *RESTRICT first_columns, GLOBAL const ushort *RESTRICT steps,
               GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT z,
               GLOBAL const real *before, GLOBAL wide *y)
{
    OUTER(block);
    INNER(t) {
        const long slot = (block * BLOCK + t) * LANES;
        if (slot >= slots)
            continue;
        const long slice = slot / SLICE, begin = slice_offsets[slice], end = slice_offsets[slice + 1];
        const int first_lane = slot % SLICE;
        GLOBAL const real *const nearby = x + (long)first_columns[slice] * SIZE;
        real sums[SIZE][LANES];
        for (int r = 0; r < SIZE; ++r)
            for (int lane = 0; lane < LANES; ++lane)
                sums[r][lane] = 0;
        for (long first = begin; first < end; first += SLICE) {
            GLOBAL const real *const block_values = values + first * (SIZE * SIZE) + first_lane;
            real factors[SIZE][LANES];
            UNROLL
            for (int c = 0; c < SIZE; ++c)
                for (int lane = 0; lane < LANES; ++lane) {
                    const int step = steps[first + first_lane + lane];
#if LANES == 1
                    factors[c][lane] = step == PADDED ? 0 : nearby[step * SIZE + c]; // padding reads no x
#else // x is read in any case, so that processors gather; it may be NaN where padding reads it
                    const real found = nearby[(step == PADDED ? 0 : step) * SIZE + c];
                    factors[c][lane] = step == PADDED ? 0 : found;
#endif
                }
            UNROLL
            for (int r = 0; r < SIZE; ++r) // values in the order in which they lie
                UNROLL
                for (int c = 0; c < SIZE; ++c)
                    for (int lane = 0; lane < LANES; ++lane)
                        sums[r][lane]
                            += READ_ONCE_LOAD(&block_values[(r * SIZE + c) * SLICE + lane]) * factors[c][lane];
        }
        for (int lane = 0; lane < LANES; ++lane) {
            const long block_row = SORTED ? order[slot + lane] : slot + lane;
            if (block_row < 0 || block_row >= block_rows)
                continue;
            real added[SIZE]; // all loads before the first store
            UNROLL
            for (int r = 0; r < SIZE; ++r) {
                const long row = block_row * SIZE + r;
                added[r] = beta == 0 ? 0 : beta * before[row];
#if COMBINES // a build of its own, so that the plain product has nothing to ask
                if (gamma != 0) added[r] += gamma * x[row];
                if (delta != 0) added[r] += delta * z[row];
#endif
            }
            UNROLL
            for (int r = 0; r < SIZE; ++r)
                y[block_row * SIZE + r] = (wide)(alpha * sums[r][lane] + added[r]);
        }
    }
}
