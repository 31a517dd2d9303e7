// y = alpha A x + beta before, A in SIZE x SIZE blocks and slices of SLICE block rows, a thread for LANES block rows;
// where it COMBINES, gamma x + delta z are added, and y may be wider than the rest. `before` may be y. What has the
// factor 0 is not read. MEASURES, BITS and FAR are as in the portable source.
#include "block_columns.h"
#include "slices.h"
#define PARTS (TOGETHER / 8)
#define BLOCKS_AHEAD 4

KERNEL sbell(const long slots, const int block_rows, const real alpha, const real beta, const real gamma,
             const real delta, GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
             GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT far, GLOBAL const index *RESTRICT columns,
             GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT z,
             GLOBAL const real *before, GLOBAL wide *y, const int parts, GLOBAL const wide *RESTRICT measured,
             GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    double totals[MEASURES + 1] = {0};
    const long last = (block + 1) * BLOCK * LANES < slots ? (block + 1) * BLOCK * LANES : slots;
    for (long slot = block * BLOCK * LANES; slot < last; slot += TOGETHER) {
        const long slice = slot / SLICE, begin = slice_offsets[slice], end = slice_offsets[slice + 1];
#if BITS == 16
        const int start = first_columns[slice];
        const real *const found_from = x + (long)(start < 0 ? 0 : start) * SIZE;
#if FAR
        const int *const distant = start < 0 ? far + (long)(-1 - start) * SLICE : 0;
#endif
#else
        const real *const found_from = x;
#endif
        eight sums[SIZE][PARTS] = {0};
        for (long first = begin; first < end; first += SLICE) {
            const index *const block_columns = columns + first + slot % SLICE;
            const real *const block_values = values + first * (SIZE * SIZE) + slot % SLICE;
#if BITS == 16
            int found[TOGETHER];
            for (int lane = 0; lane < TOGETHER; ++lane) found[lane] = COLUMN(first + slot % SLICE + lane);
#else
            const int *const found = block_columns;
#endif
            const int some_padded = is_padded(found);
            __builtin_prefetch(block_columns + AHEAD);
            for (int part = 0; part < PARTS; ++part) {
                int at[8];
                for (int lane = 0; lane < 8; ++lane) {
                    const int column = found[8 * part + lane];
                    at[lane] = SIZE * (column < 0 ? 0 : column);
                }
                for (int c = 0; c < SIZE; ++c) {
                    eight factors = FIND_EIGHT((found_from + c), at);
                    if (some_padded) // x may be NaN where padding reads it
                        for (int lane = 0; lane < 8; ++lane)
                            if (found[8 * part + lane] < 0) factors[lane] = 0;
                    for (int r = 0; r < SIZE; ++r) {
                        const real *const from = block_values + (r * SIZE + c) * SLICE + 8 * part;
                        __builtin_prefetch(from + BLOCKS_AHEAD * SIZE * SIZE * SLICE);
                        sums[r][part] += LOAD_EIGHT(from) * factors;
                    }
                }
            }
        }
        for (int lane = 0; lane < TOGETHER; ++lane) {
            const long block_row = SORTED ? order[slot + lane] : slot + lane;
            if (block_row < 0 || block_row >= block_rows) continue;
            for (int r = 0; r < SIZE; ++r) {
                const long row = block_row * SIZE + r;
                real added = beta == 0 ? 0 : beta * before[row];
#if COMBINES
                if (gamma != 0) added += gamma * x[row];
                if (delta != 0) added += delta * z[row];
#endif
                const wide result = (wide)(alpha * sums[r][lane / 8][lane % 8] + added);
                y[row] = result;
#if MEASURES == 1
                totals[0] += (double)measured[row] * result;
#elif MEASURES == 3
                totals[0] += (double)x[row] * result;
                totals[1] += (double)x[row] * x[row];
                totals[2] += (double)result * result;
#endif
            }
        }
    }
    for (int k = 0; k < MEASURES; ++k) partial[(long)k * parts + block] = totals[k];
}
