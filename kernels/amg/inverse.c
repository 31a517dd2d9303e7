/* The inverse of a dense symmetric positive definite matrix by block Gauss-Jordan steps without pivoting, a launch each.
 *
 * A block has a tile, and each inverts the step's pivot tile for itself: that takes less than to wait for it in another
 * launch. Beyond the last row the matrix is taken for the identity. */

#define TILE 32
#define MINE TILE * TILE / BLOCK
#define EACH(m, i, j)                                                                                                \
    for (int m = 0, i = t / TILE, j = t % TILE; m < MINE; ++m, i += BLOCK / TILE)

#define LOAD(tile, row, column)                                                                                      \
    INNER(t) {                                                                                                       \
        EACH(m, i, j) {                                                                                              \
            const long r = TILE * (row) + i, c = TILE * (column) + j;                                                \
            tile[TILE * i + j] = r < n && c < n ? before[r * n + c] : r == c;                                        \
        }                                                                                                            \
    }

/* One step of the sweep over tiles. `least` becomes the least so far of what Cholesky's factor has on its diagonal,
 * squared, over the matrix's; no number where one of them is none. */
KERNEL sweep(const int n, const int tiles, const int step, GLOBAL const double *RESTRICT given,
             GLOBAL const double *RESTRICT before, GLOBAL double *RESTRICT after, GLOBAL double *RESTRICT least)
{
    OUTER(block);
    SHARED double one[TILE * TILE], two[TILE * TILE], left[TILE * TILE], above[TILE * TILE], pivots[TILE];
    const int row = (int)block / tiles, column = (int)block % tiles;
    LOAD(one, step, step)
    LOAD(left, row, step)
    if (column == step) {
        INNER(t) {
            EACH(m, i, j) above[TILE * i + j] = i == j;
        }
    } else {
        LOAD(above, step, column)
    }
    BARRIER;
    for (int s = 0; s < TILE; ++s) {
        SHARED_POINTER const double *from = s % 2 ? two : one;
        SHARED_POINTER double *to = s % 2 ? one : two;
        INNER(t) {
            const double pivot = from[TILE * s + s], inverse = 1 / pivot;
            if (t == 0) pivots[s] = pivot;
            EACH(m, i, j) {
                const double across = i == s ? 0 : from[TILE * i + s], down = (j == s ? 1 : from[TILE * s + j]) * inverse;
                to[TILE * i + j] = i == s ? down : (j == s ? 0 : from[TILE * i + j]) - across * down;
            }
        }
        BARRIER;
    }
    INNER(t) {
        const long place = TILE * step + t;
        if (t < TILE) pivots[t] = place < n ? pivots[t] / given[place * n + place] : 1;
    }
    BARRIER;
    /* `one` has the inverse of the pivot tile, as TILE is even. */
    INNER(t) {
        if (t == 0 && row == step && column == step) {
            double found = step ? *least : pivots[0];
            for (int s = 0; s < TILE; ++s)
                if (!(pivots[s] >= found) && found == found) found = pivots[s];
            *least = found;
        }
        EACH(m, i, j) {
            double sum = 0;
            for (int k = 0; k < TILE; ++k) sum += one[TILE * i + k] * above[TILE * k + j];
            two[TILE * i + j] = sum;
        }
    }
    BARRIER;
    INNER(t) {
        EACH(m, i, j) {
            const long r = TILE * row + i, c = TILE * column + j;
            if (r >= n || c >= n) continue;
            double found = two[TILE * i + j];
            if (row != step) {
                found = column == step ? 0 : before[r * n + c];
                for (int k = 0; k < TILE; ++k) found -= left[TILE * i + k] * two[TILE * k + j];
            }
            after[r * n + c] = found;
        }
    }
}

/* The mean of a matrix and its transpose. */
KERNEL symmetrise(const int n, GLOBAL const double *RESTRICT matrix, GLOBAL double *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long at = block * BLOCK + t;
        if (at >= (long)n * n) continue;
        result[at] = (matrix[at] + matrix[at % n * n + at / n]) / 2;
    }
}
