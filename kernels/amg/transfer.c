/* Transfers between levels, and the product with the inverse of the coarsest matrix.
 *
 * LANES neighbouring threads share a row, whose partial sums meet in shared memory; LANES is a power of two. */

#define ROWS (BLOCK / LANES)

/* Adds up the LANES partial sums of each row into its first thread's. */
#define MEET(partial)                                                                                                \
    BARRIER;                                                                                                         \
    for (int width = LANES / 2; width > 0; width /= 2) {                                                             \
        INNER(t) {                                                                                                   \
            if (t % LANES < width) partial[t] += partial[t + width];                                                 \
        }                                                                                                            \
        BARRIER;                                                                                                     \
    }

/* coarse = R fine. */
KERNEL to_coarse(const int count, GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
                 GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT fine, GLOBAL real *RESTRICT coarse)
{
    OUTER(block);
    SHARED real partial[BLOCK];
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        real sum = 0;
        if (row < count)
            for (int e = row_offsets[row] + t % LANES; e < row_offsets[row + 1]; e += LANES)
                sum += values[e] * fine[columns[e]];
        partial[t] = sum;
    }
    MEET(partial)
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        if (t % LANES == 0 && row < count) coarse[row] = partial[t];
    }
}

/* fine += P coarse, and rest = b, of which relaxation takes off what it must; a thread a row, which has few entries. */
KERNEL to_fine(const int count, GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
               GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT coarse,
               GLOBAL const rhs_real *RESTRICT b, GLOBAL real *RESTRICT fine, GLOBAL real *RESTRICT rest)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= count) continue;
        real sum = fine[row];
        for (int e = row_offsets[row]; e < row_offsets[row + 1]; ++e) sum += values[e] * coarse[columns[e]];
        fine[row] = sum;
        rest[row] = b[row];
    }
}

#ifndef ADD_PRODUCTS /* as transfer.cpu.c has it */
#define ADD_PRODUCTS(sum, row)                                                                                       \
    for (int j = t % LANES; j < count; j += LANES) sum += inverse[row * count + j] * (real)b[j];
#endif

/* x = inverse b, where inverse has `count` rows and columns. */
KERNEL dense(const int count, GLOBAL const real *RESTRICT inverse, GLOBAL const rhs_real *RESTRICT b,
             GLOBAL result_real *RESTRICT x)
{
    OUTER(block);
    SHARED real partial[BLOCK];
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        real sum = 0;
        if (row < count)
            ADD_PRODUCTS(sum, row)
        partial[t] = sum;
    }
    MEET(partial)
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        if (t % LANES == 0 && row < count) x[row] = partial[t];
    }
}
