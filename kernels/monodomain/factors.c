/* Sums of contributions that elements do not write: conduction is constant, so an element's part in the matrix and the residual is known
 * but for two factors, its mass and its load, which are the same for all its entries. */

/* As `sums` of heart.c. For each place of the slices `element` says which factor is added; padding adds one that is zero. Conduction is
 * summed once: `constant` for edges and nodes, `flow` times the potential at the nodes. */
KERNEL sums(const long slots, const long edges, const long nodes, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT element,
            GLOBAL const double *RESTRICT factors, GLOBAL const double *RESTRICT constant,
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
        double sum = row < edges + nodes ? constant[row] : flow[row - edges - nodes];
        for (long place = slice_offsets[slice] + slot % SLICE; place < end; place += SLICE) sum += factors[element[place]];
        if (row < edges) {
            values[upper[row]] = sum;
            values[lower[row]] = sum;
        } else if (row < edges + nodes) {
            values[diagonal[row - edges]] = sum;
            inverse_diagonal[row - edges] = 1 / sum;
        } else {
            residual[row - edges - nodes] = sum;
        }
    }
}
