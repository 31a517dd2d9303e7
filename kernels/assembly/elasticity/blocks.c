/* Assembly of linear elasticity, a thread a block of d x d entries of the matrix: no atomics, nothing to initialise, and the
 * same bits every time.
 *
 * A thread goes through the elements around its row's node that have its column's node too, and sums the products of the
 * gradients of their two shape functions, G_ab = sum of w det(J) (d_a phi_i) (d_b phi_j) over elements and quadrature points.
 * For one isotropic material the block is lambda G + mu G^T + mu tr(G) I, once at the end. `metrics` finds the inverse Jacobian
 * and w det(J) of each point before; NODES x NODES threads read them, from cache.
 *
 * DIM, NODES and POINTS are the element's. */

#define METRIC (DIM * DIM + 1)

KERNEL metrics(const long elements, GLOBAL const double *RESTRICT points, GLOBAL const int *RESTRICT cells,
               GLOBAL const double *RESTRICT gradients, GLOBAL const double *RESTRICT weights, GLOBAL double *RESTRICT metric)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= elements) continue;
        double corner[NODES * DIM];
        for (int k = 0; k < NODES; ++k)
            for (int a = 0; a < DIM; ++a) corner[k * DIM + a] = points[(long)cells[e * NODES + k] * DIM + a];
        for (int q = 0; q < POINTS; ++q) {
            double j[DIM * DIM]; /* j[a * DIM + r] = d x_a / d xi_r */
            for (int i = 0; i < DIM * DIM; ++i) j[i] = 0;
            for (int k = 0; k < NODES; ++k)
                for (int a = 0; a < DIM; ++a)
                    for (int r = 0; r < DIM; ++r)
                        j[a * DIM + r] += corner[k * DIM + a] * gradients[(q * NODES + k) * DIM + r];
            GLOBAL double *RESTRICT m = metric + (e * POINTS + q) * METRIC; /* m[r * DIM + a] = d xi_r / d x_a */
#if DIM == 2
            const double det = j[0] * j[3] - j[1] * j[2], inverse = 1 / det;
            m[0] = inverse * j[3];
            m[1] = -inverse * j[1];
            m[2] = -inverse * j[2];
            m[3] = inverse * j[0];
#else
            const double c0 = j[4] * j[8] - j[5] * j[7], c1 = j[5] * j[6] - j[3] * j[8], c2 = j[3] * j[7] - j[4] * j[6];
            const double det = j[0] * c0 + j[1] * c1 + j[2] * c2, inverse = 1 / det;
            m[0] = inverse * c0;
            m[1] = inverse * (j[2] * j[7] - j[1] * j[8]);
            m[2] = inverse * (j[1] * j[5] - j[2] * j[4]);
            m[3] = inverse * c1;
            m[4] = inverse * (j[0] * j[8] - j[2] * j[6]);
            m[5] = inverse * (j[2] * j[3] - j[0] * j[5]);
            m[6] = inverse * c2;
            m[7] = inverse * (j[1] * j[6] - j[0] * j[7]);
            m[8] = inverse * (j[0] * j[4] - j[1] * j[3]);
#endif
            m[DIM * DIM] = weights[q] * det;
        }
    }
}

/* Row a of node i has DIM columns a block, so entry (a, b) of a block stands DIM times the row's blocks behind (a - 1, b). */

KERNEL columns(const long blocks, GLOBAL const int *RESTRICT block_rows, GLOBAL const int *RESTRICT block_columns,
               GLOBAL const int *RESTRICT block_offsets, GLOBAL int *RESTRICT column_indices)
{
    OUTER(block);
    INNER(t) {
        const long place = block * BLOCK + t;
        if (place >= blocks) continue;
        const int i = block_rows[place], j = block_columns[place];
        const long begin = block_offsets[i], width = DIM * (block_offsets[i + 1] - begin);
        const long first = DIM * DIM * begin + DIM * (place - begin);
        for (int a = 0; a < DIM; ++a)
            for (int b = 0; b < DIM; ++b) column_indices[first + a * width + b] = DIM * j + b;
    }
}

KERNEL stiffness(const long blocks, const double lambda, const double mu, GLOBAL const int *RESTRICT block_rows,
                 GLOBAL const int *RESTRICT block_columns, GLOBAL const int *RESTRICT block_offsets,
                 GLOBAL const int *RESTRICT star_offsets, GLOBAL const int *RESTRICT star,
                 GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT gradients,
                 GLOBAL const double *RESTRICT metric, GLOBAL const uchar *RESTRICT fixed, GLOBAL double *RESTRICT values)
{
    OUTER(block);
    INNER(t) {
        const long place = block * BLOCK + t;
        if (place >= blocks) continue;
        const int i = block_rows[place], j = block_columns[place];
        double g[DIM * DIM];
        for (int k = 0; k < DIM * DIM; ++k) g[k] = 0;
        for (int s = star_offsets[i]; s < star_offsets[i + 1]; ++s) {
            const long e = star[s] / NODES;
            const int own = star[s] % NODES;
            int other = -1;
            for (int k = 0; k < NODES; ++k)
                if (cells[e * NODES + k] == j) other = k;
            if (other < 0) continue;
            for (int q = 0; q < POINTS; ++q) {
                GLOBAL const double *RESTRICT m = metric + (e * POINTS + q) * METRIC;
                GLOBAL const double *RESTRICT u = gradients + (q * NODES + own) * DIM;
                GLOBAL const double *RESTRICT v = gradients + (q * NODES + other) * DIM;
                double x[DIM], y[DIM];
                UNROLL
                for (int a = 0; a < DIM; ++a) {
                    double sum_x = 0, sum_y = 0;
                    UNROLL
                    for (int r = 0; r < DIM; ++r) {
                        sum_x += u[r] * m[r * DIM + a];
                        sum_y += v[r] * m[r * DIM + a];
                    }
                    x[a] = m[DIM * DIM] * sum_x;
                    y[a] = sum_y;
                }
                UNROLL
                for (int a = 0; a < DIM; ++a) {
                    UNROLL
                    for (int b = 0; b < DIM; ++b) g[a * DIM + b] += x[a] * y[b];
                }
            }
        }
        double trace = 0;
        UNROLL
        for (int a = 0; a < DIM; ++a) trace += g[a * DIM + a];
        const long begin = block_offsets[i], width = DIM * (block_offsets[i + 1] - begin);
        GLOBAL double *RESTRICT entry = values + DIM * DIM * begin + DIM * (place - begin);
        UNROLL
        for (int a = 0; a < DIM; ++a) {
            UNROLL
            for (int b = 0; b < DIM; ++b) {
                double value = lambda * g[a * DIM + b] + mu * g[b * DIM + a] + (a == b ? mu * trace : 0);
                if (fixed && (fixed[(long)DIM * i + a] || fixed[(long)DIM * j + b])) value = i == j && a == b;
                entry[a * width + b] = value;
            }
        }
    }
}

/* The right-hand side: a force on the unit of area or volume, by the same quadrature. */
KERNEL loads(const long nodes, const double body_x, const double body_y, const double body_z,
             GLOBAL const int *RESTRICT star_offsets, GLOBAL const int *RESTRICT star,
             GLOBAL const double *RESTRICT shape, GLOBAL const double *RESTRICT metric,
             GLOBAL const uchar *RESTRICT fixed, GLOBAL double *RESTRICT rhs)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= nodes) continue;
        const double body[3] = {body_x, body_y, body_z};
        double volume = 0;
        for (int s = star_offsets[i]; s < star_offsets[i + 1]; ++s) {
            const long e = star[s] / NODES;
            for (int q = 0; q < POINTS; ++q)
                volume += shape[q * NODES + star[s] % NODES] * metric[(e * POINTS + q) * METRIC + DIM * DIM];
        }
        for (int a = 0; a < DIM; ++a) {
            rhs[i * DIM + a] = fixed && fixed[i * DIM + a] ? 0 : body[a] * volume;
        }
    }
}
