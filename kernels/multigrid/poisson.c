/* Poisson's element matrices and the rows that they add up to, on a processor. LANES elements stand side by side, and a row adds up its
 * elements' parts in their order, however many threads there are: the same bits every time. DIMENSION, LOCAL unknowns an element and POINTS of
 * its rule are known when this is built. */

#define LANES 8
#define MOST (LOCAL * SHARED_BY) /* columns of a row */
#define AHEAD 8 /* rows whose elements are asked for before they are read: in the order of nodes they are anywhere */
#define WIDE ((LOCAL + 3) / 4 * 4) /* whole vectors of an element's columns */

/* Matrices (elements, LOCAL, LOCAL) and loads (elements, LOCAL), see assembly._local. `slopes` are (POINTS, LOCAL, DIMENSION). */
KERNEL integrate(const int elements, GLOBAL const int *RESTRICT nodes, GLOBAL const double *RESTRICT points,
                 GLOBAL const double *RESTRICT shapes, GLOBAL const double *RESTRICT slopes,
                 GLOBAL const double *RESTRICT weights, const double source, GLOBAL double *RESTRICT matrices,
                 GLOBAL double *RESTRICT loads)
{
    OUTER(group);
    double corner[LOCAL][DIMENSION][LANES], load[LOCAL][LANES], sum[LOCAL][LOCAL][LANES];
    for (int l = 0; l < LANES; ++l) {
        const long element = group * LANES + l < elements ? group * LANES + l : elements - 1;
        for (int a = 0; a < LOCAL; ++a)
            for (int i = 0; i < DIMENSION; ++i)
                corner[a][i][l] = points[(long)DIMENSION * nodes[element * LOCAL + a] + i];
    }
    for (int a = 0; a < LOCAL; ++a)
        for (int l = 0; l < LANES; ++l) {
            load[a][l] = 0;
            for (int b = 0; b < LOCAL; ++b) sum[a][b][l] = 0;
        }
    for (int q = 0; q < POINTS; ++q) {
        GLOBAL const double *const slope = slopes + q * LOCAL * DIMENSION;
        double j[DIMENSION][DIMENSION][LANES], inverse[DIMENSION][DIMENSION][LANES], factor[LANES], size[LANES];
        double gradient[LOCAL][DIMENSION][LANES];
        for (int i = 0; i < DIMENSION; ++i)
            for (int k = 0; k < DIMENSION; ++k) {
                for (int l = 0; l < LANES; ++l) j[i][k][l] = 0;
                for (int a = 0; a < LOCAL; ++a)
                    for (int l = 0; l < LANES; ++l) j[i][k][l] += corner[a][i][l] * slope[DIMENSION * a + k];
            }
        for (int l = 0; l < LANES; ++l) { /* the adjugate: the inverse times the determinant */
#if DIMENSION == 2
            inverse[0][0][l] = j[1][1][l], inverse[0][1][l] = -j[0][1][l];
            inverse[1][0][l] = -j[1][0][l], inverse[1][1][l] = j[0][0][l];
#else
            for (int k = 0; k < 3; ++k)
                for (int i = 0; i < 3; ++i) {
                    const int b = (k + 1) % 3, c = (k + 2) % 3, next = (i + 1) % 3, last = (i + 2) % 3;
                    inverse[k][i][l] = j[next][b][l] * j[last][c][l] - j[last][b][l] * j[next][c][l];
                }
#endif
            double determinant = 0;
            for (int i = 0; i < DIMENSION; ++i) determinant += inverse[0][i][l] * j[i][0][l];
            determinant = determinant < 0 ? -determinant : determinant;
            factor[l] = weights[q] / determinant;
            size[l] = weights[q] * determinant * source;
        }
        for (int a = 0; a < LOCAL; ++a)
            for (int i = 0; i < DIMENSION; ++i) {
                for (int l = 0; l < LANES; ++l) gradient[a][i][l] = 0;
                for (int k = 0; k < DIMENSION; ++k)
                    for (int l = 0; l < LANES; ++l) gradient[a][i][l] += slope[DIMENSION * a + k] * inverse[k][i][l];
            }
        for (int a = 0; a < LOCAL; ++a) {
            double scaled[DIMENSION][LANES];
            for (int i = 0; i < DIMENSION; ++i)
                for (int l = 0; l < LANES; ++l) scaled[i][l] = factor[l] * gradient[a][i][l];
            for (int l = 0; l < LANES; ++l) load[a][l] += size[l] * shapes[q * LOCAL + a];
            for (int b = 0; b <= a; ++b)
                for (int i = 0; i < DIMENSION; ++i)
                    for (int l = 0; l < LANES; ++l) sum[a][b][l] += scaled[i][l] * gradient[b][i][l];
        }
    }
    for (int l = 0; l < LANES && group * LANES + l < elements; ++l) {
        const long first = (group * LANES + l) * LOCAL;
        for (int a = 0; a < LOCAL; ++a) {
            loads[first + a] = load[a][l];
            for (int b = 0; b < LOCAL; ++b) matrices[(first + a) * LOCAL + b] = a < b ? sum[b][a][l] : sum[a][b][l];
        }
    }
}

/* Rows of a part, sorted: how long they are, or, once `columns` are there, what they hold. `places` are where a row's node stands in `nodes`;
 * a row of the boundary is a unit row. */
KERNEL gather(const int rows, const int parts, GLOBAL const int *RESTRICT nodes, GLOBAL const uchar *RESTRICT fixed,
              GLOBAL const int *RESTRICT first, GLOBAL const int *RESTRICT places,
              GLOBAL const double *RESTRICT matrices, GLOBAL const double *RESTRICT loads,
              GLOBAL int *RESTRICT lengths, GLOBAL const int *RESTRICT offsets, GLOBAL int *RESTRICT columns,
              GLOBAL double *RESTRICT values, GLOBAL double *RESTRICT rhs)
{
    OUTER(part);
    int found[MOST + LANES]; /* columns as they are met */
    double sums[MOST];
    for (int row = (int)((long)rows * part / parts); row < (int)((long)rows * (part + 1) / parts); ++row) {
        int count = 0;
        double load = 0;
        if (row + AHEAD < rows)
            for (int p = first[row + AHEAD]; p < first[row + AHEAD + 1]; ++p) {
                PREFETCH(nodes + places[p] / LOCAL * LOCAL);
                if (columns) PREFETCH(matrices + (long)places[p] * LOCAL), PREFETCH(loads + places[p]);
            }
        if (fixed[row]) {
            found[0] = row, sums[0] = 1, count = 1;
        } else {
            for (int p = first[row]; p < first[row + 1]; ++p) {
                const long place = places[p], begin = place / LOCAL * LOCAL;
                int column[WIDE], at[WIDE];
                for (int b = 0; b < WIDE; ++b) column[b] = b < LOCAL ? nodes[begin + b] : -1, at[b] = -1;
                for (int f = 0; f < count; ++f)
                    for (int b = 0; b < WIDE; ++b) at[b] = found[f] == column[b] ? f : at[b];
                for (int b = 0; b < LOCAL; ++b) { /* an element has no column twice */
                    const int is_new = at[b] < 0, slot = is_new ? count : at[b];
                    found[slot] = column[b], count += is_new;
                    if (columns) sums[slot] = (is_new ? 0 : sums[slot]) + matrices[place * LOCAL + b];
                }
                if (columns) load += loads[place];
            }
        }
        if (!columns) {
            lengths[row] = count;
            continue;
        }
        for (int l = 0; l < LANES; ++l) found[count + l] = 0;
        for (int k = 0; k < count; k += LANES) { /* a column's place is the number of smaller ones: without branches */
            int smaller[LANES] = {0};
            for (int f = 0; f < count; ++f)
                for (int l = 0; l < LANES; ++l) smaller[l] += found[f] < found[k + l];
            for (int l = 0; l < LANES && k + l < count; ++l) {
                columns[offsets[row] + smaller[l]] = found[k + l];
                values[offsets[row] + smaller[l]] = sums[k + l];
            }
        }
        rhs[row] = load;
    }
}
