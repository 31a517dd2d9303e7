// Rows of a CSR matrix into warps of 32 lanes; what is padded has column -1 and value 0. SPLIT: a row's entries go to
// its lanes in turn.
#define WARP 32
#define PLACE(k) (begin + (COALESCED ? WARP * (k) + lane : lane * width + (k)))

// Where lane `t` of all begins: its row, its share of it, and its place.
#define LANE                                                                                                         \
    const long warp = (block * BLOCK + t) / WARP;                                                                    \
    if (warp >= warps)                                                                                               \
        continue;                                                                                                    \
    const long begin = WARP * (long)warp_offsets[warp];                                                              \
    const int lane = (block * BLOCK + t) % WARP, width = warp_offsets[warp + 1] - warp_offsets[warp];                \
    const int first = SPLIT ? first_slots[warp] : WARP * warp;                                                       \
    const int share = SPLIT ? WARP / (first_slots[warp + 1] - first) : 1;                                            \
    const int slot = first + lane / share, row = SORTED ? order[slot] : slot;                                        \
    const int there = row >= 0 && row < rows, last = there ? row_offsets[row + 1] : 0;                               \
    int entry = there ? row_offsets[row] + lane % share : 0

KERNEL fill_warps(const int warps, const int rows, GLOBAL const int *RESTRICT warp_offsets,
                  GLOBAL const int *RESTRICT first_slots, GLOBAL const int *RESTRICT order,
                  GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
                  GLOBAL const real *RESTRICT values, GLOBAL int *RESTRICT warp_columns,
                  GLOBAL real *RESTRICT warp_values)
{
    OUTER(block);
    INNER(t) {
        LANE;
        for (int k = 0; k < width; ++k, entry += share) {
            warp_columns[PLACE(k)] = entry < last ? columns[entry] : -1;
            warp_values[PLACE(k)] = entry < last ? values[entry] : 0;
        }
    }
}

// The place of each entry of the CSR matrix, whose entries were MOVED within their rows.
KERNEL find_places(const int warps, const int rows, GLOBAL const int *RESTRICT warp_offsets,
                   GLOBAL const int *RESTRICT first_slots, GLOBAL const int *RESTRICT order,
                   GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT entry_order,
                   GLOBAL int *RESTRICT places)
{
    OUTER(block);
    INNER(t) {
        LANE;
        for (int k = 0; entry < last; ++k, entry += share)
            places[MOVED ? entry_order[entry] : entry] = PLACE(k);
    }
}

// New values in the old places.
KERNEL refill(const int warps, const int rows, GLOBAL const int *RESTRICT warp_offsets,
              GLOBAL const int *RESTRICT first_slots, GLOBAL const int *RESTRICT order,
              GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT entry_order,
              GLOBAL const real *RESTRICT values, GLOBAL real *RESTRICT warp_values)
{
    OUTER(block);
    INNER(t) {
        LANE;
        for (int k = 0; entry < last; ++k, entry += share)
            warp_values[PLACE(k)] = values[MOVED ? entry_order[entry] : entry];
    }
}
