/* The patch-based assembly of fu2014, section 4: a block a patch, the upper half of the matrix in CSR.
 *
 * The numbered steps are the paper's. Entries whose row lies in the patch are found by binary search and added in shared memory; the others,
 * of elements at the patch's boundary, likewise in the global array values_boundary, which `add_boundary` adds afterwards.
 * Shared memory holds coordinates, columns and values side by side where the paper, for want of room, put the latter over the former. */

#include "tetrahedron.h"

/* Returns the place of `column` in the sorted columns [begin, end); it is there. */
DEVICE_FUNCTION int find_shared(SHARED_POINTER const int *columns, int begin, int end, const int column)
{
    while (end - begin > 1) {
        const int middle = (begin + end) / 2;
        if (columns[middle] <= column) begin = middle;
        else end = middle;
    }
    return begin;
}

DEVICE_FUNCTION int find_global(GLOBAL const int *columns, int begin, int end, const int column)
{
    while (end - begin > 1) {
        const int middle = (begin + end) / 2;
        if (columns[middle] <= column) begin = middle;
        else end = middle;
    }
    return begin;
}

KERNEL patch(const real lambda, GLOBAL const real *conductivity,
             GLOBAL const real *x, GLOBAL const real *y, GLOBAL const real *z, GLOBAL const real *f,
             GLOBAL const int *patch_offsets, GLOBAL const int *element_offsets,
             GLOBAL const int *node0, GLOBAL const int *node1, GLOBAL const int *node2, GLOBAL const int *node3,
             GLOBAL const int *row_offsets, GLOBAL const int *column_indices,
             GLOBAL real *values, GLOBAL real *values_boundary, GLOBAL real *rhs, GLOBAL real *rhs_boundary)
{
    OUTER(block);
    SHARED_POOL(real, pool, POOL_SIZE);
    const int first = patch_offsets[block], owned = patch_offsets[block + 1] - first;
    const int element_first = element_offsets[block], element_end = element_offsets[block + 1];
    const int entry_first = row_offsets[first], entries = row_offsets[first + owned] - entry_first;
    SHARED_POINTER real *corners = pool;               /* x, y, z and f of the patch's nodes */
    SHARED_POINTER real *local_values = corners + 4 * owned;
    SHARED_POINTER real *local_rhs = local_values + entries;
    SHARED_POINTER int *columns = (SHARED_POINTER int *)(local_rhs + owned);
    SHARED_POINTER int *rows = columns + entries;

    /* 1: coordinates of the patch, one node a thread */
    INNER_FOR(i, owned) {
        corners[i] = x[first + i];
        corners[owned + i] = y[first + i];
        corners[2 * owned + i] = z[first + i];
        corners[3 * owned + i] = f[first + i];
        local_rhs[i] = 0;
        rows[i] = row_offsets[first + i] - entry_first;
    }
    /* 4: the patch's columns; its values start at zero */
    INNER_FOR(i, entries) {
        columns[i] = column_indices[entry_first + i];
        local_values[i] = 0;
    }
    INNER(t) {
        if (t == 0) rows[owned] = entries;
    }
    BARRIER;

    for (int chunk = element_first; chunk < element_end; chunk += BLOCK) {
        INNER(t) {
            const int e = chunk + t;
            if (e >= element_end) continue;
            const int node[4] = {node0[e], node1[e], node2[e], node3[e]};
            real corner[12], load[4], entry[EDGE_COUNT];
            real total = 0;
            /* 2: coordinates of the element, from global memory where a node is outside the patch */
            for (int k = 0; k < 4; ++k) {
                const int i = node[k] - first;
                if (i >= 0 && i < owned) {
                    corner[3 * k] = corners[i];
                    corner[3 * k + 1] = corners[owned + i];
                    corner[3 * k + 2] = corners[2 * owned + i];
                    load[k] = corners[3 * owned + i];
                } else {
                    corner[3 * k] = x[node[k]];
                    corner[3 * k + 1] = y[node[k]];
                    corner[3 * k + 2] = z[node[k]];
                    load[k] = f[node[k]];
                }
                total += load[k];
            }
            /* 3: the element matrix */
            const real volume = tetrahedron_edges(corner, conductivity ? conductivity[e] : (real)1, lambda, entry);
            const real row = lambda * volume * ((real)1 / 4);
            const real full[16] = {row - entry[0] - entry[1] - entry[2], entry[0], entry[1], entry[2],
                                   entry[0], row - entry[0] - entry[3] - entry[4], entry[3], entry[4],
                                   entry[1], entry[3], row - entry[1] - entry[3] - entry[5], entry[5],
                                   entry[2], entry[4], entry[5], row - entry[2] - entry[4] - entry[5]};
            /* 5: add the upper half of it, in shared memory where the row is the patch's */
            UNROLL
            for (int k = 0; k < 4; ++k) {
                const int in_patch = node[k] >= first && node[k] < first + owned;
                const real b = volume * (load[k] + total) * ((real)1 / 20);
                if (in_patch) ATOMIC_ADD_SHARED(&local_rhs[node[k] - first], b);
                else ATOMIC_ADD_GLOBAL(&rhs_boundary[node[k]], b);
                UNROLL
                for (int l = 0; l < 4; ++l) {
                    if (node[l] < node[k]) continue;
                    if (in_patch) {
                        const int i = node[k] - first;
                        const int place = find_shared(columns, rows[i], rows[i + 1], node[l]);
                        ATOMIC_ADD_SHARED(&local_values[place], full[4 * k + l]);
                    } else {
                        const int place = find_global(column_indices, row_offsets[node[k]], row_offsets[node[k] + 1], node[l]);
                        ATOMIC_ADD_GLOBAL(&values_boundary[place], full[4 * k + l]);
                    }
                }
            }
        }
    }
    BARRIER;

    /* 6: write back as a block */
    INNER_FOR(i, entries) {
        values[entry_first + i] = local_values[i];
    }
    INNER_FOR(i, owned) {
        rhs[first + i] = local_rhs[i];
    }
}

KERNEL add_boundary(const long count, GLOBAL const real *boundary, GLOBAL real *values)
{
    OUTER(block);
    INNER(t) {
        const long i = (long)block * BLOCK + t;
        if (i < count) values[i] += boundary[i];
    }
}
