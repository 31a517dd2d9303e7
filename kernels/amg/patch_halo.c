/* Numbers the columns of each patch's part of the boundary by the patch (patch_matrix.py): `boundary_columns` becomes, of each
 * patch, the rows of others that it reads, ascending, and `places` has each entry's among those. A block has a patch. */

#include "patch_format.h"

#define NONE 0x7fffffff

KERNEL number_columns(const int entries, const int patches, GLOBAL int *RESTRICT headers,
                      GLOBAL const int *RESTRICT boundary_slices, GLOBAL int *RESTRICT boundary_columns,
                      GLOBAL ushort *RESTRICT places)
{
    OUTER(patch);
    SHARED int sorted[MOST_BOUNDARY];
    SHARED int different[MOST_BOUNDARY];
    SHARED int found[BLOCK + 1]; /* before the columns of each thread */
    GLOBAL int *header = headers + HEADER * patch;
    const int begin = boundary_slices[SLICE_NUMBERS * header[FIRST_SLICE]];
    const int end = patch + 1 < patches ? boundary_slices[SLICE_NUMBERS * header[HEADER + FIRST_SLICE]] : entries;
    const int count = end - begin;
    int size = 1;
    while (size < count) size *= 2;

    INNER_FOR(k, size) {
        sorted[k] = k < count ? boundary_columns[begin + k] : NONE;
    }
    BARRIER;
    for (int run = 2; run <= size; run *= 2)
        for (int apart = run / 2; apart > 0; apart /= 2) {
            INNER_FOR(pair, size / 2) {
                const int one = pair / apart * 2 * apart + pair % apart, other = one + apart;
                const int left = sorted[one], right = sorted[other];
                if ((left > right) == ((one & run) == 0)) {
                    sorted[one] = right;
                    sorted[other] = left;
                }
            }
            BARRIER;
        }

    const int each = (count + BLOCK - 1) / BLOCK;
    INNER(t) {
        int mine = 0;
        for (int k = t * each; k < (t + 1) * each && k < count; ++k) mine += k == 0 || sorted[k] != sorted[k - 1];
        found[t + 1] = mine;
    }
    BARRIER;
    INNER(t) {
        if (t > 0) continue;
        found[0] = 0;
        for (int k = 0; k < BLOCK; ++k) found[k + 1] += found[k];
        header[READ_ROWS] = found[BLOCK];
    }
    BARRIER;
    INNER(t) {
        int place = found[t];
        for (int k = t * each; k < (t + 1) * each && k < count; ++k)
            if (k == 0 || sorted[k] != sorted[k - 1]) different[place++] = sorted[k];
    }
    BARRIER;
    INNER_FOR(k, count) {
        const int column = boundary_columns[begin + k];
        int low = 0, high = found[BLOCK] - 1;
        while (low < high) {
            const int middle = (low + high) / 2;
            if (different[middle] < column) low = middle + 1;
            else high = middle;
        }
        places[begin + k] = low;
    }
    BARRIER;
    INNER_FOR(k, found[BLOCK]) {
        boundary_columns[begin + k] = different[k];
    }
}
