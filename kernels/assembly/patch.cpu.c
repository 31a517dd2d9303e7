/* The patch-based assembly of fu2014, section 4, for processors: eight elements of a patch side by side.
 *
 * Step 5's searches and step 6's boundary are not here. An element is computed by each patch that owns one of its nodes, so that nothing is
 * added in global memory, and its six places in the patch's rows stand beside its nodes; of a row that is another's it is the place after
 * the last. */

#include "../device/eights.h"
#define NUMBER eight
#include "tetrahedron.h"

#define HEADER 8
#define LISTS (4 + EDGE_COUNT)

KERNEL patch(const real lambda, GLOBAL const real *RESTRICT conductivity,
             GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y, GLOBAL const real *RESTRICT z,
             GLOBAL const real *RESTRICT f, GLOBAL const int *RESTRICT headers, GLOBAL const int *RESTRICT halo_nodes,
             GLOBAL const ushort *RESTRICT lists, GLOBAL const int *RESTRICT row_offsets,
             GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT rhs)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL_SIZE);
    const int *header = headers + HEADER * patch;
    const int first = header[0], owned = header[1], halo_first = header[2], used = header[3];
    const int entry_first = header[4], entries = header[5], group_first = header[6], elements = header[7];
    real *const nodes = pool, *const sums = nodes + 4 * used, *const local_values = sums + 2 * used;
    for (int i = 0; i < used; ++i) {
        const int node = i < owned ? first + i : halo_nodes[halo_first + i - owned];
        nodes[4 * i] = x[node];
        nodes[4 * i + 1] = y[node];
        nodes[4 * i + 2] = z[node];
        nodes[4 * i + 3] = f[node];
        sums[2 * i] = sums[2 * i + 1] = 0;
    }
    for (int i = 0; i <= entries; ++i) local_values[i] = 0;
    for (int e = 0; e < elements; e += 8) {
        const long group = group_first + e / 8;
        const ushort *const list = lists + 8 * LISTS * group;
        eight corner[12], load[4], entry[EDGE_COUNT];
        for (int k = 0; k < 4; ++k) {
            int at[8];
            for (int l = 0; l < 8; ++l) at[l] = 4 * list[8 * k + l];
            corner[3 * k] = FIND_EIGHT(nodes, at);
            corner[3 * k + 1] = FIND_EIGHT(nodes + 1, at);
            corner[3 * k + 2] = FIND_EIGHT(nodes + 2, at);
            load[k] = FIND_EIGHT(nodes + 3, at);
        }
        eight sigma = (eight){0} + 1;
        if (conductivity) sigma = LOAD_EIGHT(conductivity + 8 * group);
        const eight volume = tetrahedron_edges(corner, sigma, lambda, entry);
        const eight row = volume * (lambda * ((real)1 / 4)), part = volume * ((real)1 / 20);
        const eight total = load[0] + load[1] + load[2] + load[3];
        real found[8 * LISTS + 32];
        STORE_EIGHT(found, row - entry[0] - entry[1] - entry[2]);
        STORE_EIGHT(found + 8, row - entry[0] - entry[3] - entry[4]);
        STORE_EIGHT(found + 16, row - entry[1] - entry[3] - entry[5]);
        STORE_EIGHT(found + 24, row - entry[2] - entry[4] - entry[5]);
        for (int k = 0; k < EDGE_COUNT; ++k) STORE_EIGHT(found + 32 + 8 * k, entry[k]);
        for (int k = 0; k < 4; ++k) STORE_EIGHT(found + 80 + 8 * k, part * (load[k] + total));
        const int lanes = elements - e < 8 ? elements - e : 8;
        for (int l = 0; l < lanes; ++l) {
            for (int k = 0; k < 4; ++k) {
                real *const sum = sums + 2 * list[8 * k + l];
                sum[0] += found[8 * k + l];
                sum[1] += found[80 + 8 * k + l];
            }
            for (int k = 4; k < LISTS; ++k) local_values[list[8 * k + l]] += found[8 * k + l];
        }
    }
    for (int i = 0; i < owned; ++i) {
        local_values[row_offsets[first + i] - entry_first] = sums[2 * i]; /* the diagonal is the first of the upper half's row */
        rhs[first + i] = sums[2 * i + 1];
    }
    for (int i = 0; i < entries; ++i) values[entry_first + i] = local_values[i];
}
