/* Rows of a sparse product X Y one after the other, see product.c: the same sums in the same order. */

#include "row.h"

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
    const long past = (block + 1) * ROWS < rows ? (block + 1) * ROWS : rows;
    row_t found;
    double sums[TABLE];
    begin_rows(&found);
    for (long i = block * ROWS; i < past; ++i) {
        const int row = which ? which[i] : (int)i;
        if (fill && offsets[row + 1] - offsets[row] >= TABLE) continue; /* one slot stays free */
        int full = 0;
        for (int e = x_offsets[row]; e < x_offsets[row + 1] && !full; ++e) {
            const int inner = x_columns[e], first = y_offsets ? y_offsets[inner] : inner;
            const int last = y_offsets ? y_offsets[inner + 1] : inner + 1;
            for (int f = first; f < last && !full; ++f) {
                const int known = found.count, place = place_of(&found, y_columns[f]);
                if (place < 0)
                    full = 1;
                else if (fill) {
                    const double term = y_offsets ? x_values[e] * y_values[f] : x_values[e];
                    sums[place] = place == known ? term : sums[place] + term;
                }
            }
        }
        if (!fill) {
            counts[row] = found.count;
            if (full) overflowing[FETCH_ADD_GLOBAL(&overflow[0], 1)] = row;
        } else {
            const double smoothing = own && x_offsets[row + 1] - x_offsets[row] > 1 ? weight / diagonal[row] : 0;
            pad(found.columns, found.count);
            for (int k = 0; k < found.count; ++k) {
                const int column = found.columns[k], place = offsets[row] + smaller(found.columns, found.count, column);
                columns[place] = column;
                values[place] = own ? (column == own[row] ? 1 : 0) - smoothing * sums[k] : sums[k];
            }
        }
        end_row(&found);
    }
}
