// y = alpha A x + beta before, A in SIZE x SIZE blocks and slices of SLICE block rows, a thread for LANES block rows;
// where it COMBINES, gamma x + delta z are added, and y may be wider than the rest. `before` may be y. A term of
// factor 0 is not read. MEASURES, BITS and FAR are as in the portable source.
#include "block_columns.h"
#include "slices.h"
#include "gathered.h"
#if SIZE == 1 && BITS == 16 && !GATHERS
#include "short_columns.h"
#endif

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
#if GATHERS
    const int is_beyond = (sizeof(real) * SIZE * SIZE + sizeof(index)) * slice_offsets[slots / SLICE] > BEYOND;
#endif
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
        real sums[SIZE][TOGETHER];
#if GATHERS
#if !FAR
        const int *const distant = 0;
#endif
        add_gathered(columns, distant, values, found_from, begin, end, slot % SLICE, is_beyond, sums);
#elif SIZE == 1 && BITS == 16
#if FAR
        if (distant)
            add_slice(distant, values + begin, x, slot % SLICE, end - begin, SLICE, sums[0]);
        else
#endif
            add_short(columns, values, found_from, begin + slot % SLICE, end, SLICE, sums[0]);
#else
        // Each step reads a few lanes of a block, a part of a line here and there. Values a slice later are asked for
        // in the order of memory meanwhile.
        const real *next = values + (end + slot % SLICE * ((end - begin) / SLICE)) * (SIZE * SIZE);
        for (int lane = 0; lane < TOGETHER; lane += SOME) { // through all blocks, so that the sums stay in registers
            some parts[SIZE] = {0};
            for (long first = begin; first < end; first += SLICE) {
                const long place = first + slot % SLICE + lane;
                const real *const block_values = values + first * (SIZE * SIZE) + slot % SLICE + lane;
                int at[SOME], any = 0;
                some_ints is_block;
                for (int i = 0; i < SOME; ++i) {
                    const int column = COLUMN(place + i);
                    any |= column;
                    is_block[i] = -(column >= 0);
                    at[i] = SIZE * (column < 0 ? 0 : column);
                }
                if (lane % 16 == 0) __builtin_prefetch(columns + place + AHEAD);
                for (int c = 0; c < SIZE; ++c) {
                    some factors = FIND_SOME((found_from + c), at);
                    if (any < 0) // x may be NaN where padding reads it
                        factors = (some)((some_truths)factors & __builtin_convertvector(is_block, some_truths));
                    for (int r = 0; r < SIZE; ++r) {
                        const real *const from = block_values + (r * SIZE + c) * SLICE;
                        __builtin_prefetch(next, 0, 2);
                        next += SOME;
                        parts[r] += LOAD_SOME(from) * factors;
                    }
                }
            }
            for (int r = 0; r < SIZE; ++r) *(some_anywhere *)(sums[r] + lane) = parts[r];
        }
#endif
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
                const wide result = (wide)(alpha * sums[r][lane] + added);
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
