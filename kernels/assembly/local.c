/* The matrix as its element matrices, ten numbers each, one after another over all elements, and the product with it:
 * a thread an element, which adds to its four nodes atomically. The result must be zero before. */

#include "tetrahedron.h"

#define NUMBERS (EDGE_COUNT + 4)

KERNEL compute(const int elements, const real lambda, GLOBAL const real *conductivity, GLOBAL const real *x,
               GLOBAL const real *y, GLOBAL const real *z, GLOBAL const int *cells, GLOBAL real *matrices)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= elements) continue;
        real corner[12], edge[EDGE_COUNT];
        for (int k = 0; k < 4; ++k) {
            const int node = cells[4 * e + k];
            corner[3 * k] = x[node];
            corner[3 * k + 1] = y[node];
            corner[3 * k + 2] = z[node];
        }
        const real row = lambda * tetrahedron_edges(corner, conductivity ? conductivity[e] : (real)1, lambda, edge) / 4;
        const real number[NUMBERS] = {edge[0], edge[1], edge[2], edge[3], edge[4], edge[5],
                                      row - edge[0] - edge[1] - edge[2], row - edge[0] - edge[3] - edge[4],
                                      row - edge[1] - edge[3] - edge[5], row - edge[2] - edge[4] - edge[5]};
        UNROLL
        for (int k = 0; k < NUMBERS; ++k) matrices[k * (long)elements + e] = number[k];
    }
}

KERNEL multiply(const int elements, GLOBAL const int *RESTRICT cells, GLOBAL const real *RESTRICT matrices,
                GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= elements) continue;
        int node[4];
        real given[4], m[NUMBERS];
        UNROLL
        for (int k = 0; k < NUMBERS; ++k) m[k] = matrices[k * (long)elements + e];
        for (int k = 0; k < 4; ++k) {
            node[k] = cells[4 * e + k];
            given[k] = x[node[k]];
        }
        ATOMIC_ADD_GLOBAL(&y[node[0]], m[6] * given[0] + m[0] * given[1] + m[1] * given[2] + m[2] * given[3]);
        ATOMIC_ADD_GLOBAL(&y[node[1]], m[0] * given[0] + m[7] * given[1] + m[3] * given[2] + m[4] * given[3]);
        ATOMIC_ADD_GLOBAL(&y[node[2]], m[1] * given[0] + m[3] * given[1] + m[8] * given[2] + m[5] * given[3]);
        ATOMIC_ADD_GLOBAL(&y[node[3]], m[2] * given[0] + m[4] * given[1] + m[5] * given[2] + m[9] * given[3]);
    }
}
