/* Rows of a sparse product X Y, in a hash table a row: LANES threads share one row, and walk X's row entry by entry, each adding
 * other columns of Y's row. Columns of one row differ, so no two threads add to one place, and the order of sums is X's: the same
 * bits every time.
 *
 * Y without offsets has one entry a row, a one in column y_columns[row]: the tentative prolongator. With `own`, what is kept is
 * own - weight diagonal⁻¹ X Y: the smoothed prolongator; a row that has the diagonal alone is not smoothed.
 *
 * Without `fill` the entries of each row are counted. A row that has more than MOST is left at once, before its searches go
 * through a table that is nearly full. It is put on the list of rows that overflow, from which a build with a larger
 * table takes its rows. With `fill` such rows are passed over. */

#include "table.h"

#define ROWS (BLOCK / LANES)
#define MOST (TABLE * 3 / 4) /* what is left holds what LANES threads add before they see it */

KERNEL product(const int rows, const int fill, GLOBAL const int *RESTRICT which, GLOBAL const int *RESTRICT x_offsets,
               GLOBAL const int *RESTRICT x_columns, GLOBAL const double *RESTRICT x_values,
               GLOBAL const int *RESTRICT y_offsets, GLOBAL const int *RESTRICT y_columns,
               GLOBAL const double *RESTRICT y_values, GLOBAL const int *RESTRICT own, const double weight,
               GLOBAL const double *RESTRICT diagonal, GLOBAL int *RESTRICT counts, GLOBAL const int *RESTRICT offsets,
               GLOBAL int *RESTRICT columns, GLOBAL double *RESTRICT values, GLOBAL int *RESTRICT overflow,
               GLOBAL int *RESTRICT overflowing)
{
    OUTER(block);
    SHARED int row_of[ROWS];
    SHARED int table[ROWS * TABLE];
    SHARED double sums[ROWS * TABLE];
    SHARED int list[ROWS * TABLE];
    SHARED int found[ROWS];
    INNER(t) {
        if (t >= ROWS) continue;
        const long i = block * ROWS + t;
        const int row = i >= rows ? -1 : which ? which[i] : (int)i;
        row_of[t] = row < 0 || (fill && offsets[row + 1] - offsets[row] > MOST) ? -1 : row;
        found[t] = 0;
    }
    INNER_FOR(i, ROWS * TABLE) {
        table[i] = EMPTY;
        sums[i] = 0;
    }
    BARRIER;
    if (fill) {
        int steps = 0;
        for (int r = 0; r < ROWS; ++r) {
            if (row_of[r] < 0) continue;
            const int length = x_offsets[row_of[r] + 1] - x_offsets[row_of[r]];
            steps = length > steps ? length : steps;
        }
        for (int step = 0; step < steps; ++step) {
            INNER(t) {
                const int r = t / LANES, row = row_of[r];
                if (row < 0) continue;
                const int e = x_offsets[row] + step;
                if (e >= x_offsets[row + 1]) continue;
                const int inner = x_columns[e];
                const double x = x_values[e];
                if (y_offsets) {
                    for (int f = y_offsets[inner] + t % LANES; f < y_offsets[inner + 1]; f += LANES) {
                        const int slot = find_slot(table + r * TABLE, y_columns[f]);
                        if (slot >= 0) sums[r * TABLE + slot] += x * y_values[f];
                    }
                } else if (t % LANES == 0) {
                    const int slot = find_slot(table + r * TABLE, y_columns[inner]);
                    if (slot >= 0) sums[r * TABLE + slot] += x;
                }
            }
            BARRIER;
        }
    } else {
        INNER(t) {
            const int r = t / LANES, row = row_of[r];
            if (row < 0) continue;
            for (int e = x_offsets[row] + t % LANES; e < x_offsets[row + 1]; e += LANES) {
                const int inner = x_columns[e];
                const int first = y_offsets ? y_offsets[inner] : inner;
                const int last = y_offsets ? y_offsets[inner + 1] : inner + 1;
                for (int f = first; f < last && found[r] <= MOST; ++f) {
                    if (is_new(table + r * TABLE, y_columns[f])) FETCH_ADD_SHARED(&found[r], 1);
                }
            }
        }
        BARRIER;
        INNER(t) {
            if (t >= ROWS || row_of[t] < 0) continue;
            counts[row_of[t]] = found[t];
            if (found[t] > MOST) overflowing[FETCH_ADD_GLOBAL(&overflow[0], 1)] = row_of[t];
        }
        return;
    }
    INNER(t) {
        const int r = t / LANES;
        for (int i = t % LANES; i < TABLE; i += LANES) {
            if (table[r * TABLE + i] != EMPTY) list[r * TABLE + FETCH_ADD_SHARED(&found[r], 1)] = i;
        }
    }
    BARRIER;
    INNER(t) {
        const int r = t / LANES, row = row_of[r];
        if (row < 0) continue;
        for (int k = t % LANES; k < found[r]; k += LANES) {
            const int slot = list[r * TABLE + k], column = table[r * TABLE + slot];
            int place = offsets[row];
            for (int other = 0; other < found[r]; ++other) place += table[r * TABLE + list[r * TABLE + other]] < column;
            double value = sums[r * TABLE + slot];
            if (own) {
                const double smoothing = x_offsets[row + 1] - x_offsets[row] > 1 ? weight / diagonal[row] : 0;
                value = (column == own[row] ? 1 : 0) - smoothing * value;
            }
            columns[place] = column;
            values[place] = value;
        }
    }
}
