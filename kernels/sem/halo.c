/* Between the assembled vectors of conjugate gradients, of type `outer`, and the subdomains' vectors, of type `real`. A node lies in
 * offsets[node + 1] - offsets[node] subdomains; with WEIGHTED what goes there and comes back is divided by its root, so that the
 * preconditioner stays symmetric and a constant correction is not counted many times. */

#if WEIGHTED
#define WEIGHT(subdomains) (1 / sqrt((real)((subdomains) > 0 ? (subdomains) : 1)))
#else
#define WEIGHT(subdomains) ((real)1)
#endif

/* y = weighted x */
KERNEL spread(const long nodes, GLOBAL const int *RESTRICT offsets, GLOBAL const outer *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long node = block * BLOCK + t;
        if (node < nodes) y[node] = WEIGHT(offsets[node + 1] - offsets[node]) * (real)x[node];
    }
}

/* y = weighted sums of what the subdomains have for each node; no atomics, the same bits every time. */
KERNEL collect(const long nodes, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT places,
               GLOBAL const real *RESTRICT parts, GLOBAL outer *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long node = block * BLOCK + t;
        if (node >= nodes) continue;
        const int begin = offsets[node], end = offsets[node + 1];
        real sum = 0;
        for (int place = begin; place < end; ++place) sum += parts[places[place]];
        y[node] = (outer)(WEIGHT(end - begin) * sum);
    }
}
