/* Packs the rows of a level's matrix by patches: what relaxation needs of the inside, and the boundary (patch_matrix.py).
 *
 * A block has a patch of at most BLOCK rows. The format decides which entry of a row the inside stores, and where:
 *
 *   SYMCOO  the upper half; k-th entries of all rows one after another, so that neighbouring threads add to different rows
 *   HALF    one of each pair (i, j) and (j, i), shared out evenly among the rows; in slices
 *   ELL     all entries, in slices
 *   CSR     all entries, row after row
 *
 * Slices are 32 rows of a patch, sorted by their number of entries, as wide as the longest and stored by columns. Their
 * columns are places among the sorted rows, by which shared memory holds vectors. */

#include "patch_format.h"

#define RECEIVED 2 /* and the rank, of an entry of HALF whose product its row is handed; 1 of one that it keeps */

/* The first row of each patch, its rows, and its slices: as many everywhere, so that a thread finds its own by itself. The rest of a
 * header is zero. */
KERNEL begin(const int patches, GLOBAL const int *RESTRICT patch_offsets, GLOBAL int *RESTRICT headers)
{
    OUTER(block);
    INNER(t) {
        const long patch = block * BLOCK + t;
        if (patch >= patches) continue;
        GLOBAL int *header = headers + HEADER * patch;
        for (int k = 0; k < HEADER; ++k) header[k] = 0;
        header[FIRST] = patch_offsets[patch];
        header[ROWS] = patch_offsets[patch + 1] - patch_offsets[patch];
        header[FIRST_SLICE] = (int)patch * MOST_SLICES;
    }
}

#if !defined(__CUDACC__) && !defined(__OPENCL_VERSION__)
#define ONE_BY_ONE
/* Sorts rows by their counts, the largest first and equal ones by their numbers: by tallies, counts of BLOCK or more by insertion. */
DEVICE_FUNCTION void sort_falling(const int rows, const int *counts, ushort *sorted)
{
    int places[BLOCK + 1] = {0};
    for (int i = 0; i < rows; ++i) ++places[counts[i] < BLOCK ? counts[i] : BLOCK];
    const int large = places[BLOCK];
    for (int count = BLOCK, before = 0; count >= 0; --count) {
        const int here = places[count];
        places[count] = before;
        before += here;
    }
    for (int i = 0; i < rows; ++i) sorted[places[counts[i] < BLOCK ? counts[i] : BLOCK]++] = i;
    for (int k = 1; k < large; ++k) {
        const ushort row = sorted[k];
        int to = k;
        for (; to > 0 && counts[sorted[to - 1]] < counts[row]; --to) sorted[to] = sorted[to - 1];
        sorted[to] = row;
    }
}
#endif

/* Counts and sorts the rows of each patch; sets all of its header but FIRST, ROWS, FIRST_SLICE and FIRST_ENTRY, and the
 * widths of its slices. */
KERNEL sort_rows(GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT column_indices,
                 GLOBAL int *RESTRICT headers, GLOBAL ushort *RESTRICT order, GLOBAL ushort *RESTRICT incoming,
                 GLOBAL int *RESTRICT slices, GLOBAL ushort *RESTRICT boundary_order,
                 GLOBAL int *RESTRICT boundary_slices, GLOBAL ushort *RESTRICT owned)
{
    OUTER(patch);
    SHARED int stored[BLOCK];
    SHARED int received[BLOCK];
    SHARED int beyond[BLOCK];
    SHARED int widths[MOST_SLICES];
    SHARED int exchanged[1];
    SHARED ushort sorted[BLOCK];
    SHARED ushort boundary_sorted[BLOCK];
    GLOBAL int *header = headers + HEADER * patch;
    const int first = header[FIRST], rows = header[ROWS], first_slice = header[FIRST_SLICE];
    const int slice_count = (rows + SLICE - 1) / SLICE;

#if INSIDE == HALF
    INNER_FOR(i, rows) {
        int mine = 0;
        for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
            const int j = column_indices[e] - first;
            owned[e] = j >= 0 && j < rows && j != i && ((i + j) & 1 ? i > j : i < j);
            mine += owned[e];
        }
        stored[i] = mine;
    }
    BARRIER;
    for (int round = 0; round < ROUNDS; ++round) {
        /* A row offers one entry to its neighbour with fewest, where that has at least two fewer; */
        INNER_FOR(i, rows) {
            int fewest = stored[i] - 1, target = NOBODY;
            for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
                if (!owned[e]) continue;
                const int j = column_indices[e] - first;
                if (stored[j] < fewest) {
                    fewest = stored[j];
                    target = j;
                }
            }
            sorted[i] = target;
            if (i == 0) exchanged[0] = 0;
        }
        BARRIER;
        /* a row takes one of those offered, from whom has most. */
        INNER_FOR(i, rows) {
            int most = 0, giver = NOBODY;
            for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
                const int j = column_indices[e] - first;
                if (j < 0 || j >= rows || j == i || sorted[j] != i || stored[j] <= most) continue;
                most = stored[j];
                giver = j;
            }
            boundary_sorted[i] = giver;
        }
        BARRIER;
        INNER_FOR(i, rows) {
            const int target = sorted[i], given = target != NOBODY && boundary_sorted[target] == i;
            const int giver = boundary_sorted[i], taken = giver != NOBODY;
            for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
                const int j = column_indices[e] - first; /* beyond the patch it may be any number, NOBODY's too */
                if (taken && j == giver) owned[e] = 1;
                if (given && j == target) owned[e] = 0;
            }
            received[i] = stored[i] - given + taken;
            if (given) ATOMIC_ADD_SHARED(&exchanged[0], 1);
        }
        BARRIER;
        const int goes_on = exchanged[0];
        INNER_FOR(i, rows) {
            stored[i] = received[i];
        }
        BARRIER;
        if (!goes_on) break;
    }
#endif
    INNER_FOR(i, rows) {
        int mine = 0, theirs = 0, outside = 0;
        for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
            const int j = column_indices[e] - first;
            if (j < 0 || j >= rows) ++outside;
            else if (j != i && STORES(i, j, e)) ++mine;
            else if (j != i) {
#if INSIDE == HALF
                owned[e] = RECEIVED + theirs;
#endif
                ++theirs;
            }
        }
        stored[i] = mine;
        received[i] = theirs;
        beyond[i] = outside;
    }
    BARRIER;
#ifdef ONE_BY_ONE
    sort_falling(rows, stored, sorted);
    sort_falling(rows, beyond, boundary_sorted);
#else
    /* A row's place: how many come before it. */
    INNER_FOR(i, rows) {
        int place = 0, boundary_place = 0;
        for (int j = 0; j < rows; ++j) {
            place += stored[j] > stored[i] || (stored[j] == stored[i] && j < i);
            boundary_place += beyond[j] > beyond[i] || (beyond[j] == beyond[i] && j < i);
        }
        sorted[place] = i;
        boundary_sorted[boundary_place] = i;
    }
#endif
    BARRIER;
    INNER_FOR(k, rows) {
#if INSIDE != CSR
        order[first + k] = sorted[k];
#endif
        incoming[first + k] = received[sorted[k]];
        boundary_order[first + k] = boundary_sorted[k];
    }
    INNER_FOR(s, SLICE_NUMBERS * MOST_SLICES) {
        slices[SLICE_NUMBERS * first_slice + s] = 0;
        boundary_slices[SLICE_NUMBERS * first_slice + s] = 0;
    }
    BARRIER;
    INNER_FOR(s, slice_count) {
        const int end = SLICE * (s + 1) < rows ? SLICE * (s + 1) : rows;
        int most = 0;
        for (int k = SLICE * s; k < end; ++k) most = received[sorted[k]] > most ? received[sorted[k]] : most;
        widths[s] = most;
        slices[SLICE_NUMBERS * (first_slice + s) + 1] = stored[sorted[SLICE * s]];
        GLOBAL int *boundary_slice = boundary_slices + SLICE_NUMBERS * (first_slice + s);
        boundary_slice[1] = beyond[boundary_sorted[SLICE * s]];
        boundary_slice[2] = first;
        boundary_slice[3] = (SLICE * s) << 6 | (end - SLICE * s);
    }
    BARRIER;
    INNER(t) {
        if (t > 0) continue;
        int entries = 0, slots = 0, boundary_rows = 0;
        for (int s = 0; s < slice_count; ++s) {
            slices[SLICE_NUMBERS * (first_slice + s) + 2] = slots;
            slots += SLICE * widths[s];
        }
        for (int i = 0; i < rows; ++i) {
#if INSIDE == CSR
            order[first + i] = entries;
#endif
            entries += stored[i];
            boundary_rows += beyond[i] > 0;
        }
        header[ENTRIES] = entries;
        header[SLOTS] = slots;
        header[BOUNDARY_ROWS] = boundary_rows;
    }
}

/* most[place] = value, where that is more: few threads get as far as the addition. */
#define RAISE(place, value)                                                                                          \
    if ((value) > LOAD_GLOBAL(&most[place])) ATOMIC_MAX_GLOBAL(&most[place], value)

/* Counts what each slice stores of the inside and of the boundary, and each patch of the inside. Finds the
 * most entries and slots of a patch, and the widest slice. */
KERNEL count_stored(const int slice_count, GLOBAL const int *RESTRICT headers, GLOBAL const int *RESTRICT slices,
                    GLOBAL const int *RESTRICT boundary_slices, GLOBAL int *RESTRICT entries,
                    GLOBAL int *RESTRICT stored, GLOBAL int *RESTRICT boundary_stored, GLOBAL int *RESTRICT most)
{
    OUTER(block);
    INNER(t) {
        const long s = block * BLOCK + t;
        if (s >= slice_count) continue;
        const long patch = s / MOST_SLICES;
        GLOBAL const int *header = headers + HEADER * patch;
        const int left = header[ROWS] - SLICE * (int)(s % MOST_SLICES);
        const int lanes = left < 0 ? 0 : left < SLICE ? left : SLICE;
        const int width = slices[SLICE_NUMBERS * s + 1];
        stored[s] = width * lanes;
        boundary_stored[s] = boundary_slices[SLICE_NUMBERS * s + 1] * lanes;
        RAISE(2, width);
        if (s % MOST_SLICES > 0) continue;
        entries[patch] = header[ENTRIES];
        RAISE(0, header[ENTRIES]);
        RAISE(1, header[SLOTS]);
    }
}

/* The first entries of slices and patches, from the sums of what `count_stored` found. */
KERNEL place_slices(const int slice_count, GLOBAL const int *RESTRICT entry_offsets,
                    GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT boundary_offsets,
                    GLOBAL int *RESTRICT headers, GLOBAL int *RESTRICT slices, GLOBAL int *RESTRICT boundary_slices)
{
    OUTER(block);
    INNER(t) {
        const long s = block * BLOCK + t;
        if (s >= slice_count) continue;
        slices[SLICE_NUMBERS * s] = offsets[s];
        boundary_slices[SLICE_NUMBERS * s] = boundary_offsets[s];
#if INSIDE == SYMCOO || INSIDE == CSR
        if (s % MOST_SLICES == 0) headers[HEADER * (s / MOST_SLICES) + FIRST_ENTRY] = entry_offsets[s / MOST_SLICES];
#endif
    }
}

/* Fills the values and columns of each patch, and its part of the diagonal. */
KERNEL fill(GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT column_indices,
            GLOBAL const double *RESTRICT matrix, GLOBAL const int *RESTRICT headers,
            GLOBAL const ushort *RESTRICT order, GLOBAL const int *RESTRICT slices,
            GLOBAL const ushort *RESTRICT boundary_order, GLOBAL const int *RESTRICT boundary_slices,
            GLOBAL real *RESTRICT values, GLOBAL index *RESTRICT columns, GLOBAL real *RESTRICT boundary_values,
            GLOBAL int *RESTRICT boundary_columns, GLOBAL real *RESTRICT diagonal, GLOBAL const ushort *RESTRICT owned)
{
    OUTER(patch);
    SHARED ushort place[BLOCK]; /* of each row among the sorted ones */
    SHARED int layer[BLOCK + 1]; /* SYMCOO: first of the k-th entries */
    GLOBAL const int *header = headers + HEADER * patch;
    const int first = header[FIRST], rows = header[ROWS], first_slice = header[FIRST_SLICE];
    const int first_entry = header[FIRST_ENTRY], slots = header[SLOTS];

#if INSIDE != CSR
    INNER_FOR(k, rows) {
        place[order[first + k]] = k;
    }
#endif
    INNER_FOR(k, BLOCK + 1) {
        layer[k] = 0;
    }
    BARRIER;
#if INSIDE == SYMCOO
    INNER_FOR(k, rows) { /* layer[k]: rows with more than k entries */
        const int i = order[first + k];
        int mine = 0;
        for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
            const int j = column_indices[e] - first;
            if (j < rows && j > i) ATOMIC_ADD_SHARED(&layer[1 + mine++], 1);
        }
    }
    BARRIER;
    INNER(t) {
        if (t > 0) continue;
        for (int k = 0; k < BLOCK; ++k) layer[k + 1] += layer[k];
    }
    BARRIER;
#endif

    INNER_FOR(i, rows) {
        const int begin = row_offsets[first + i], end = row_offsets[first + i + 1];
#if INSIDE == CSR
        int at = first_entry + order[first + i];
#elif INSIDE != SYMCOO
        const int k = place[i], s = k / SLICE;
        const int lanes = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;
        const int width = slices[SLICE_NUMBERS * (first_slice + s) + 1];
        int at = slices[SLICE_NUMBERS * (first_slice + s)] + k % SLICE;
#endif
        int mine = 0;
        real pivot = 0;
        for (int e = begin; e < end; ++e) {
            const int j = column_indices[e] - first;
            if (j == i) pivot = matrix[e];
            if (j < 0 || j >= rows || j == i || !STORES(i, j, e)) continue;
#if INSIDE == SYMCOO
            const int at = first_entry + layer[mine] + place[i];
            values[at] = matrix[e];
            columns[at] = (uint)i | (uint)j << 16;
#elif INSIDE == HALF
            /* The slot of row j that this entry hands its product to: its rank among the products that j receives. */
            int low = row_offsets[first + j], high = row_offsets[first + j + 1] - 1;
            while (low < high) {
                const int middle = (low + high) / 2;
                if (column_indices[middle] - first < i) low = middle + 1;
                else high = middle;
            }
            const int rank = owned[low] - RECEIVED;
            const int slice = place[j] / SLICE;
            const int slot = slices[SLICE_NUMBERS * (first_slice + slice) + 2] + SLICE * rank + place[j] % SLICE;
            values[at] = matrix[e];
            columns[at] = (uint)place[j] | (uint)slot << 16;
            at += lanes;
#elif INSIDE == ELL
            values[at] = matrix[e];
            columns[at] = place[j];
            at += lanes;
#else
            values[at] = matrix[e];
            columns[at++] = j;
#endif
            ++mine;
        }
#if INSIDE == HALF || INSIDE == ELL
        diagonal[first + k] = pivot;
#else
        diagonal[first + i] = pivot;
#endif
#if INSIDE == HALF || INSIDE == ELL
        for (; mine < width; ++mine, at += lanes) {
            values[at] = 0;
#if INSIDE == HALF
            columns[at] = (uint)k | (uint)slots << 16; /* the slot behind the last, which no row reads */
#else
            columns[at] = k;
#endif
        }
#endif
    }

    INNER_FOR(k, rows) { /* one without entries beside one with some is padded, too */
        const int i = boundary_order[first + k], s = k / SLICE;
        const int lanes = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;
        const int width = boundary_slices[SLICE_NUMBERS * (first_slice + s) + 1];
        int at = boundary_slices[SLICE_NUMBERS * (first_slice + s)] + k % SLICE, mine = 0;
        for (int e = row_offsets[first + i]; e < row_offsets[first + i + 1]; ++e) {
            const int j = column_indices[e];
            if (j >= first && j < first + rows) continue;
            boundary_values[at] = matrix[e];
            boundary_columns[at] = j;
            at += lanes;
            ++mine;
        }
        for (; mine < width; ++mine, at += lanes) {
            boundary_values[at] = 0;
            boundary_columns[at] = first + i;
        }
    }
}
