/* Between the assembled vectors and the coarse space, the trilinear functions: a block a group of ELEMENTS elements, a thread a pencil
 * of Q nodes along ζ. In `owned`, laid out slab after slab, each node that is not fixed stands once, with the first element that has it;
 * -1 elsewhere. RISING and `points` are (1 + t) / 2 at the GLL points. */

#define Q2 (Q * Q)
#define LANES (ELEMENTS * Q2)
#define PLACE(k) ((group * Q + (k)) * LANES + t)

/* parts[element][vertex] = the values of the vertex's function at the element's own nodes, times x there, summed. */
KERNEL restrict_local(GLOBAL const int *RESTRICT owned, GLOBAL const real *RESTRICT points, GLOBAL const outer *RESTRICT x,
                      GLOBAL real *RESTRICT parts)
{
    OUTER(group);
    SHARED real lower[LANES];
    SHARED real upper[LANES];
    const real rising[Q] = {RISING};
    INNER(t) {
        if (LANES < BLOCK && t >= LANES) continue;
        real low = 0, high = 0;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int node = owned[PLACE(k)];
            const real value = node < 0 ? (real)0 : (real)x[node];
            low += (1 - rising[k]) * value;
            high += rising[k] * value;
        }
        lower[t] = low;
        upper[t] = high;
    }
    BARRIER;
    INNER_FOR(v, 8 * ELEMENTS) {
        const int e = v / 8, a = v % 2, b = v / 2 % 2, c = v / 4 % 2;
        SHARED_POINTER const real *plane = c ? upper + e * Q2 : lower + e * Q2;
        real sum = 0;
        for (int j = 0; j < Q; ++j) {
            real row = 0;
            UNROLL
            for (int i = 0; i < Q; ++i) row += (a ? rising[i] : 1 - rising[i]) * plane[j * Q + i];
            sum += (b ? points[j] : 1 - points[j]) * row;
        }
        parts[group * (8 * ELEMENTS) + v] = sum;
    }
}

/* y += the coarse function at each node. A vertex of `vertices` below zero is fixed. */
KERNEL prolong(GLOBAL const int *RESTRICT owned, GLOBAL const real *RESTRICT points, GLOBAL const int *RESTRICT vertices,
               GLOBAL const real *RESTRICT x, GLOBAL outer *RESTRICT y)
{
    OUTER(group);
    SHARED real corners[8 * ELEMENTS];
    const real rising[Q] = {RISING};
    INNER_FOR(v, 8 * ELEMENTS) {
        const int vertex = vertices[group * (8 * ELEMENTS) + v];
        corners[v] = vertex < 0 ? (real)0 : x[vertex];
    }
    BARRIER;
    INNER(t) {
        if (LANES < BLOCK && t >= LANES) continue;
        SHARED_POINTER const real *z = corners + t / Q2 * 8;
        const real u = points[t % Q], v = points[t % Q2 / Q];
        const real low = (1 - v) * ((1 - u) * z[0] + u * z[1]) + v * ((1 - u) * z[2] + u * z[3]);
        const real high = (1 - v) * ((1 - u) * z[4] + u * z[5]) + v * ((1 - u) * z[6] + u * z[7]);
        int node[Q];
        outer before[Q]; /* all loads first: none may pass a store to y */
        UNROLL
        for (int k = 0; k < Q; ++k) {
            node[k] = owned[PLACE(k)];
            before[k] = node[k] < 0 ? (outer)0 : y[node[k]];
        }
        UNROLL
        for (int k = 0; k < Q; ++k) {
            if (node[k] >= 0) y[node[k]] = before[k] + (outer)(low + rising[k] * (high - low));
        }
    }
}
