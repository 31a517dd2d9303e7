// Blocks of SIZE x SIZE of a CSR matrix with sorted columns, a thread for the SIZE rows of a row of blocks.
#define NONE 2147483647

// The next block column at or after the places that the rows have come to.
DEVICE_FUNCTION int next_block(const int *at, const int *last, GLOBAL const int *columns)
{
    int next = NONE;
    for (int r = 0; r < SIZE; ++r)
        if (at[r] < last[r] && columns[at[r]] / SIZE < next)
            next = columns[at[r]] / SIZE;
    return next;
}

KERNEL count_blocks(const int block_rows, GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
                    GLOBAL int *RESTRICT counts)
{
    OUTER(block);
    INNER(t) {
        const long block_row = block * BLOCK + t;
        if (block_row >= block_rows)
            continue;
        int at[SIZE], last[SIZE], count = 0;
        for (int r = 0; r < SIZE; ++r) {
            at[r] = row_offsets[block_row * SIZE + r];
            last[r] = row_offsets[block_row * SIZE + r + 1];
        }
        for (int next = next_block(at, last, columns); next != NONE; next = next_block(at, last, columns)) {
            ++count;
            for (int r = 0; r < SIZE; ++r)
                while (at[r] < last[r] && columns[at[r]] / SIZE == next)
                    ++at[r];
        }
        counts[block_row] = count;
    }
}

// Value (r, c) of the blocks of a slice's column stand together, so that neighbouring threads read neighbours; what is
// padded has column -1 and values 0.
KERNEL fill_blocks(const long slots, const long slice_size, const int block_rows,
                   GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
                   GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
                   GLOBAL const real *RESTRICT values, GLOBAL int *RESTRICT block_columns,
                   GLOBAL real *RESTRICT block_values)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots)
            continue;
        const long slice = slot / slice_size, lane = slot % slice_size, end = slice_offsets[slice + 1];
        const long block_row = SORTED ? order[slot] : slot;
        const int is_row = block_row >= 0 && block_row < block_rows;
        int at[SIZE], last[SIZE];
        for (int r = 0; r < SIZE; ++r) {
            at[r] = is_row ? row_offsets[block_row * SIZE + r] : 0;
            last[r] = is_row ? row_offsets[block_row * SIZE + r + 1] : 0;
        }
        for (long first = slice_offsets[slice]; first < end; first += slice_size) {
            const int next = next_block(at, last, columns);
            block_columns[first + lane] = next == NONE ? -1 : next;
            for (int r = 0; r < SIZE; ++r)
                for (int c = 0; c < SIZE; ++c) {
                    const int is_here = next != NONE && at[r] < last[r] && columns[at[r]] == next * SIZE + c;
                    block_values[(first * SIZE + r * slice_size) * SIZE + c * slice_size + lane]
                        = is_here ? values[at[r]] : 0;
                    at[r] += is_here;
                }
        }
    }
}
