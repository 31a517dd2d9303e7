/* kcycle.c on a processor: eight entries of a row are whole vectors, of which gcc 12 makes shuffles if they are loops. */

#include "../spmv/vectors.h"

#define ROW_SUM(sum, row, of)                                                                                        \
    some sums_of_row = {0};                                                                                          \
    for (long place = slice_offsets[row], last = slice_offsets[(row) + 1]; place < last; place += SOME) {            \
        const int *at = columns + place;                                                                             \
        OPAQUE(at);                                                                                                  \
        sums_of_row += LOAD_SOME(values + place) * FIND_SOME(of, at);                                                \
    }                                                                                                                \
    const real sum = SUM_OF_SOME(sums_of_row);

#include "kcycle.c"
