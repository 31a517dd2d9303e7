// y = alpha A x + beta y, A in slices of SLICE rows that are stored by columns, a thread a row. Values are read past
// the caches and columns through them: either alone is faster than both or neither. Left to itself the compiler unrolls
// by four, and the 15 entries of a row of tetrahedra take half as long again.
#define DEPTH 3

KERNEL sell(const long slots, const long rows, const real alpha, const real beta,
            GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long slot = block * BLOCK + threadIdx.x;
    if (slot >= slots)
        return;
    const long slice = slot / SLICE, begin = slice_offsets[slice];
    int left = (slice_offsets[slice + 1] - begin) / SLICE;
    columns += begin + slot % SLICE;
    values += begin + slot % SLICE;
    real sum = 0;
    for (; left >= DEPTH; left -= DEPTH, columns += DEPTH * SLICE, values += DEPTH * SLICE) {
        int column[DEPTH];
        real value[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) { // all loads before the first use
            column[d] = columns[d * SLICE];
            value[d] = __ldcs(&values[d * SLICE]);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            sum += value[d] * (column[d] < 0 ? 0 : x[column[d]]); // padding reads no x: it may be NaN
    }
#pragma unroll 1
    for (; left > 0; --left, columns += SLICE, values += SLICE)
        sum += __ldcs(values) * (*columns < 0 ? 0 : x[*columns]);
    const long row = SORTED ? order[slot] : slot;
    if (row >= 0 && row < rows)
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
}
