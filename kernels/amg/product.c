/* Rows of a sparse product X Y, in a hash table a row: LANES threads share one row, and walk X's row entry by entry, each adding
 * other columns of Y's row. Columns of one row differ, so no two threads add to one place, and the order of sums is X's: the same
 * bits every time.
 *
 * Y without offsets has one entry a row, a one in column y_columns[row]: the tentative prolongator. With `own`, what is kept is
 * own - weight diagonal⁻¹ X Y: the smoothed prolongator; a row that has the diagonal alone is not smoothed.
 *
 * Without `fill` the entries of each row are counted. A row that has more than TABLE is put on the list of those that
 * overflow, for a build with a larger one, which takes its rows from that list; with `fill` such rows are passed over. */

#include "table.h"

#define ROWS (BLOCK / LANES)

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
    SHARED int full[ROWS];
    SHARED int first_of[BLOCK]; /* of the entries of Y's rows that come next */
    SHARED int last_of[BLOCK];
    SHARED double factor[BLOCK];
    PRIVATE(int, next);
    PRIVATE(double, term);
    SHARED int table[ROWS * TABLE];
    SHARED double sums[ROWS * TABLE];
    SHARED int list[ROWS * TABLE];
    SHARED int found[ROWS];
    INNER(t) {
        if (t >= ROWS) continue;
        const long i = block * ROWS + t;
        const int row = i >= rows ? -1 : which ? which[i] : (int)i;
        row_of[t] = row < 0 || (fill && offsets[row + 1] - offsets[row] > TABLE) ? -1 : row;
        found[t] = 0;
        full[t] = 0;
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
        /* Of each row LANES entries at a time lie on chip, and a thread has its next term in registers: long rows are few, and
         * would wait for memory at every step. */
        for (int base = 0; base < steps; base += LANES) {
            INNER(t) {
                const int row = row_of[t / LANES], e = row < 0 ? 0 : x_offsets[row] + base + t % LANES;
                const int there = row >= 0 && e < x_offsets[row + 1], inner = there ? x_columns[e] : 0;
                first_of[t] = !there ? 0 : y_offsets ? y_offsets[inner] : inner;
                last_of[t] = !there ? 0 : y_offsets ? y_offsets[inner + 1] : inner + 1;
                factor[t] = there ? x_values[e] : 0;
            }
            BARRIER;
            INNER(t) {
                const int f = first_of[t / LANES * LANES] + t % LANES;
                P(next) = f < last_of[t / LANES * LANES] ? y_columns[f] : EMPTY;
                P(term) = P(next) != EMPTY && y_values ? y_values[f] : 1;
            }
            const int last = steps - base < LANES ? steps - base : LANES;
            for (int step = 0; step < last; ++step) {
                INNER(t) {
                    const int r = t / LANES, k = r * LANES + step;
                    int column = P(next), f = first_of[k] + t % LANES;
                    double value = P(term);
                    if (step + 1 < last) {
                        const int g = first_of[k + 1] + t % LANES;
                        P(next) = g < last_of[k + 1] ? y_columns[g] : EMPTY;
                        P(term) = P(next) != EMPTY && y_values ? y_values[g] : 1;
                    }
                    while (column != EMPTY) {
                        const int slot = find_slot(table + r * TABLE, column);
                        if (slot >= 0) sums[r * TABLE + slot] += factor[k] * value;
                        f += LANES;
                        column = f < last_of[k] ? y_columns[f] : EMPTY;
                        value = column != EMPTY && y_values ? y_values[f] : 1;
                    }
                }
                BARRIER;
            }
        }
    } else {
        INNER(t) {
            const int r = t / LANES, row = row_of[r];
            if (row < 0) continue;
            for (int e = x_offsets[row] + t % LANES; e < x_offsets[row + 1]; e += LANES) {
                const int inner = x_columns[e];
                const int first = y_offsets ? y_offsets[inner] : inner;
                const int last = y_offsets ? y_offsets[inner + 1] : inner + 1;
                for (int f = first; f < last; ++f) {
                    if (find_slot(table + r * TABLE, y_columns[f]) < 0) full[r] = 1;
                }
            }
        }
        BARRIER;
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
        if (!fill) {
            if (t % LANES) continue;
            counts[row] = found[r];
            if (full[r]) overflowing[FETCH_ADD_GLOBAL(&overflow[0], 1)] = row;
            continue;
        }
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
