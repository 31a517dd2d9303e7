/* Edges of a mesh in the order of their lower ends, then of their higher ones, on a processor: the same numbers whatever
 * the threads. */

#define CORNERS (1 << DIMENSION)
#define PER_ELEMENT (DIMENSION * CORNERS / 2)

/* Edges whose lower end is a vertex of a part: how many, or, once `numbers` (elements, PER_ELEMENT) are there, which.
 * `places` are where a vertex stands in `cells` (elements, CORNERS), lexicographic, and `slots` (CORNERS, DIMENSION) tell
 * the element's edge from a corner along an axis. */
KERNEL number_edges(const int vertices, const int parts, GLOBAL const int *RESTRICT cells,
                    GLOBAL const int *RESTRICT slots, GLOBAL const int *RESTRICT first,
                    GLOBAL const int *RESTRICT places, GLOBAL const int *RESTRICT offsets,
                    GLOBAL int *RESTRICT counts, GLOBAL int *RESTRICT numbers)
{
    OUTER(part);
    int ends[DIMENSION * SHARED_BY];
    for (int v = (int)((long)vertices * part / parts); v < (int)((long)vertices * (part + 1) / parts); ++v) {
        int count = 0;
        for (int p = first[v]; p < first[v + 1]; ++p)
            for (int axis = 0; axis < DIMENSION; ++axis) {
                const int end = cells[places[p] ^ 1 << axis]; /* an element's corners begin at a multiple of CORNERS */
                int at = count;
                while (at && ends[at - 1] > end) --at;
                if (end < v || (at && ends[at - 1] == end)) continue;
                for (int k = count++; k > at; --k) ends[k] = ends[k - 1];
                ends[at] = end;
            }
        counts[v] = count;
        if (!numbers) continue;
        for (int p = first[v]; p < first[v + 1]; ++p)
            for (int axis = 0; axis < DIMENSION; ++axis) {
                const int end = cells[places[p] ^ 1 << axis], corner = places[p] % CORNERS;
                for (int k = 0; k < count; ++k)
                    if (ends[k] == end)
                        numbers[places[p] / CORNERS * PER_ELEMENT + slots[corner * DIMENSION + axis]] = offsets[v] + k;
            }
    }
}
