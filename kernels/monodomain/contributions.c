/* Places of each element's contributions, on a processor (contributions.py): within a row they keep the contributions' order, in
 * whatever parts they are counted. A part is a run of contributions, of all elements' first, then of all their second ones. Of an element's
 * `kinds` six are its edges', four its nodes' in the matrix, and four, where they are wanted, its nodes' in the residual. */

#define FIRST(count, part) ((long)(count) * (part) / parts)

DEVICE_FUNCTION int row_of(const long contribution, const int elements, const int edges, const int nodes,
                           GLOBAL const int *element_edges, GLOBAL const int *cells)
{
    const int kind = (int)(contribution / elements), element = (int)(contribution % elements);
    if (kind < 6) return element_edges[element * 6 + kind];
    return edges + (kind < 10 ? 0 : nodes) + cells[element * 4 + (kind - 6) % 4];
}

/* Counts how often each row is in each part. */
KERNEL tally(const int rows, const int parts, const int kinds, const int elements, const int edges, const int nodes,
             GLOBAL const int *RESTRICT element_edges, GLOBAL const int *RESTRICT cells, GLOBAL int *RESTRICT counts)
{
    OUTER(part);
    GLOBAL int *const own = counts + part * rows;
    for (int row = 0; row < rows; ++row) own[row] = 0;
    for (long k = FIRST((long)kinds * elements, part); k < FIRST((long)kinds * elements, part + 1); ++k)
        ++own[row_of(k, elements, edges, nodes, element_edges, cells)];
}

/* The length of each row, and in the place of its counts how often it is in the parts before. */
KERNEL before(const int rows, const int parts, GLOBAL int *RESTRICT counts, GLOBAL int *RESTRICT lengths)
{
    OUTER(part);
    for (long row = FIRST(rows, part); row < FIRST(rows, part + 1); ++row) {
        int length = 0;
        for (long other = 0; other < parts; ++other) {
            const int here = counts[other * rows + row];
            counts[other * rows + row] = length;
            length += here;
        }
        lengths[row] = length;
    }
}

KERNEL place(const int rows, const int parts, const int kinds, const int elements, const int edges, const int nodes,
             GLOBAL const int *RESTRICT element_edges, GLOBAL const int *RESTRICT cells, const int stride,
             GLOBAL const long *RESTRICT first, GLOBAL int *RESTRICT counts, GLOBAL int *RESTRICT places)
{
    OUTER(part);
    GLOBAL int *const own = counts + part * rows;
    for (long k = FIRST((long)kinds * elements, part); k < FIRST((long)kinds * elements, part + 1); ++k) {
        const int row = row_of(k, elements, edges, nodes, element_edges, cells);
        places[k] = (int)(first[row] + (long)stride * own[row]++);
    }
}
