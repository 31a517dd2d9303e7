/* Rows in a new order, one after the other, see rearrange.c. */

#define VECTOR 16 /* columns that are compared at once */
#define ROWS (BLOCK / LANES)
#define AHEAD 8 /* rows that are asked for before they are read */
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
        if (order && i + 2 * AHEAD < past) { /* rows in a new order are anywhere */
            const int next = order[i + AHEAD], at = offsets[next];
            __builtin_prefetch(offsets + order[i + 2 * AHEAD]);
            for (int e = at; e < offsets[next + 1] && e < at + 32; e += 8) {
                __builtin_prefetch(columns + e);
                if (values) __builtin_prefetch(values + e);
            }
        }
        const int begin = offsets[row], length = offsets[row + 1] - begin, target = new_offsets[i];
        for (int e = 0; e < length && length <= MOST; ++e) kept[e] = renumbered(rank, columns[begin + e]);
        for (int k = 0; k < length; k += VECTOR) {
            int equal[VECTOR] = {0}, place[VECTOR] = {0};
            if (length <= MOST) {
                for (int other = 0; other < length; ++other)
                    for (int lane = 0; lane < VECTOR; ++lane) place[lane] += kept[other] < kept[k + lane];
                for (int other = 0; duplicates && other < length; ++other)
                    for (int lane = 0; lane < VECTOR; ++lane) equal[lane] += kept[other] == kept[k + lane];
            }
            for (int lane = 0; lane < VECTOR && k + lane < length; ++lane) {
                const int e = begin + k + lane, column = renumbered(rank, columns[e]);
                for (int f = begin; length > MOST && f < begin + length; ++f) {
                    place[lane] += renumbered(rank, columns[f]) < column;
                    equal[lane] += renumbered(rank, columns[f]) == column;
                }
                if (duplicates && equal[lane] > 1) ATOMIC_ADD_GLOBAL(&duplicates[0], 1);
                new_columns[target + place[lane]] = column;
                if (new_values) new_values[target + place[lane]] = values[e];
                if (new_weights) new_weights[target + place[lane]] = weights[e];
            }
        }
    }
}
