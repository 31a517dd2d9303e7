// Sums over rows that start and end anywhere in a block: each thread sums its own items, and what is open at the end of
// one is carried to the thread where the row ends.
//
// Kernels keep, for thread t, open[t], the sum since its last row end, and ended[t], whether a row ends in it; and for
// its first row end, the only one that a carry concerns, P(first_row), -1 when there is none, and P(first_sum).

// The place in the block's tile of what thread t loads as its d-th: neighbours on a GPU, so that threads read together.
#define TILE (ITEMS * BLOCK)
#define TILE_PLACE(t, d) (INTERLEAVED ? (d) * BLOCK + (t) : (t) * ITEMS + (d))

// Products of the `count` entries from `begin` on; all loads before the first use.
#define LOAD_PRODUCTS                                                                                                \
    INNER(t) {                                                                                                       \
        int column[ITEMS];                                                                                           \
        real value[ITEMS];                                                                                           \
        UNROLL                                                                                                       \
        for (int d = 0; d < ITEMS; ++d) {                                                                            \
            const int i = TILE_PLACE(t, d);                                                                          \
            if (i < count) {                                                                                         \
                column[d] = READ_ONCE_LOAD(&columns[begin + i]);                                                     \
                value[d] = READ_ONCE_LOAD(&values[begin + i]);                                                       \
            }                                                                                                        \
        }                                                                                                            \
        UNROLL                                                                                                       \
        for (int d = 0; d < ITEMS; ++d) {                                                                            \
            const int i = TILE_PLACE(t, d);                                                                          \
            if (i < count)                                                                                           \
                products[i] = value[d] * x[column[d]];                                                               \
        }                                                                                                            \
    }

#define SEGMENTS                                                                                                     \
    SHARED real open[BLOCK];                                                                                         \
    SHARED int ended[BLOCK];                                                                                         \
    PRIVATE(int, first_row);                                                                                         \
    PRIVATE(real, first_sum);                                                                                        \
    PRIVATE(real, carry);                                                                                            \
    PRIVATE(int, carry_ended)

#define WRITE_ROW(row, sum) y[row] = alpha * (sum) + (beta == 0 ? 0 : beta * y[row])

// One more row end in thread t.
#define END_ROW(row, sum)                                                                                            \
    do {                                                                                                             \
        if (P(first_row) < 0) {                                                                                      \
            P(first_row) = (row);                                                                                    \
            P(first_sum) = (sum);                                                                                    \
        } else {                                                                                                     \
            WRITE_ROW(row, sum);                                                                                     \
        }                                                                                                            \
    } while (0)

// open[t] becomes the sum since the last row end in any thread up to t. Then first row ends are written. The end
// of `front_row`, which started in an earlier block, and what is open at the end of the block are written as pieces.
#define JOIN_SEGMENTS                                                                                                \
    for (int step = 1; step < BLOCK; step *= 2) {                                                                    \
        BARRIER;                                                                                                     \
        INNER(t) {                                                                                                   \
            const int takes = t >= step && !ended[t];                                                                \
            P(carry) = takes ? open[t - step] : 0;                                                                   \
            P(carry_ended) = takes ? ended[t - step] : 0;                                                            \
        }                                                                                                            \
        BARRIER;                                                                                                     \
        INNER(t) {                                                                                                   \
            open[t] += P(carry);                                                                                     \
            ended[t] |= P(carry_ended);                                                                              \
        }                                                                                                            \
    }                                                                                                                \
    BARRIER;                                                                                                         \
    INNER(t) {                                                                                                       \
        if (P(first_row) >= 0) {                                                                                     \
            const real sum = P(first_sum) + (t > 0 ? open[t - 1] : 0);                                               \
            if (P(first_row) == front_row)                                                                           \
                first_pieces[block] = sum;                                                                           \
            else                                                                                                     \
                WRITE_ROW(P(first_row), sum);                                                                        \
        }                                                                                                            \
        if (t == BLOCK - 1) {                                                                                        \
            if (ended[t] || front_row < 0)                                                                           \
                last_pieces[block] = open[t];                                                                        \
            else                                                                                                     \
                first_pieces[block] = open[t];                                                                       \
        }                                                                                                            \
    }
