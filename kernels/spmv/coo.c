// y = alpha A x + beta y for rows with entries, A in coordinates sorted by row, ITEMS entries a thread.
#include "segments.h"

KERNEL coo(const int entries, const real alpha, const real beta, GLOBAL const int *RESTRICT rows,
           GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x,
           GLOBAL real *RESTRICT y, GLOBAL real *RESTRICT first_pieces, GLOBAL real *RESTRICT last_pieces)
{
    SHARED real products[TILE];
    SHARED int row_of[TILE + 1];
    SEGMENTS;
    OUTER(block);
    const long begin = block * TILE;
    const int count = entries - begin < TILE ? entries - begin : TILE;
    const int front_row = begin > 0 && rows[begin - 1] == rows[begin] ? rows[begin] : -1;
    INNER_FOR(i, count)
        row_of[i] = READ_ONCE_LOAD(&rows[begin + i]);
    LOAD_PRODUCTS
    INNER(t) {
        if (t == 0)
            row_of[count] = begin + count < entries ? rows[begin + count] : -1;
    }
    BARRIER;
    INNER(t) {
        const int first = t * ITEMS, last = first + ITEMS < count ? first + ITEMS : count;
        int row = row_of[first < count ? first : count];
        real sum = 0;
        P(first_row) = -1;
        for (int i = first; i < last; ++i) {
            const int next = row_of[i + 1];
            sum += products[i];
            if (row != next) {
                END_ROW(row, sum);
                sum = 0;
                row = next;
            }
        }
        open[t] = sum;
        ended[t] = P(first_row) >= 0;
    }
    JOIN_SEGMENTS
}
