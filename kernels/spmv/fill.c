// Rows of a CSR matrix into slices stored by columns, a thread a slot; what is padded has column -1 and value 0.
KERNEL fill(const long slots, const long slice_size, const long rows, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT row_offsets,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
            GLOBAL int *RESTRICT slice_columns, GLOBAL real *RESTRICT slice_values)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots)
            continue;
        const long slice = slot / slice_size, begin = slice_offsets[slice], end = slice_offsets[slice + 1];
        const long row = SORTED ? order[slot] : slot;
        long k = 0, last = 0;
        if (row >= 0 && row < rows) {
            k = row_offsets[row];
            last = row_offsets[row + 1];
        }
        for (long place = begin + slot % slice_size; place < end; place += slice_size, ++k) {
            slice_columns[place] = k < last ? columns[k] : -1;
            slice_values[place] = k < last ? values[k] : 0;
        }
    }
}
