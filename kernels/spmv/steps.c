// Columns of slices as steps from the first column of each slice, in 16 bits, a thread a slot; padding is -1, and 65535.
KERNEL shorten(const long slots, const long slice_size, GLOBAL const long *RESTRICT slice_offsets,
               GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT columns,
               GLOBAL ushort *RESTRICT steps)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots)
            continue;
        const long slice = slot / slice_size, end = slice_offsets[slice + 1];
        for (long place = slice_offsets[slice] + slot % slice_size; place < end; place += slice_size)
            steps[place] = (ushort)(columns[place] < 0 ? 65535 : columns[place] - first_columns[slice]);
    }
}
