/* Assembly by edges, see ring.c: some edges of a slice side by side. */

#include "../spmv/vectors.h"

#define SLICE 32
#define NOWHERE 65535
#define BREAK 32768
#define PADDING 65535 /* starts a chain, too, so that nothing is added for it */
#define HEADER 8
typedef long words __attribute__((vector_size(SOME * sizeof(long))));
typedef long words_anywhere __attribute__((vector_size(SOME * sizeof(long)), aligned(sizeof(long)), may_alias));

KERNEL ring(const real lambda, GLOBAL const real *RESTRICT conductivity, GLOBAL const int *RESTRICT ring_elements,
            GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y, GLOBAL const real *RESTRICT z,
            GLOBAL const real *RESTRICT f,
            GLOBAL const int *RESTRICT headers, GLOBAL const int *RESTRICT halo_nodes,
            GLOBAL const int *RESTRICT slice_offsets, GLOBAL const long *RESTRICT ring_words,
            GLOBAL const long *RESTRICT edges,
            GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT column_indices,
            GLOBAL const int *RESTRICT diagonal, GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT rhs)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL_SIZE);
    const int *header = headers + HEADER * patch;
    const int first = header[0], owned = header[1], halo_first = header[2], used = header[3];
    const int entry_first = header[4], entries = header[5], slice_first = header[6], slots = header[7];
    real *staged = pool; /* of each entry of the rows its value, and six times the volume around its edge */
    real *nodes = staged + 2 * entries;
    for (int i = 0; i < used; ++i) {
        const int node = i < owned ? first + i : halo_nodes[halo_first + i - owned];
        nodes[3 * i] = x[node];
        nodes[3 * i + 1] = y[node];
        nodes[3 * i + 2] = z[node];
    }
    const real mass = lambda * ((real)1 / 120);
    for (int slot = 0; slot < slots; slot += SOME) {
        const long *const edge = edges + SLICE * (long)slice_first + slot;
        const int slice = slice_first + slot / SLICE, stop = slice_offsets[slice + 1];
        int i[SOME], j[SOME];
        for (int l = 0; l < SOME; ++l) {
            i[l] = edge[l] & 65535;
            j[l] = (edge[l] >> 16) & 65535;
        }
        const some x0 = FIND_SOME(nodes, i), y0 = FIND_SOME(nodes + 1, i), z0 = FIND_SOME(nodes + 2, i);
        const some ex = FIND_SOME(nodes, j) - x0, ey = FIND_SOME(nodes + 1, j) - y0, ez = FIND_SOME(nodes + 2, j) - z0;
        some ax = {0}, ay = {0}, az = {0}, px = {0}, py = {0}, pz = {0}, ae = {0}, aa = {0}, stiffness = {0}, volume = {0};
        for (int k = slice_offsets[slice] + slot % SLICE; k < stop; k += SLICE) {
            const words four = *(const words_anywhere *)(ring_words + k);
            for (int part = 0; part < 4; ++part) {
                if ((ring_words[k] >> (16 * part) & 65535) == PADDING) break; /* the longest list is the first */
                const words entry = (four >> (16 * part)) & 65535, is_there = entry != PADDING;
                const words is_next = (entry & BREAK) == 0, node = entry & (BREAK - 1) & is_there;
                long at[SOME];
                *(words_anywhere *)at = node;
                const some bx = FIND_SOME(nodes, at) - x0, by = FIND_SOME(nodes + 1, at) - y0, bz = FIND_SOME(nodes + 2, at) - z0;
                const some be = bx * ex + by * ey + bz * ez;
                const some bb = bx * bx + by * by + bz * bz - be;
                const some ab = ax * bx + ay * by + az * bz;
                const some volume6 = px * bx + py * by + pz * bz;
                const some_truths counts = __builtin_convertvector(is_next, some_truths);
                some term = ((ab - ae) * (ab - be) - aa * bb) / volume6;
#if HAS_CONDUCTIVITY
                long element[SOME];
                for (int l = 0; l < SOME; ++l) element[l] = ring_elements[4 * (long)(k + l) + part];
                *(words_anywhere *)element &= is_next;
                term *= FIND_SOME(conductivity, element);
#endif
                stiffness += WHERE_SOME(counts, term);
                volume += WHERE_SOME(counts, volume6);
                ax = bx, ay = by, az = bz, ae = be, aa = bb;
                px = ey * bz - ez * by, py = ez * bx - ex * bz, pz = ex * by - ey * bx;
            }
        }
        const some entry = stiffness * ((real)1 / 6) + volume * mass;
        for (int l = 0; l < SOME; ++l) {
            const int upper = (edge[l] >> 32) & 65535, lower = (edge[l] >> 48) & 65535;
            if (upper != NOWHERE) staged[2 * upper] = entry[l], staged[2 * upper + 1] = volume[l];
            if (lower != NOWHERE) staged[2 * lower] = entry[l], staged[2 * lower + 1] = volume[l];
        }
    }
    for (int row = first; row < first + owned; ++row) {
        const int begin = row_offsets[row] - entry_first, end = row_offsets[row + 1] - entry_first;
        real *const own = staged + 2 * (diagonal[row] - entry_first);
        real sum = 0, volume = 0, load = 0;
        own[0] = own[1] = 0;
        for (int k = begin; k < end; ++k) {
            sum += staged[2 * k];
            volume += staged[2 * k + 1];
            if (f) load += staged[2 * k + 1] * f[column_indices[entry_first + k]];
        }
        const real lumped = volume * ((real)1 / 72); /* the integral of the node's basis function */
        own[0] = lambda * lumped - sum;
        rhs[row] = f ? load * ((real)1 / 120) + f[row] * volume * ((real)1 / 180) : lumped;
    }
    for (int i = 0; i < entries; ++i) values[entry_first + i] = staged[2 * i];
}
