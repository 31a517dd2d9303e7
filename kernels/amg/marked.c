/* Rows of a sparse product X Y on a processor, in one pass. A part is a run of rows. It has a marker for each column: where the entry of that
 * column is in the row in hand, when that is not before the row's first. Entries are written in the order in which they come up, as many as
 * the part has at most apart from those of other parts; `sort` brings them to where they belong. The order of sums is X's, however many
 * parts there are: the same bits every time.
 *
 * Y without offsets has one entry a row, a one in column y_columns[row]: the tentative prolongator. With `own`, what is kept is
 * own - weight diagonal⁻¹ X Y: the smoothed prolongator; a row that has the diagonal alone is not smoothed. */

#include "columns.h"

#define FIRST_ROW(part) (int)((long)rows * (part) / parts)

/* The terms of each part. */
KERNEL terms(const int rows, const int parts, GLOBAL const int *RESTRICT x_offsets, GLOBAL const int *RESTRICT x_columns,
             GLOBAL const int *RESTRICT y_offsets, GLOBAL long *RESTRICT counts)
{
    OUTER(part);
    long count = 0;
    for (int e = x_offsets[FIRST_ROW(part)]; e < x_offsets[FIRST_ROW(part + 1)]; ++e)
        count += y_offsets ? y_offsets[x_columns[e] + 1] - y_offsets[x_columns[e]] : 1;
    counts[part] = count;
}

KERNEL multiply(const int rows, const int parts, const int width, GLOBAL const int *RESTRICT x_offsets,
                GLOBAL const int *RESTRICT x_columns, GLOBAL const double *RESTRICT x_values,
                GLOBAL const int *RESTRICT y_offsets, GLOBAL const int *RESTRICT y_columns,
                GLOBAL const double *RESTRICT y_values, GLOBAL const int *RESTRICT own, const double weight,
                GLOBAL const double *RESTRICT diagonal, GLOBAL const long *RESTRICT starts, GLOBAL int *RESTRICT markers,
                GLOBAL int *RESTRICT lengths, GLOBAL int *RESTRICT columns, GLOBAL double *RESTRICT values)
{
    OUTER(part);
    GLOBAL int *RESTRICT const marker = markers + part * width;
    GLOBAL int *RESTRICT const found = columns + starts[part];
    GLOBAL double *RESTRICT const sums = values + starts[part];
    for (int column = 0; column < width; ++column) marker[column] = -1;
    int count = 0;
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int first = count;
        for (int e = x_offsets[row]; e < x_offsets[row + 1]; ++e) {
            const int inner = x_columns[e], begin = y_offsets ? y_offsets[inner] : inner;
            const int end = y_offsets ? y_offsets[inner + 1] : inner + 1;
            for (int f = begin; f < end; ++f) {
                const int column = y_columns[f], known = marker[column];
                const double term = y_offsets ? x_values[e] * y_values[f] : x_values[e];
                if (known < first) {
                    marker[column] = count;
                    found[count] = column;
                    sums[count++] = term;
                } else
                    sums[known] += term;
            }
        }
        const double smoothing = own && x_offsets[row + 1] - x_offsets[row] > 1 ? weight / diagonal[row] : 0;
        for (int k = first; own && k < count; ++k) sums[k] = (found[k] == own[row] ? 1 : 0) - smoothing * sums[k];
        lengths[row] = count - first;
    }
}

/* Entries of each part to their places, by ascending columns in each row. */
KERNEL sort(const int rows, const int parts, GLOBAL const long *RESTRICT starts, GLOBAL const int *RESTRICT offsets,
            GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values, GLOBAL int *RESTRICT new_columns,
            GLOBAL double *RESTRICT new_values)
{
    OUTER(part);
    const long shift = starts[part] - offsets[FIRST_ROW(part)];
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int length = offsets[row + 1] - offsets[row];
        GLOBAL const int *const found = columns + shift + offsets[row];
        GLOBAL const double *const sums = values + shift + offsets[row];
        for (int k = 0; k < length; ++k) {
            const int column = found[k];
            int place = offsets[row];
            for (int other = 0; other < length; other += VECTOR)
                for (int lane = 0; lane < VECTOR; ++lane) place += (other + lane < length) & (found[other + lane] < column);
            new_columns[place] = column;
            new_values[place] = sums[k];
        }
    }
}
