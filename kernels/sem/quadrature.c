/* The mass and the stiffness operator with P = n + 1 nodes and Q = n + 2 points of Gauss along an edge (CEED's BP1 and BP3), a block
 * a group of ELEMENTS hexahedra, from the assembled vector to element vectors.
 *
 * A thread owns a pencil of an element's tile; values are interpolated along ζ, η and ξ, and brought back by the transposed
 * interpolation. Between these BP1 multiplies by the volume; BP3 derives at the points of Gauss, which is exact, applies the metric,
 * and takes the transposed derivatives. Factors hold the weights: [element][component][k][j][i]. A negative number in `table` is a
 * node that reads as zero. */

#define Q2 (Q * Q)
#define P3 (P_NODES * P_NODES * P_NODES)
#define LANES (ELEMENTS * Q2)
#define TILE (ELEMENTS * Q * Q2)
#define MASS 0
#define STIFFNESS 1
#define COMPONENTS (KIND == MASS ? 1 : 6)
#define AT(k, j, i) (((e * Q + (k)) * Q + (j)) * Q + (i))
#define FACTOR(c, k) factors[(((group * ELEMENTS + e) * COMPONENTS + (c)) * Q + (k)) * Q2 + t % Q2]
#define OWN                                                                                                          \
    if (LANES < BLOCK && t >= LANES) continue;                                                                       \
    const int e = t / Q2, b = t % Q2 / Q, a = t % Q;                                                                 \
    (void)a, (void)b

/* in[0 .. P_NODES) to out[0 .. Q), and back */
#define TO_POINTS(in, out)                                                                                           \
    UNROLL                                                                                                           \
    for (int q = 0; q < Q; ++q) {                                                                                    \
        real sum = 0;                                                                                                \
        UNROLL                                                                                                       \
        for (int p = 0; p < P_NODES; ++p) sum += interpolation[q * P_NODES + p] * (in)[p];                           \
        (out)[q] = sum;                                                                                              \
    }
#define TO_NODES(in, out)                                                                                            \
    UNROLL                                                                                                           \
    for (int p = 0; p < P_NODES; ++p) {                                                                              \
        real sum = 0;                                                                                                \
        UNROLL                                                                                                       \
        for (int q = 0; q < Q; ++q) sum += interpolation[q * P_NODES + p] * (in)[q];                                 \
        (out)[p] = sum;                                                                                              \
    }

KERNEL quadrature(const long elements, GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT factors,
                  GLOBAL const real *RESTRICT rule, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts)
{
    OUTER(group);
    SHARED_POOL(real, pool, TILES * ELEMENTS * Q * Q * Q);
    SHARED_POINTER real *tile = pool;
    const real interpolation[Q * P_NODES] = {INTERPOLATION};
#if KIND == STIFFNESS
    SHARED_POINTER real *flux_i = pool + TILE, *flux_j = pool + 2 * TILE;
    const real derivative[Q * Q] = {DERIVATIVE};
    PRIVATE_ARRAY(real, along, Q);
#endif
    INNER(t) {
        OWN;
        if (a >= P_NODES || b >= P_NODES) continue;
        real in[P_NODES], out[Q];
        const long element = group * ELEMENTS + e;
        UNROLL
        for (int k = 0; k < P_NODES; ++k) {
            const int node = element < elements ? table[element * P3 + (k * P_NODES + b) * P_NODES + a] : -1;
            in[k] = node < 0 ? (real)0 : x[node];
        }
        TO_POINTS(in, out)
        UNROLL
        for (int k = 0; k < Q; ++k) tile[AT(k, b, a)] = out[k];
    }
    BARRIER;
    INNER(t) {
        OWN;
        if (a >= P_NODES) continue;
        real in[P_NODES], out[Q];
        UNROLL
        for (int j = 0; j < P_NODES; ++j) in[j] = tile[AT(b, j, a)];
        TO_POINTS(in, out)
        UNROLL
        for (int j = 0; j < Q; ++j) tile[AT(b, j, a)] = out[j];
    }
    BARRIER;
    INNER(t) {
        OWN;
        real in[P_NODES], out[Q];
        UNROLL
        for (int i = 0; i < P_NODES; ++i) in[i] = tile[AT(b, a, i)];
        TO_POINTS(in, out)
        UNROLL
        for (int i = 0; i < Q; ++i) tile[AT(b, a, i)] = out[i];
    }
    BARRIER;
#if KIND == MASS
    INNER(t) {
        OWN;
        UNROLL
        for (int k = 0; k < Q; ++k) tile[AT(k, b, a)] *= group * ELEMENTS + e < elements ? FACTOR(0, k) : 0;
    }
    BARRIER;
#else
    INNER(t) {
        OWN;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            real u_i = 0, u_j = 0, u_k = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) {
                u_i += rule[a * Q + m] * tile[AT(k, b, m)];
                u_j += rule[b * Q + m] * tile[AT(k, m, a)];
                u_k += derivative[k * Q + m] * tile[AT(m, b, a)];
            }
            const int is_there = group * ELEMENTS + e < elements;
            real g[6];
            UNROLL
            for (int c = 0; c < 6; ++c) g[c] = is_there ? FACTOR(c, k) : (real)0;
            flux_i[AT(k, b, a)] = g[0] * u_i + g[1] * u_j + g[2] * u_k;
            flux_j[AT(k, b, a)] = g[1] * u_i + g[3] * u_j + g[4] * u_k;
            P(along)[k] = g[2] * u_i + g[4] * u_j + g[5] * u_k;
        }
    }
    BARRIER;
    INNER(t) {
        OWN;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            real sum = 0;
            UNROLL
            for (int m = 0; m < Q; ++m) {
                sum += rule[m * Q + a] * flux_i[AT(k, b, m)];
                sum += rule[m * Q + b] * flux_j[AT(k, m, a)];
                sum += derivative[m * Q + k] * P(along)[m];
            }
            tile[AT(k, b, a)] = sum;
        }
    }
    BARRIER;
#endif
    INNER(t) {
        OWN;
        real in[Q], out[P_NODES];
        UNROLL
        for (int i = 0; i < Q; ++i) in[i] = tile[AT(b, a, i)];
        TO_NODES(in, out)
        UNROLL
        for (int i = 0; i < P_NODES; ++i) tile[AT(b, a, i)] = out[i];
    }
    BARRIER;
    INNER(t) {
        OWN;
        if (a >= P_NODES) continue;
        real in[Q], out[P_NODES];
        UNROLL
        for (int j = 0; j < Q; ++j) in[j] = tile[AT(b, j, a)];
        TO_NODES(in, out)
        UNROLL
        for (int j = 0; j < P_NODES; ++j) tile[AT(b, j, a)] = out[j];
    }
    BARRIER;
    INNER(t) {
        OWN;
        if (a >= P_NODES || b >= P_NODES || group * ELEMENTS + e >= elements) continue;
        real in[Q], out[P_NODES];
        UNROLL
        for (int k = 0; k < Q; ++k) in[k] = tile[AT(k, b, a)];
        TO_NODES(in, out)
        UNROLL
        for (int k = 0; k < P_NODES; ++k) parts[(group * ELEMENTS + e) * P3 + (k * P_NODES + b) * P_NODES + a] = out[k];
    }
}
