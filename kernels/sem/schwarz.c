/* The solves on the overlapping subdomains by fast diagonalisation, equation 11 of the paper, a block a group of ELEMENTS subdomains.
 *
 * With the modes S of the pencil, Sᵀ M S = 1 and Sᵀ K S = Λ, the inverse of the box is S⊗S⊗S (a_x λ_i + a_y λ_j + a_z λ_k + a_0)⁻¹
 * Sᵀ⊗Sᵀ⊗Sᵀ. (As printed, V's two sides stand for different matrices, and M⁻¹ is apart; so written it is seen to be symmetric.) The
 * pencil is its own mirror image, so modes are even or odd: sums and differences of mirrored values halve the products.
 *
 * A thread holds a pencil of Q nodes in registers, and the modes are constants of the code; a tile in shared memory turns pencils
 * along ζ into those along η and ξ, and back. Nodes lie slab after slab, [group][k][element][j][i]; in `table` a negative number is a
 * node that is not there. x goes to parts; or with ADDS to the assembled vector `parts`, which is zero before, by atomics. SCALED: what
 * goes in and what comes out is multiplied by the node's weight. x is of type `outer`, parts with ADDS, too. */

#define Q2 (Q * Q)
#define LANES (ELEMENTS * Q2)
#define HALF (Q / 2)
#define EVEN (Q - HALF) /* modes 0 to EVEN - 1 are even; of an odd number of nodes the one in the middle is of these alone */
#define AT(k, j, i) (((e * Q + (k)) * Q + (j)) * PITCH + (i))

#define TO_MODES(values, modes)                                                                                       \
    do {                                                                                                             \
        real sums[EVEN], gaps[EVEN];                                                                                 \
        UNROLL                                                                                                       \
        for (int m = 0; m < HALF; ++m) {                                                                             \
            sums[m] = values[m] + values[Q - 1 - m];                                                                 \
            gaps[m] = values[m] - values[Q - 1 - m];                                                                 \
        }                                                                                                            \
        if (Q % 2) sums[EVEN - 1] = values[HALF];                                                                    \
        UNROLL                                                                                                       \
        for (int d = 0; d < Q; ++d) {                                                                                \
            real sum = 0;                                                                                            \
            UNROLL                                                                                                   \
            for (int m = 0; m < (d < EVEN ? EVEN : HALF); ++m) sum += basis[m * Q + d] * (d < EVEN ? sums[m] : gaps[m]); \
            modes[d] = sum;                                                                                          \
        }                                                                                                            \
    } while (0)

#define TO_NODES(modes, values)                                                                                       \
    do {                                                                                                             \
        UNROLL                                                                                                       \
        for (int m = 0; m < EVEN; ++m) {                                                                             \
            real even = 0, odd = 0;                                                                                  \
            UNROLL                                                                                                   \
            for (int d = 0; d < EVEN; ++d) even += basis[m * Q + d] * modes[d];                                      \
            UNROLL                                                                                                   \
            for (int d = EVEN; d < Q; ++d) odd += basis[m * Q + d] * modes[d]; /* zero in the middle */              \
            values[Q - 1 - m] = even - odd;                                                                          \
            values[m] = even + odd;                                                                                  \
        }                                                                                                            \
    } while (0)

#define PENCILS(along)                                                                                               \
    if (LANES < BLOCK && t >= LANES) continue;                                                                       \
    const int e = t / Q2, along = t % Q2 / Q;                                                                        \
    real values[Q], modes[Q]

KERNEL schwarz(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT boxes, GLOBAL const real *RESTRICT eigenvalues,
               GLOBAL const outer *RESTRICT x, GLOBAL added *RESTRICT parts, GLOBAL const real *RESTRICT weights)
{
    OUTER(group);
    SHARED_POOL(real, tile, ELEMENTS * Q2 * PITCH);
#if ADDS /* read once, and kept for the way back */
    PRIVATE_ARRAY(int, nodes, Q);
#if SCALED
    PRIVATE_ARRAY(real, scales, Q);
#endif
#endif
    const real basis[Q * Q] = {BASIS};
    INNER(t) {
        PENCILS(j);
        const int i = t % Q;
        UNROLL
        for (int k = 0; k < Q; ++k) {
            const int node = table[(group * Q + k) * LANES + t];
            values[k] = node < 0 ? (real)0 : (real)x[node];
#if SCALED
            const real scale = node < 0 ? (real)0 : weights[node];
            values[k] *= scale;
            P(scales)[k] = scale;
#endif
#if ADDS
            P(nodes)[k] = node;
#endif
        }
        TO_MODES(values, modes);
        UNROLL
        for (int k = 0; k < Q; ++k) tile[AT(k, j, i)] = modes[k];
    }
    BARRIER;
    INNER(t) {
        PENCILS(k);
        const int i = t % Q;
        UNROLL
        for (int j = 0; j < Q; ++j) values[j] = tile[AT(k, j, i)];
        TO_MODES(values, modes);
        UNROLL
        for (int j = 0; j < Q; ++j) tile[AT(k, j, i)] = modes[j];
    }
    BARRIER;
    INNER(t) {
        PENCILS(k);
        const int j = t % Q;
        UNROLL
        for (int i = 0; i < Q; ++i) values[i] = tile[AT(k, j, i)];
        TO_MODES(values, modes);
        GLOBAL const real *box = boxes + 4 * (group * ELEMENTS + e);
        const real across = box[1] * eigenvalues[j] + box[2] * eigenvalues[k] + box[3];
        UNROLL
        for (int i = 0; i < Q; ++i) modes[i] *= RECIPROCAL(box[0] * eigenvalues[i] + across);
        TO_NODES(modes, values);
        UNROLL
        for (int i = 0; i < Q; ++i) tile[AT(k, j, i)] = values[i];
    }
    BARRIER;
    INNER(t) {
        PENCILS(k);
        const int i = t % Q;
        UNROLL
        for (int j = 0; j < Q; ++j) modes[j] = tile[AT(k, j, i)];
        TO_NODES(modes, values);
        UNROLL
        for (int j = 0; j < Q; ++j) tile[AT(k, j, i)] = values[j];
    }
    BARRIER;
    INNER(t) {
        PENCILS(j);
        const int i = t % Q;
        UNROLL
        for (int k = 0; k < Q; ++k) modes[k] = tile[AT(k, j, i)];
        TO_NODES(modes, values);
        UNROLL
        for (int k = 0; k < Q; ++k) {
#if SCALED
            values[k] *= P(scales)[k];
#endif
#if ADDS
            if (P(nodes)[k] >= 0) ATOMIC_ADD_GLOBAL(&parts[P(nodes)[k]], (added)values[k]);
#else
            parts[(group * Q + k) * LANES + t] = values[k];
#endif
        }
    }
}
