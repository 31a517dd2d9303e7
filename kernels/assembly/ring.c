/* Assembly by edges: each block owns the matrix rows of one patch of nodes; a thread computes one off-diagonal entry whole.
 *
 * The tetrahedra around an edge (i, j) form a ring, and consecutive ones share a face. With e = x_j - x_i, and a and b the ring's nodes
 * relative to x_i, a tetrahedron of six volumes v = b·(e × a) adds to the entry
 *
 *     sigma ((a·b - a·e) (a·b - b·e) - (a·a - a·e) (b·b - b·e)) / (6 v)  +  lambda v / 120,
 *
 * Lagrange's identity for the products of its face normals. Rows of the stiffness sum to zero and every element at a node has three
 * edges there, so diagonal and right-hand side are row sums. No atomics, nothing to initialise, no element matrix is stored, and
 * the same bits every time.
 *
 * A ring is a list of local nodes (three times their index), four to a word; BREAK marks one that starts a chain: the first, and those
 * behind a gap at the boundary. Lists are sliced: 32 edges of a patch, sorted by length, interleaved, and padded. */

#define SLICE 32
#define NOWHERE 65535
#define BREAK 32768
#define PADDING 65535
#define HEADER 8

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
    PRIVATE(int, begin);
    PRIVATE(int, end);
    PRIVATE(int, place);
    GLOBAL const int *header = headers + HEADER * patch;
    const int first = header[0], owned = header[1], halo_first = header[2], used = header[3];
    const int entry_first = header[4], entries = header[5], slice_first = header[6], slots = header[7];
    SHARED_POINTER real *staged = pool; /* of each entry of the rows its value and six times the volume around its edge */
    SHARED_POINTER real *nodes = staged + 2 * entries;
    SHARED_POINTER int *slices = (SHARED_POINTER int *)(nodes + 3 * used); /* first word of each slice */

    INNER(t) {
        if (t >= owned) continue; /* a thread a row: the host sees to it that a block has as many */
        P(begin) = row_offsets[first + t] - entry_first;
        P(end) = row_offsets[first + t + 1] - entry_first;
        P(place) = diagonal[first + t] - entry_first;
    }
    INNER_FOR(i, slots / SLICE + 1) {
        slices[i] = slice_offsets[slice_first + i];
    }
    INNER_FOR(i, used) {
        const int node = i < owned ? first + i : halo_nodes[halo_first + i - owned];
        nodes[3 * i] = x[node];
        nodes[3 * i + 1] = y[node];
        nodes[3 * i + 2] = z[node];
    }
    BARRIER;

    const real mass = lambda * ((real)1 / 120);
    INNER_FOR(slot, slots) {
        const long edge = edges[SLICE * (long)slice_first + slot];
        int k = slices[slot / SLICE] + slot % SLICE;
        const int stop = slices[slot / SLICE + 1];
        long next = k < stop ? ring_words[k] : 0;
        const int i = edge & 65535, j = (edge >> 16) & 65535;
        const real x0 = nodes[i], y0 = nodes[i + 1], z0 = nodes[i + 2];
        const real ex = nodes[j] - x0, ey = nodes[j + 1] - y0, ez = nodes[j + 2] - z0;
        real ax = 0, ay = 0, az = 0, px = 0, py = 0, pz = 0, ae = 0, aa = 0, stiffness = 0, volume = 0;
        for (; k < stop; k += SLICE) {
            const long word = next;
            if (k + SLICE < stop) next = ring_words[k + SLICE];
            UNROLL
            for (int part = 0; part < 4; ++part) {
                const int entry = (int)(word >> (16 * part)) & 65535;
                if (entry == PADDING) break;
                const int node = entry & (BREAK - 1);
                const real bx = nodes[node] - x0, by = nodes[node + 1] - y0, bz = nodes[node + 2] - z0;
                const real be = bx * ex + by * ey + bz * ez;
                const real bb = bx * bx + by * by + bz * bz - be;
                if (!(entry & BREAK)) {
                    const real ab = ax * bx + ay * by + az * bz;
                    const real volume6 = px * bx + py * by + pz * bz;
                    const real product = (ab - ae) * (ab - be) - aa * bb;
#if HAS_CONDUCTIVITY
                    const real sigma = conductivity[ring_elements[4 * (long)k + part]];
                    stiffness += sigma * product * RECIPROCAL(volume6);
#else
                    stiffness += product * RECIPROCAL(volume6);
#endif
                    volume += volume6;
                }
                ax = bx, ay = by, az = bz, ae = be, aa = bb;
                px = ey * bz - ez * by, py = ez * bx - ex * bz, pz = ex * by - ey * bx;
            }
        }
        const real entry = stiffness * ((real)1 / 6) + volume * mass;
        const int upper = (edge >> 32) & 65535, lower = (edge >> 48) & 65535;
        if (upper != NOWHERE) staged[2 * upper] = entry, staged[2 * upper + 1] = volume;
        if (lower != NOWHERE) staged[2 * lower] = entry, staged[2 * lower + 1] = volume;
    }
    BARRIER;

    INNER(t) {
        if (t >= owned) continue;
        staged[2 * P(place)] = staged[2 * P(place) + 1] = 0;
        real sum = 0, volume = 0;
        for (int k = P(begin); k < P(end); ++k) {
            sum += staged[2 * k];
            volume += staged[2 * k + 1];
        }
        const real lumped = volume * ((real)1 / 72); /* the integral of the node's basis function */
        staged[2 * P(place)] = lambda * lumped - sum;
        if (f) {
            real load = 0;
            for (int k = P(begin); k < P(end); ++k) load += staged[2 * k + 1] * f[column_indices[entry_first + k]];
            rhs[first + t] = load * ((real)1 / 120) + f[first + t] * volume * ((real)1 / 180);
        } else {
            rhs[first + t] = lumped;
        }
    }
    BARRIER;

    INNER_FOR(i, entries) {
        values[entry_first + i] = staged[2 * i];
    }
}
