/* Sums of contributions that elements do not write: conduction is constant, so an element's part in the matrix and the residual is known
 * but for two factors, its mass and its load, which are the same for all its entries. */

/* As `sums` of heart.c, but for the residual, which is summed with the diagonal. For each place of the slices `element` says whose factors
 * are added: padding's are zero, behind the last. Conduction is summed once: `conduction` for edges and nodes, `flow` times the potential. */
KERNEL sums(const long slots, const long edges, const long elements, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT element,
            GLOBAL const double *RESTRICT factors, GLOBAL const double *RESTRICT conduction,
            GLOBAL const double *RESTRICT flow, GLOBAL const int *RESTRICT upper, GLOBAL const int *RESTRICT lower,
            GLOBAL const int *RESTRICT diagonal, GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT inverse_diagonal,
            GLOBAL real *RESTRICT residual)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots) continue;
        const long row = order[slot];
        if (row < 0) continue;
        const long slice = slot / SLICE, end = slice_offsets[slice + 1];
        double mass = conduction[row], load = 0;
        for (long place = slice_offsets[slice] + slot % SLICE; place < end; place += SLICE) {
            mass += factors[element[place]];
            if (row >= edges) load += factors[elements + 1 + element[place]];
        }
        if (row < edges) {
            values[upper[row]] = mass;
            values[lower[row]] = mass;
        } else {
            const long node = row - edges;
            values[diagonal[node]] = mass;
            inverse_diagonal[node] = 1 / mass;
            residual[node] = flow[node] + load;
        }
    }
}
