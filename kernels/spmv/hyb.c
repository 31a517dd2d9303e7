// Rows by their number of entries, and the entries of long rows beyond a width.
#define SHORT 64 // rows of fewer entries are counted by the block first

KERNEL count_lengths(const int rows, GLOBAL const int *RESTRICT row_offsets, GLOBAL int *RESTRICT counts)
{
    OUTER(block);
    SHARED int mine[SHORT];
    INNER_FOR(k, SHORT)
        mine[k] = 0;
    BARRIER;
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= rows)
            continue;
        const int length = row_offsets[row + 1] - row_offsets[row];
        if (length < SHORT)
            ATOMIC_ADD_SHARED(&mine[length], 1);
        else
            ATOMIC_ADD_GLOBAL(&counts[length], 1);
    }
    BARRIER;
    INNER_FOR(k, SHORT) {
        if (mine[k] > 0)
            ATOMIC_ADD_GLOBAL(&counts[k], mine[k]);
    }
}

KERNEL count_beyond(const int rows, const int width, GLOBAL const int *RESTRICT row_offsets,
                    GLOBAL int *RESTRICT counts)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= rows)
            continue;
        const int beyond = row_offsets[row + 1] - row_offsets[row] - width;
        counts[row] = beyond > 0 ? beyond : 0;
    }
}

KERNEL fill_beyond(const int rows, const int width, GLOBAL const int *RESTRICT row_offsets,
                   GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                   GLOBAL const int *RESTRICT offsets, GLOBAL int *RESTRICT its_rows,
                   GLOBAL int *RESTRICT its_columns, GLOBAL real *RESTRICT its_values)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= rows)
            continue;
        int place = offsets[row];
        for (int e = row_offsets[row] + width; e < row_offsets[row + 1]; ++e, ++place) {
            its_rows[place] = (int)row;
            its_columns[place] = columns[e];
            its_values[place] = values[e];
        }
    }
}
