/* Assembly with a thread an element and global atomics, through a map of where every entry of every element matrix goes.
 * The values and the right-hand side must be zero before. Bound by the rate of scattered atomics: 16 + 4 an element. */

#include "tetrahedron.h"

KERNEL atomic(const int elements, const real lambda, GLOBAL const real *conductivity,
              GLOBAL const real *x, GLOBAL const real *y, GLOBAL const real *z, GLOBAL const real *f,
              GLOBAL const int *cells, GLOBAL const int *entry_map, GLOBAL real *values, GLOBAL real *rhs)
{
    OUTER(block);
    INNER(t) {
        const long e = (long)block * BLOCK + t;
        if (e >= elements) continue;
        real corner[12], entry[EDGE_COUNT], load[4];
        int node[4];
        real total = 0;
        for (int k = 0; k < 4; ++k) {
            node[k] = cells[4 * e + k];
            corner[3 * k] = x[node[k]];
            corner[3 * k + 1] = y[node[k]];
            corner[3 * k + 2] = z[node[k]];
            load[k] = f[node[k]];
            total += load[k];
        }
        const real volume = tetrahedron_edges(corner, conductivity ? conductivity[e] : (real)1, lambda, entry);
        const real row = lambda * volume * ((real)1 / 4);
        const real diagonal[4] = {row - entry[0] - entry[1] - entry[2], row - entry[0] - entry[3] - entry[4],
                                  row - entry[1] - entry[3] - entry[5], row - entry[2] - entry[4] - entry[5]};
        /* edge of local nodes (i, j), row-major, -1 on the diagonal */
        const int edge_of[16] = {-1, 0, 1, 2, 0, -1, 3, 4, 1, 3, -1, 5, 2, 4, 5, -1};
        UNROLL
        for (int k = 0; k < 16; ++k) {
            const real value = k % 5 == 0 ? diagonal[k / 5] : entry[k % 5 == 0 ? 0 : edge_of[k]];
            ATOMIC_ADD_GLOBAL(&values[entry_map[16 * e + k]], value);
        }
        for (int k = 0; k < 4; ++k) ATOMIC_ADD_GLOBAL(&rhs[node[k]], volume * (load[k] + total) * ((real)1 / 20));
    }
}
