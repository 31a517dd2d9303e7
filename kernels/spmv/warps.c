// Rows of a CSR matrix into warps of 32 lanes; SPLIT: a row's entries go to its lanes in turn.
#define WARP 32
#define PLACE(k) (begin + (COALESCED ? WARP * (k) + lane : lane * width + (k)))

DEVICE_FUNCTION int row_length(GLOBAL const int *row_offsets, const long row, const int rows)
{
    return row >= 0 && row < rows ? row_offsets[row + 1] - row_offsets[row] : 0;
}

// Rows into slots by their order, and for each group of 32 the entries of its longest row; SPLIT: the lanes that share
// a row, such that none has more than `threshold`, or 32.
KERNEL cut_groups(const int groups, const int rows, const int threshold, GLOBAL const long *RESTRICT order,
                  GLOBAL const int *RESTRICT row_offsets, GLOBAL int *RESTRICT slots, GLOBAL int *RESTRICT sizes)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= WARP * (long)groups)
            continue;
        const long row = !SORTED ? slot : slot < rows ? order[slot] : -1;
        if (SORTED)
            slots[slot] = row;
        if (slot % WARP != 0)
            continue;
        int longest = row_length(row_offsets, row, rows); // of sorted rows, the first
        if (!SORTED)
            for (int k = 1; k < WARP; ++k) {
                const int length = row_length(row_offsets, row + k, rows);
                longest = length > longest ? length : longest;
            }
        int lanes = 1;
        while (lanes < WARP && longest > (long)threshold * lanes)
            lanes *= 2;
        sizes[slot / WARP] = SPLIT ? lanes : longest;
    }
}

// The warps of each group, as many as lanes share a row: their first slots and their widths.
KERNEL cut_warps(const int groups, const int rows, GLOBAL const int *RESTRICT begins, GLOBAL const int *RESTRICT slots,
                 GLOBAL const int *RESTRICT row_offsets, GLOBAL int *RESTRICT first_slots, GLOBAL int *RESTRICT widths)
{
    OUTER(block);
    INNER(t) {
        const long group = block * BLOCK + t;
        if (group >= groups)
            continue;
        const int lanes = begins[group + 1] - begins[group], taken = WARP / lanes;
        for (int part = 0; part < lanes; ++part) {
            const int first = WARP * group + part * taken, warp = begins[group] + part;
            int longest = 0;
            for (int k = 0; k < (SORTED ? 1 : taken); ++k) {
                const int length = row_length(row_offsets, SORTED ? slots[first + k] : first + k, rows);
                longest = length > longest ? length : longest;
            }
            first_slots[warp] = first;
            widths[warp] = (longest + lanes - 1) / lanes;
        }
        if (group == groups - 1)
            first_slots[begins[groups]] = WARP * groups;
    }
}

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

// Columns and values; what is padded has column -1 and value 0.
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
