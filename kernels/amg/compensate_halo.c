/* The boundary's part of a residual or right-hand side, where columns are numbered by the patch: a block brings what a patch reads
 * of others on chip, each once and most of it side by side, and a thread takes a row (patch_matrix.py). */

#include "patch_format.h"

#define AHEAD 8 /* entries of a thread that are on their way before what they are to be multiplied by is there */

/* target -= A_B u. */
KERNEL compensate(GLOBAL const int *RESTRICT headers, GLOBAL const ushort *RESTRICT boundary_order,
                  GLOBAL const int *RESTRICT boundary_slices, GLOBAL const real *RESTRICT boundary_values,
                  GLOBAL const int *RESTRICT boundary_columns, GLOBAL const ushort *RESTRICT places,
                  GLOBAL const real *RESTRICT u, GLOBAL real *RESTRICT target)
{
    OUTER(patch);
    SHARED real brought[MOST_BOUNDARY];
    PRIVATE(int, at);
    PRIVATE(int, width);
    PRIVATE(int, step);
    PRIVATE(int, row);
    PRIVATE_ARRAY(real, value, AHEAD);
    PRIVATE_ARRAY(ushort, place, AHEAD);
    GLOBAL const int *header = headers + HEADER * patch;
    const int first = header[FIRST], boundary_rows = header[BOUNDARY_ROWS], count = header[READ_ROWS];
    GLOBAL const int *slices = boundary_slices + SLICE_NUMBERS * header[FIRST_SLICE];
    const int begin = slices[0];
    INNER(t) {
        P(width) = 0;
        if (t < boundary_rows) {
            GLOBAL const int *slice = slices + SLICE_NUMBERS * (t / SLICE);
            P(at) = slice[0] + t % SLICE;
            P(width) = slice[1];
            P(step) = slice[3] & 63;
            P(row) = first + boundary_order[first + t];
        }
        UNROLL
        for (int k = 0; k < AHEAD; ++k) {
            if (k < P(width)) {
                P(value)[k] = boundary_values[P(at) + k * P(step)];
                P(place)[k] = places[P(at) + k * P(step)];
            }
        }
    }
    INNER_FOR(k, count) {
        brought[k] = u[boundary_columns[begin + k]];
    }
    BARRIER;
    INNER(t) {
        if (P(width) == 0) continue;
        real sum = 0;
        UNROLL
        for (int k = 0; k < AHEAD; ++k) {
            if (k < P(width)) sum += P(value)[k] * brought[P(place)[k]];
        }
        for (int k = AHEAD; k < P(width); ++k)
            sum += boundary_values[P(at) + k * P(step)] * brought[places[P(at) + k * P(step)]];
        target[P(row)] -= sum;
    }
}
