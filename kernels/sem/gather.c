/* Between the assembled vector, a value a node, and the element vector, a value a node of each element. */

/* Element vector from assembled vector (the paper calls it scatter, equation 6); a negative number reads as zero. */
KERNEL scatter(const long size, GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long l = block * BLOCK + t;
        if (l >= size) continue;
        const int node = table[l];
        y[l] = node < 0 ? (real)0 : x[node];
    }
}

/* Assembled vector from element vector through the places of every node (equation 7): no atomics, the same bits every time. */
KERNEL gather(const long nodes, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT places,
              GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long node = block * BLOCK + t;
        if (node >= nodes) continue;
        const int end = offsets[node + 1];
        real sum = 0;
        for (int place = offsets[node]; place < end; ++place) sum += x[places[place]];
        y[node] = sum;
    }
}

/* The same for the nodes that no element has inside; values of nodes inside are in place. */
KERNEL gather_some(const long count, GLOBAL const int *RESTRICT nodes, GLOBAL const int *RESTRICT offsets,
                   GLOBAL const int *RESTRICT places, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long n = block * BLOCK + t;
        if (n >= count) continue;
        const int end = offsets[n + 1];
        real sum = 0;
        for (int place = offsets[n]; place < end; ++place) sum += x[places[place]];
        y[nodes[n]] = sum;
    }
}

/* The whole gather by atomics through the table; `y` must be zero before. */
KERNEL gather_atomic(const long size, GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long l = block * BLOCK + t;
        if (l >= size) continue;
        const int node = table[l];
        if (node >= 0) ATOMIC_ADD_GLOBAL(&y[node], x[l]);
    }
}
