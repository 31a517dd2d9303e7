// y = alpha A x + beta y, A in SIZE x SIZE blocks and slices of SLICE block rows, a thread a block row. Values are read
// past the caches, two blocks before the first is used.
#define DEPTH 2

KERNEL sbell(const long slots, const int block_rows, const real alpha, const real beta,
             GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
             GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
             GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long slot = block * BLOCK + threadIdx.x;
    if (slot >= slots)
        return;
    const long slice = slot / SLICE, begin = slice_offsets[slice];
    const int width = (slice_offsets[slice + 1] - begin) / SLICE;
    columns += begin + slot % SLICE;
    values += begin * (SIZE * SIZE) + slot % SLICE;
    real sums[SIZE] = {};
#pragma unroll 1
    for (int k = 0; k < width; k += DEPTH, columns += DEPTH * SLICE, values += DEPTH * SIZE * SIZE * SLICE) {
        int column[DEPTH];
        real value[DEPTH][SIZE * SIZE];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
            const bool is_here = d == 0 || k + d < width;
            column[d] = is_here ? columns[d * SLICE] : -1;
#pragma unroll
            for (int i = 0; i < SIZE * SIZE; ++i)
                value[d][i] = is_here ? __ldcs(&values[(d * SIZE * SIZE + i) * SLICE]) : 0;
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) {
#pragma unroll
            for (int c = 0; c < SIZE; ++c) {
                const real factor = column[d] < 0 ? 0 : x[(long)column[d] * SIZE + c]; // padding reads no x
#pragma unroll
                for (int r = 0; r < SIZE; ++r)
                    sums[r] += value[d][r * SIZE + c] * factor;
            }
        }
    }
    const long block_row = SORTED ? order[slot] : slot;
    if (block_row >= 0 && block_row < block_rows) {
#pragma unroll
        for (int r = 0; r < SIZE; ++r) {
            const long row = block_row * SIZE + r;
            y[row] = alpha * sums[r] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
