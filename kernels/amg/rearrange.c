/* Rows in a new order. They are sorted by counting, for each entry, how many are smaller: rows are short, and the result does not
 * depend on who came first. */

#define ROWS (BLOCK / LANES)

/* Row i of the result is row order[i], its columns renumbered by rank and sorted; duplicates counts equal ones. Rows begin at `offsets`, and
 * may have gaps between them. */
KERNEL rearrange(const int rows, GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT rank,
                 GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                 GLOBAL const double *RESTRICT values, GLOBAL const int *RESTRICT weights,
                 GLOBAL const int *RESTRICT new_offsets, GLOBAL int *RESTRICT new_columns,
                 GLOBAL double *RESTRICT new_values, GLOBAL int *RESTRICT new_weights, GLOBAL int *RESTRICT duplicates)
{
    OUTER(block);
    SHARED int staged[ROWS][STAGED];
    INNER(t) {
        const long i = block * ROWS + t / LANES;
        if (i >= rows) continue;
        const int row = order ? order[i] : (int)i;
        const int begin = offsets[row], length = new_offsets[i + 1] - new_offsets[i];
        for (int e = t % LANES; e < length && e < STAGED; e += LANES) {
            staged[t / LANES][e] = rank ? rank[columns[begin + e]] : columns[begin + e];
        }
    }
    BARRIER;
    INNER(t) {
        const long i = block * ROWS + t / LANES;
        if (i >= rows) continue;
        const int row = order ? order[i] : (int)i;
        const int begin = offsets[row], target = new_offsets[i], length = new_offsets[i + 1] - target;
        for (int e = t % LANES; e < length; e += LANES) {
            const int column = e < STAGED ? staged[t / LANES][e] : rank ? rank[columns[begin + e]] : columns[begin + e];
            int place = 0, equal = 0;
            for (int f = 0; f < length && f < STAGED; ++f) {
                place += staged[t / LANES][f] < column;
                equal += staged[t / LANES][f] == column;
            }
            for (int f = STAGED; f < length; ++f) {
                const int other = rank ? rank[columns[begin + f]] : columns[begin + f];
                place += other < column;
                equal += other == column;
            }
            if (equal > 1 && duplicates) ATOMIC_ADD_GLOBAL(&duplicates[0], 1);
            new_columns[target + place] = column;
            if (new_values) new_values[target + place] = values[begin + e];
            if (new_weights) new_weights[target + place] = weights[begin + e];
        }
    }
}
