/* Rows in a new order, one after the other, see rearrange.c. */

#define VECTOR 8 /* columns that are compared at once */
typedef int eight_ints __attribute__((vector_size(VECTOR * sizeof(int))));
typedef int eight_ints_anywhere __attribute__((vector_size(VECTOR * sizeof(int)), aligned(sizeof(int)), may_alias));

#define ROWS (BLOCK / LANES)
#define AHEAD 8 /* rows that are asked for before they are read, in steps: their place, their columns, the new numbers */
#define MOST_AHEAD 32 /* and entries of each */
#define MOST 1024 /* columns of a row that are kept; a longer row's are looked up each time */

#define LENGTH_OF(i) (new_offsets[(i) + 1] - new_offsets[i])

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
            const int at = offsets[order[i + 2 * AHEAD]], length = LENGTH_OF(i + 2 * AHEAD);
            for (int e = at; e < at + length && e < at + MOST_AHEAD; e += 8) {
                __builtin_prefetch(columns + e);
                if (values) __builtin_prefetch(values + e);
            }
        }
        if (rank && i + AHEAD < rows) {
            const int at = offsets[order ? order[i + AHEAD] : i + AHEAD], length = LENGTH_OF(i + AHEAD);
            for (int e = at; e < at + length && e < at + MOST_AHEAD; ++e) __builtin_prefetch(rank + columns[e]);
        }
        const int begin = offsets[row], length = LENGTH_OF(i), target = new_offsets[i];
        int is_sorted = length <= MOST;
        for (int e = 0; e < length && length <= MOST; ++e) {
            kept[e] = renumbered(rank, columns[begin + e]);
            is_sorted &= e == 0 || kept[e] > kept[e - 1];
        }
        for (int k = 0; k < length; k += VECTOR) {
            int place[VECTOR];
            eight_ints smaller = {0}, equal = {0};
            const int some = length - k < VECTOR ? length - k : VECTOR;
            if (is_sorted) {
                for (int lane = 0; lane < VECTOR; ++lane) smaller[lane] = k + lane;
            } else if (length <= MOST) {
                const eight_ints own = *(const eight_ints_anywhere *)(kept + k);
                for (int other = 0; other < length; ++other) smaller -= kept[other] < own;
                for (int other = 0; duplicates && other < length; ++other) equal -= kept[other] == own;
            } else {
                for (int lane = 0; lane < some; ++lane)
                    for (int f = begin; f < begin + length; ++f) {
                        const int column = renumbered(rank, columns[begin + k + lane]);
                        smaller[lane] += renumbered(rank, columns[f]) < column;
                        equal[lane] += renumbered(rank, columns[f]) == column;
                    }
            }
            *(eight_ints_anywhere *)place = smaller + target;
            for (int lane = 0; lane < some; ++lane) {
                const int e = begin + k + lane, to = place[lane];
                if (duplicates && equal[lane] > 1) ATOMIC_ADD_GLOBAL(&duplicates[0], 1);
                new_columns[to] = length <= MOST ? kept[k + lane] : renumbered(rank, columns[e]);
                if (new_values) new_values[to] = values[e];
                if (new_weights) new_weights[to] = weights[e];
            }
        }
    }
}
