// Columns of slices as steps from the first column of each slice, in 16 bits, a thread a slot; padding is -1, and 65535.
// Where that first is negative the columns are copied to `far`, to the place that it tells.
KERNEL shorten(const long slots, const long slice_size, GLOBAL const long *RESTRICT slice_offsets,
               GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT columns,
               GLOBAL int *RESTRICT far, GLOBAL ushort *RESTRICT steps)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots)
            continue;
        const long slice = slot / slice_size, begin = slice_offsets[slice], end = slice_offsets[slice + 1];
        const int first = first_columns[slice];
        for (long place = begin + slot % slice_size; place < end; place += slice_size) {
            steps[place] = (ushort)(columns[place] < 0 ? 65535 : first < 0 ? 0 : columns[place] - first);
            if (first < 0)
                far[(long)(-1 - first) * slice_size + place - begin] = columns[place];
        }
    }
}
