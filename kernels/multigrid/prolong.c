/* Rows of the prolongation, on a processor: how long they are, or, once `columns` are there, what they hold, sorted. `owner` is
 * where a fine node stands in the fine elements' nodes, `coarse` are the coarse elements' nodes, `table` (CHILDREN, LOCAL,
 * LOCAL) their functions at the nodes of each child. Rows of the boundary are empty, and its columns left out. */

KERNEL prolong_rows(const int rows, const int parts, GLOBAL const int *RESTRICT owner,
                    GLOBAL const uchar *RESTRICT fixed, GLOBAL const int *RESTRICT coarse,
                    GLOBAL const uchar *RESTRICT coarse_fixed, GLOBAL const double *RESTRICT table,
                    GLOBAL int *RESTRICT lengths, GLOBAL const int *RESTRICT offsets, GLOBAL int *RESTRICT columns,
                    GLOBAL double *RESTRICT values)
{
    OUTER(part);
    for (int row = (int)((long)rows * part / parts); row < (int)((long)rows * (part + 1) / parts); ++row) {
        const int element = owner[row] / LOCAL, begin = columns ? offsets[row] : 0;
        GLOBAL const double *const entries = table + (element % CHILDREN * LOCAL + owner[row] % LOCAL) * LOCAL;
        int count = 0;
        for (int f = 0; f < LOCAL && !fixed[row]; ++f) {
            const int column = coarse[(long)(element / CHILDREN) * LOCAL + f];
            if ((entries[f] < 0 ? -entries[f] : entries[f]) <= LEAST || coarse_fixed[column]) continue;
            int at = begin + count++;
            if (!columns) continue;
            for (; at > begin && columns[at - 1] > column; --at)
                columns[at] = columns[at - 1], values[at] = values[at - 1];
            columns[at] = column, values[at] = entries[f];
        }
        if (!columns) lengths[row] = count;
    }
}
