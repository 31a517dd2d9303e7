/* Weighted Jacobi relaxation merged with its product: A in slices of SLICE rows that are stored by columns, a thread for
 * LANES rows. rhs_real and result_real are the types of b and of the result, which are double on the finest level. */

/* For each row of a thread: `sum` is its entry of A u, and `i` its number. A padded column is -1. */
#define FOR_ROWS(statement)                                                                                          \
    OUTER(block);                                                                                                    \
    INNER(t) {                                                                                                       \
        const long slot = (block * BLOCK + t) * LANES;                                                               \
        if (slot >= slots)                                                                                           \
            continue;                                                                                                \
        const long slice = slot / SLICE, end = slice_offsets[slice + 1];                                             \
        real sums[LANES];                                                                                            \
        for (int lane = 0; lane < LANES; ++lane)                                                                     \
            sums[lane] = 0;                                                                                          \
        for (long place = slice_offsets[slice] + slot % SLICE; place < end; place += SLICE)                          \
            for (int lane = 0; lane < LANES; ++lane) {                                                               \
                const int column = columns[place + lane];                                                            \
                const real found = u[column < 0 ? 0 : column]; /* in any case, so that processors gather */          \
                sums[lane] += values[place + lane] * (column < 0 ? 0 : found);                                       \
            }                                                                                                        \
        for (int lane = 0; lane < LANES; ++lane) {                                                                   \
            const long i = SORTED ? order[slot + lane] : slot + lane;                                                \
            if (i < 0 || i >= rows)                                                                                  \
                continue;                                                                                            \
            const real sum = sums[lane];                                                                             \
            statement;                                                                                               \
        }                                                                                                            \
    }

/* u = weights b, the first iteration from zero. */
KERNEL start(const long count, GLOBAL const real *RESTRICT weights, GLOBAL const rhs_real *RESTRICT b,
             GLOBAL real *RESTRICT u)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < count) u[i] = weights[i] * (real)b[i];
    }
}

/* residual = b - A u */
KERNEL defect(const long slots, const long rows, GLOBAL const long *RESTRICT slice_offsets,
              GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
              GLOBAL const rhs_real *RESTRICT b, GLOBAL const real *RESTRICT u, GLOBAL real *RESTRICT residual)
{
    FOR_ROWS(residual[i] = (real)b[i] - sum)
}

/* result = u + weights (b - A u) */
KERNEL correct(const long slots, const long rows, GLOBAL const long *RESTRICT slice_offsets,
               GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
               GLOBAL const real *RESTRICT weights, GLOBAL const real *RESTRICT b, GLOBAL const real *RESTRICT u,
               GLOBAL result_real *RESTRICT result)
{
    FOR_ROWS(result[i] = u[i] + weights[i] * (b[i] - sum))
}
