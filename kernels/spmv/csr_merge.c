// y = alpha A x + beta y, A in CSR, ITEMS entries and row ends a thread.
#include "segments.h"

KERNEL csr_merge(const int rows, const int entries, const real alpha, const real beta,
                 GLOBAL const int *RESTRICT block_rows, GLOBAL const int *RESTRICT row_offsets,
                 GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y,
                 GLOBAL real *RESTRICT first_pieces, GLOBAL real *RESTRICT last_pieces)
{
    SHARED real products[TILE + 1];
    SHARED int row_ends[TILE];
    SEGMENTS;
    OUTER(block);
    const long path = (long)rows + entries, path_begin = block * TILE;
    const long path_end = path_begin + TILE < path ? path_begin + TILE : path;
    const int first_row_here = block_rows[block], ends = block_rows[block + 1] - first_row_here;
    const int begin = path_begin - first_row_here, items = path_end - path_begin, count = items - ends;
    const int front_row = row_offsets[first_row_here] < begin ? first_row_here : -1;
    LOAD_PRODUCTS
    INNER_FOR(i, ends)
        row_ends[i] = row_offsets[first_row_here + i + 1] - begin;
    BARRIER;
    INNER(t) {
        // Row ends among the items before this thread's, by bisection; row end e is item e + row_ends[e].
        const int item = t * ITEMS < items ? t * ITEMS : items, last = item + ITEMS < items ? item + ITEMS : items;
        int end = 0, high = item < ends ? item : ends;
        while (end < high) {
            const int middle = (end + high) / 2;
            if (middle + row_ends[middle] < item)
                end = middle + 1;
            else
                high = middle;
        }
        int k = item - end, next_end = end < ends ? row_ends[end] : TILE;
        real sum = 0;
        P(first_row) = -1;
        while (end + k < last) { // not unrolled: copies of the code for a row's end would fill the instruction cache
            const real product = products[k]; // read before it is known whether it is next
            if (next_end <= k) {
                END_ROW(first_row_here + end, sum);
                sum = 0;
                ++end;
                next_end = end < ends ? row_ends[end] : TILE;
            } else {
                sum += product;
                ++k;
            }
        }
        open[t] = sum;
        ended[t] = P(first_row) >= 0;
    }
    JOIN_SEGMENTS
}
