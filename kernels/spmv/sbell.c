// y = alpha A x + beta before, A in SIZE x SIZE blocks and slices of SLICE block rows, a thread for LANES block rows;
// where it COMBINES, gamma x + delta z are added, and y may be wider than the rest. `before` may be y. A term of
// factor 0 is not read. Where it MEASURES 1, each block leaves its part of the sum of `measured` y, where 3 its parts of
// x y, x x and y y, `parts` apart.
#include "block_columns.h"
#if MEASURES
#include "../device/tree.h"
#endif

KERNEL sbell(const long slots, const int block_rows, const real alpha, const real beta, const real gamma,
             const real delta, GLOBAL const long *RESTRICT slice_offsets, GLOBAL const int *RESTRICT order,
             GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT far, GLOBAL const index *RESTRICT columns,
             GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT z,
             GLOBAL const real *before, GLOBAL wide *y, const int parts, GLOBAL const wide *RESTRICT measured,
             GLOBAL double *RESTRICT partial)
{
#if MEASURES
    SHARED double totals[MEASURES][BLOCK];
#endif
    OUTER(block);
#if MEASURES
    INNER(t) {
        for (int k = 0; k < MEASURES; ++k)
            totals[k][t] = 0;
    }
#endif
    INNER(t) {
        const long slot = (block * BLOCK + t) * LANES;
        if (slot >= slots)
            continue;
        const long slice = slot / SLICE, begin = slice_offsets[slice], end = slice_offsets[slice + 1];
        const int first_lane = slot % SLICE;
#if BITS == 16
        const int start = first_columns[slice];
        GLOBAL const real *const from = x + (long)(start < 0 ? 0 : start) * SIZE;
#if FAR
        GLOBAL const int *const distant = start < 0 ? far + (long)(-1 - start) * SLICE : 0;
#endif
#else
        GLOBAL const real *const from = x;
#endif
        real sums[SIZE][LANES];
        for (int r = 0; r < SIZE; ++r)
            for (int lane = 0; lane < LANES; ++lane)
                sums[r][lane] = 0;
        for (long first = begin; first < end; first += SLICE) {
            GLOBAL const real *const block_values = values + first * (SIZE * SIZE) + first_lane;
            real factors[SIZE][LANES];
            UNROLL
            for (int c = 0; c < SIZE; ++c)
                for (int lane = 0; lane < LANES; ++lane) {
                    const int column = COLUMN(first + first_lane + lane);
#if LANES == 1
                    factors[c][lane] = column < 0 ? 0 : from[(long)column * SIZE + c]; // padding reads no x
#else // x is read in any case, so that processors gather; it may be NaN where padding reads it
                    const real found = from[(column < 0 ? 0 : column) * SIZE + c];
                    factors[c][lane] = column < 0 ? 0 : found;
#endif
                }
            UNROLL
            for (int r = 0; r < SIZE; ++r) // values in the order in which they lie
                UNROLL
                for (int c = 0; c < SIZE; ++c)
                    for (int lane = 0; lane < LANES; ++lane)
                        sums[r][lane]
                            += READ_ONCE_LOAD(&block_values[(r * SIZE + c) * SLICE + lane]) * factors[c][lane];
        }
        for (int lane = 0; lane < LANES; ++lane) {
            const long block_row = SORTED ? order[slot + lane] : slot + lane;
            if (block_row < 0 || block_row >= block_rows)
                continue;
            real added[SIZE]; // all loads before the first store
            UNROLL
            for (int r = 0; r < SIZE; ++r) {
                const long row = block_row * SIZE + r;
                added[r] = beta == 0 ? 0 : beta * before[row];
#if COMBINES // a build of its own, so that the plain product has nothing to ask
                if (gamma != 0) added[r] += gamma * x[row];
                if (delta != 0) added[r] += delta * z[row];
#endif
            }
            UNROLL
            for (int r = 0; r < SIZE; ++r) {
                const long row = block_row * SIZE + r;
                const wide result = (wide)(alpha * sums[r][lane] + added[r]);
                y[row] = result;
#if MEASURES == 1
                totals[0][t] += (double)measured[row] * result;
#elif MEASURES == 3
                const double given = x[row];
                totals[0][t] += given * result;
                totals[1][t] += given * given;
                totals[2][t] += (double)result * result;
#endif
            }
        }
    }
#if MEASURES
    for (int k = 0; k < MEASURES; ++k) {
        TREE(totals[k])
        INNER(t) {
            if (t == 0)
                partial[(long)k * parts + block] = totals[k][0];
        }
    }
#endif
}
