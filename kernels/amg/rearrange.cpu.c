/* Rows in a new order, one after the other, see rearrange.c. */

#include "columns.h"

#define ROWS (BLOCK / LANES)
#define MOST 1024 /* columns of a row that are kept; those of a longer one are looked up each time */

DEVICE_FUNCTION int renumbered(const int *rank, const int column) { return rank ? rank[column] : column; }

KERNEL rearrange(const int rows, GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT rank,
                 GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                 GLOBAL const double *RESTRICT values, GLOBAL const int *RESTRICT weights,
                 GLOBAL const int *RESTRICT new_offsets, GLOBAL int *RESTRICT new_columns,
                 GLOBAL double *RESTRICT new_values, GLOBAL int *RESTRICT new_weights, GLOBAL int *RESTRICT duplicates)
{
    OUTER(block);
    int kept[MOST + VECTOR];
    const long past = (block + 1) * ROWS < rows ? (block + 1) * ROWS : rows;
    for (long i = block * ROWS; i < past; ++i) {
        const int row = order ? order[i] : (int)i;
        const int begin = offsets[row], length = offsets[row + 1] - begin, target = new_offsets[i];
        const int is_kept = length <= MOST;
        for (int e = 0; is_kept && e < length; ++e) kept[e] = renumbered(rank, columns[begin + e]);
        if (is_kept) pad(kept, length);
        for (int e = 0; e < length; ++e) {
            const int column = is_kept ? kept[e] : renumbered(rank, columns[begin + e]);
            int place = 0, equal = 0;
            if (is_kept) {
                place = smaller(kept, length, column);
                for (int f = 0; duplicates && f < length; ++f) equal += kept[f] == column;
            } else
                for (int f = 0; f < length; ++f) {
                    const int other = renumbered(rank, columns[begin + f]);
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
