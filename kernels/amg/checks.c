/* The set-up's checks of a matrix. `found` counts, in this order: columns out of range, values that are not finite, rows whose
 * diagonal is missing or not positive, rows not sorted, entries without a counterpart, entries whose counterpart differs. */

KERNEL check_rows(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                  GLOBAL const double *RESTRICT values, GLOBAL double *RESTRICT diagonal, GLOBAL int *RESTRICT found)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        int outside = 0, infinite = 0, unsorted = 0, previous = -1;
        double own = 0;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            const int column = columns[e];
            outside += column < 0 || column >= n;
            infinite += !(values[e] - values[e] == 0);
            unsorted |= column <= previous;
            if (column == i) own += values[e];
            previous = column;
        }
        diagonal[i] = own;
        if (outside) ATOMIC_ADD_GLOBAL(&found[0], outside);
        if (infinite) ATOMIC_ADD_GLOBAL(&found[1], infinite);
        if (!(own > 0)) ATOMIC_ADD_GLOBAL(&found[2], 1);
        if (unsorted) ATOMIC_ADD_GLOBAL(&found[3], 1);
    }
}

/* Nothing is looked up in rows that are not sorted, or have columns out of range. */
KERNEL check_symmetry(const int n, const double tolerance, GLOBAL const int *RESTRICT offsets,
                      GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values,
                      GLOBAL const double *RESTRICT diagonal, GLOBAL int *RESTRICT found)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n || LOAD_GLOBAL(&found[0]) || LOAD_GLOBAL(&found[3])) continue;
        int lonely = 0, different = 0;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            const int column = columns[e];
            if (column == i) continue;
            int low = offsets[column], high = offsets[column + 1];
            while (low < high) {
                const int middle = (low + high) / 2;
                if (columns[middle] < i) {
                    low = middle + 1;
                } else {
                    high = middle;
                }
            }
            if (low >= offsets[column + 1] || columns[low] != i) {
                ++lonely;
                continue;
            }
            const double gap = values[e] - values[low];
            different += gap * gap > tolerance * tolerance * diagonal[i] * diagonal[column];
        }
        if (lonely) ATOMIC_ADD_GLOBAL(&found[4], lonely);
        if (different) ATOMIC_ADD_GLOBAL(&found[5], different);
    }
}

KERNEL diagonal_of(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                   GLOBAL const double *RESTRICT values, GLOBAL double *RESTRICT diagonal)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        double own = 0;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            if (columns[e] == i) own = values[e];
        }
        diagonal[i] = own;
    }
}
