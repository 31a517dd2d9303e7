/* Rows in a new order, one after the other, see rearrange.c. */

#define VECTOR 8 /* columns that are compared at once */
#define ROWS (BLOCK / LANES)
#define AHEAD 8 /* rows that are asked for before they are read, in steps: their place, their columns, the new numbers */
#define MOST_AHEAD 32 /* and entries of each */
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
        /* Rows in a new order are anywhere, and so are new numbers. A block is short: the next one's rows count, too. */
        if (order && i + 3 * AHEAD < rows) {
            __builtin_prefetch(offsets + order[i + 3 * AHEAD]);
            const int next = order[i + 2 * AHEAD], at = offsets[next];
            for (int e = at; e < offsets[next + 1] && e < at + MOST_AHEAD; e += 8) {
                __builtin_prefetch(columns + e);
                if (values) __builtin_prefetch(values + e);
            }
        }
        if (rank && i + AHEAD < rows) {
            const int next = order ? order[i + AHEAD] : (int)i + AHEAD, at = offsets[next];
            for (int e = at; e < offsets[next + 1] && e < at + MOST_AHEAD; ++e) __builtin_prefetch(rank + columns[e]);
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
            const int some = length - k < VECTOR ? length - k : VECTOR;
            for (int lane = 0; lane < some; ++lane) {
                const int e = begin + k + lane, column = length <= MOST ? kept[k + lane] : renumbered(rank, columns[e]);
                for (int f = begin; length > MOST && f < begin + length; ++f) {
                    place[lane] += renumbered(rank, columns[f]) < column;
                    equal[lane] += renumbered(rank, columns[f]) == column;
                }
                if (duplicates && equal[lane] > 1) ATOMIC_ADD_GLOBAL(&duplicates[0], 1);
                new_columns[target + place[lane]] = column;
            }
            for (int lane = 0; new_values && lane < some; ++lane)
                new_values[target + place[lane]] = values[begin + k + lane];
            for (int lane = 0; new_weights && lane < some; ++lane)
                new_weights[target + place[lane]] = weights[begin + k + lane];
        }
    }
}
