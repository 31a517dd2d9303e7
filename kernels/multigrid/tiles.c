/* Several steps of a smoother in one launch, and what comes before or after them in a cycle: on levels whose launches
 * take longer than their work.
 *
 * A block has a tile: rows of its own, layer 0, and around it layer after layer of rows that the one before reads. It
 * takes steps on all of them, a layer less each time, so that its own rows are right after the last. Rows of a tile are
 * numbered within it, layer after layer, and their columns are such numbers, in 16 bits. Matrices of a tile are stored by
 * columns, as wide as their longest row; padding has the value 0 and the column 0.
 *
 * tiles: of each tile FIELDS numbers, its place in `rows`, its rows that have entries, and place and width of A's; place
 * and width of P's; coarse rows, their place, and place and width of their entries of R; then how many rows there are up
 * to each layer. */

#define FIELDS 10
/* Where steps start from. */
#define ZERO 0
#define GIVEN 1
#define KNOWN 2 /* x whose defect is given */
#define CORRECTED 3 /* x + P times what is given */

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll 3")
#else
#define UNROLLED
#endif

#define EACH(i, n) INNER(t) for (int i = t; i < (n); i += BLOCK)
/* sum of a row of A times a tile's x. */
#define ROW(sum, i, x)                                                                                               \
    real sum = 0;                                                                                                    \
    UNROLLED for (int k = 0; k < width; ++k) sum += tile_values[k * stride + (i)] * (x)[tile_columns[k * stride + (i)]]

KERNEL tile_steps(const int fields, const int start, int layer, const int first, const int last, const int restricts,
                  GLOBAL const int *RESTRICT tiles, GLOBAL const int *RESTRICT rows,
                  GLOBAL const ushort *RESTRICT columns, GLOBAL const real *RESTRICT values,
                  GLOBAL const int *RESTRICT above_columns, GLOBAL const real *RESTRICT above_values,
                  GLOBAL const int *RESTRICT coarse_rows, GLOBAL const ushort *RESTRICT coarse_columns,
                  GLOBAL const real *RESTRICT coarse_values, GLOBAL const real *RESTRICT coefficients,
                  GLOBAL const real *RESTRICT inverse_diagonal, GLOBAL const real *RESTRICT b,
                  GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT beside, GLOBAL const real *RESTRICT before,
                  GLOBAL real *RESTRICT out, GLOBAL real *RESTRICT after, GLOBAL real *RESTRICT b_below)
{
    OUTER(block);
    SHARED real one[MOST];
    SHARED real other[MOST];
    SHARED real rhs[MOST];
    SHARED real scale[MOST];
#if MEMORY
    SHARED real memory[MOST];
#endif
    GLOBAL const int *here = tiles + block * fields;
    GLOBAL const int *own = rows + here[0];
    const int stride = here[1], width = here[3];
    GLOBAL const ushort *tile_columns = columns + here[2];
    GLOBAL const real *tile_values = values + here[2];
    SHARED_POINTER real *from = one;
    SHARED_POINTER real *to = other;
    const real at_first = first < last ? coefficients[2 * first] : 0;
    EACH(i, here[FIELDS + layer]) {
        const int row = own[i];
        const real given = b[row], factor = inverse_diagonal[row];
        real now = start == ZERO ? 0 : x[row], move = 0;
        if (start == ZERO) move = at_first * factor * given;
        if (start == KNOWN) move = at_first * factor * beside[row];
        if (start == CORRECTED)
            for (int k = 0; k < here[5]; ++k) {
                const int place = here[4] + k * stride + i;
                now += above_values[place] * beside[above_columns[place]];
            }
#if MEMORY
        memory[i] = start == GIVEN && before ? before[row] : move;
#endif
        rhs[i] = given;
        scale[i] = factor;
        one[i] = now + move;
    }
    BARRIER;
    for (int step = first + (start == ZERO || start == KNOWN); step < last; ++step) {
        const real now = coefficients[2 * step];
#if MEMORY
        const real then = coefficients[2 * step + 1];
#endif
        layer -= 1;
        EACH(i, here[FIELDS + layer]) {
            ROW(sum, i, from);
            real move = now * scale[i] * (rhs[i] - sum);
#if MEMORY
            if (then != 0) move += then * memory[i];
            memory[i] = move;
#endif
            to[i] = from[i] + move;
        }
        BARRIER;
        SHARED_POINTER real *reached = to;
        to = from;
        from = reached;
    }
    EACH(i, here[FIELDS]) {
        out[own[i]] = from[i];
#if MEMORY
        if (after) after[own[i]] = memory[i];
#endif
    }
    if (restricts) {
        EACH(i, here[FIELDS + layer - 1]) {
            ROW(sum, i, from);
            to[i] = rhs[i] - sum;
        }
        BARRIER;
        EACH(c, here[6]) {
            real sum = 0;
            for (int k = 0; k < here[9]; ++k) {
                const int place = here[8] + k * here[6] + c;
                sum += coarse_values[place] * to[coarse_columns[place]];
            }
            b_below[coarse_rows[here[7] + c]] = sum;
        }
    }
}
