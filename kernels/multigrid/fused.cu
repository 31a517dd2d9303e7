/* A product with A, in ELLPACK-R or in slices, and the vector operations around it: a thread a row. As in the product of
 * slices alone, values are read past the caches and columns through them, and DEPTH entries are loaded before the first is
 * used: the rows of Q1 have nine. Arguments are those of the portable source. */
#define DEPTH 3

#if SLICED
#define STRIDE SLICE
#else
#define STRIDE stride
#endif

/* Entry `slot` of A x, in the order of the slots. */
DEVICE_FUNCTION double entry(const long slot, const long stride, const extent *extents, const int *columns,
                             const double *values, const double *RESTRICT x)
{
#if SLICED
    const long slice = slot / SLICE, begin = extents[slice];
    int left = (extents[slice + 1] - begin) / SLICE;
    columns += begin + slot % SLICE;
    values += begin + slot % SLICE;
#else
    int left = extents[slot];
    columns += slot;
    values += slot;
#endif
    double sum = 0;
    for (; left >= DEPTH; left -= DEPTH, columns += DEPTH * STRIDE, values += DEPTH * STRIDE) {
        int column[DEPTH];
        double value[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            column[d] = columns[d * STRIDE];
            value[d] = __ldcs(&values[d * STRIDE]);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            sum += value[d] * (column[d] < 0 ? 0 : x[column[d]]); // padding reads no x: it may be NaN
    }
#pragma unroll 1
    for (; left > 0; --left, columns += STRIDE, values += STRIDE)
        sum += __ldcs(values) * (*columns < 0 ? 0 : x[*columns]);
    return sum;
}

#define FOR_ROW(statement)                                                                                           \
    OUTER(block);                                                                                                    \
    const long slot = block * BLOCK + threadIdx.x;                                                                   \
    if (slot >= slots)                                                                                               \
        return;                                                                                                      \
    const double sum = entry(slot, stride, extents, columns, values, x);                                             \
    const long i = SORTED ? order[slot] : slot;                                                                      \
    if (i < 0 || i >= rows)                                                                                          \
        return;                                                                                                      \
    statement

KERNEL defect(const long slots, const long stride, const long rows, GLOBAL const extent *RESTRICT extents,
              GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
              GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT x, GLOBAL const double *RESTRICT b,
              GLOBAL double *RESTRICT d)
{
    FOR_ROW(d[i] = b[i] - sum;)
}

KERNEL relax(const long slots, const long stride, const long rows, GLOBAL const extent *RESTRICT extents,
             GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
             GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT x, GLOBAL const double *RESTRICT b,
             GLOBAL const double *RESTRICT inverse_diagonal, const double omega, GLOBAL double *RESTRICT out)
{
    FOR_ROW(out[i] = x[i] + omega * inverse_diagonal[i] * (b[i] - sum);)
}

KERNEL relax_with_memory(const long slots, const long stride, const long rows, GLOBAL const extent *RESTRICT extents,
                         GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
                         GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT x,
                         GLOBAL const double *RESTRICT b, GLOBAL const double *RESTRICT inverse_diagonal,
                         const double now, const double before, GLOBAL double *RESTRICT p, GLOBAL double *RESTRICT out)
{
    FOR_ROW(const double step = now * inverse_diagonal[i] * (b[i] - sum) + (before == 0 ? 0 : before * p[i]);
            p[i] = step;
            out[i] = x[i] + step;)
}
