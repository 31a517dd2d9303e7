/* Puts the inside of a level's matrix in order for the banks of shared memory, once it is packed (patch_matrix.c). */

#include "patch_format.h"

#define WIDEST 64 /* entries of a row that are put in order */
#define STAGED 8192 /* entries of a patch that are */

/* Orders the entries of each row such that those which the rows of a slice take at a time lie in different banks of shared
 * memory, as far as taking the first that fits goes. A thread a slice chooses, among the banks on chip; then each row exchanges
 * its entries as chosen. Slices that do not fit stay as they are. */
KERNEL order_entries(GLOBAL const int *RESTRICT headers, GLOBAL const int *RESTRICT slices, GLOBAL real *RESTRICT values,
                     GLOBAL index *RESTRICT columns)
{
    OUTER(patch);
    SHARED uint once[MOST_SLICES + 1][WIDEST]; /* banks that are taken once, and twice, at each step of a slice */
    SHARED uint twice[MOST_SLICES + 1][WIDEST];
    SHARED uchar banks[STAGED];
    SHARED uchar chosen[STAGED];
    SHARED int start[MOST_SLICES + 1]; /* of each slice among the banks; beyond them where it is left alone */
    GLOBAL const int *header = headers + HEADER * patch;
    const int rows = header[ROWS], slice_count = (rows + SLICE - 1) / SLICE;
    INNER(t) {
        if (t > 0) continue;
        int total = 0;
        for (int s = 0; s < slice_count; ++s) {
            const int width = slices[SLICE_NUMBERS * (header[FIRST_SLICE] + s) + 1];
            const int size = SLICE * width;
            start[s] = width <= WIDEST && total + size <= STAGED ? total : STAGED;
            if (start[s] < STAGED) total += size;
        }
    }
    BARRIER;
    INNER_FOR(k, rows) {
        const int s = k / SLICE, lane = k % SLICE;
        GLOBAL const int *slice = slices + SLICE_NUMBERS * (header[FIRST_SLICE] + s);
        const int lanes = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;
        if (start[s] == STAGED) continue;
        for (int m = 0; m < slice[1]; ++m) {
            banks[start[s] + m * SLICE + lane] = (uchar)(columns[slice[0] + lane + m * lanes] % SLICE);
        }
    }
    BARRIER;
    INNER_FOR(s, slice_count) {
        const int width = slices[SLICE_NUMBERS * (header[FIRST_SLICE] + s) + 1];
        const int lanes = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;
        if (start[s] == STAGED) continue;
        for (int k = 0; k < width; ++k) once[s][k] = twice[s][k] = 0;
        for (int lane = 0; lane < lanes; ++lane) {
            const int at = start[s] + lane;
            for (int k = 0; k < width; ++k) {
                const uint some = once[s][k], more = twice[s][k];
                int best = k, worst = 3;
                for (int m = k; m < width && worst > 0; ++m) {
                    const uint bank = 1u << banks[at + m * SLICE];
                    const int conflicts = more & bank ? 2 : some & bank ? 1 : 0;
                    if (conflicts < worst) {
                        worst = conflicts;
                        best = m;
                    }
                }
                const uchar taken = banks[at + best * SLICE];
                banks[at + best * SLICE] = banks[at + k * SLICE];
                chosen[at + k * SLICE] = (uchar)best;
                const uint bank = 1u << taken;
                twice[s][k] = more | (some & bank);
                once[s][k] = some | bank;
            }
        }
    }
    BARRIER;
    INNER_FOR(k, rows) {
        const int s = k / SLICE, lane = k % SLICE;
        GLOBAL const int *slice = slices + SLICE_NUMBERS * (header[FIRST_SLICE] + s);
        const int lanes = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE, at = slice[0] + lane;
        if (start[s] == STAGED) continue;
        for (int m = 0; m < slice[1]; ++m) {
            const int best = chosen[start[s] + m * SLICE + lane];
            const real value = values[at + best * lanes];
            const index column = columns[at + best * lanes];
            values[at + best * lanes] = values[at + m * lanes];
            columns[at + best * lanes] = columns[at + m * lanes];
            values[at + m * lanes] = value;
            columns[at + m * lanes] = column;
        }
    }
}
