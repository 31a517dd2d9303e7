/* Lanczos on D⁻¹A in the inner product of D. Vectors are kept unnormalised beside their norm. A fixed number of blocks go through the rows,
 * and sums are of their parts in order: the same bits every time. Each block adds up the parts that the kernel before has left, which
 * saves a launch. `scalars` holds, for step k, alpha in 2 k + 2 and in 2 k + 1 the norm of the vector that it starts from. */

#include "spectrum.h"

#define ROWS (BLOCK / LANES)

KERNEL begin(const int n, const int grid, GLOBAL const double *RESTRICT diagonal, GLOBAL double *RESTRICT vector,
             GLOBAL double *RESTRICT previous, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block * BLOCK + t; i < n; i += (long)grid * BLOCK) {
            const double value = hashed((uint)i);
            vector[i] = value / sqrt(diagonal[i]);
            previous[i] = 0;
            sum += squared_beside(value, diagonal[i]);
        }
        part[t] = sum;
    }
    SUM_OF_BLOCK(part);
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}

/* w = D⁻¹A v - beta v_previous, both v divided by their norms, in the place of v_previous, and the parts of alpha = (v, w). */
KERNEL apply(const int n, const int grid, const int step, GLOBAL const int *RESTRICT offsets,
             GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values,
             GLOBAL const double *RESTRICT diagonal, GLOBAL const double *RESTRICT vector,
             GLOBAL double *RESTRICT previous, GLOBAL double *RESTRICT scalars, GLOBAL const double *RESTRICT norms,
             GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    PRIVATE(double, alpha);
    SUM_OF_PARTS(squared, norms);
    const double norm = sqrt(squared), before = step > 0 ? scalars[2 * step - 1] : 0;
    WRITE_FIRST(2 * step + 1, norm)
    const double over = norm > 0 ? 1 / norm : 0, beta = before > 0 ? norm / before : 0;
    INNER(t) { P(alpha) = 0; }
    for (long first = block * ROWS; first < n; first += (long)grid * ROWS) {
        INNER(t) {
            const long i = first + t / LANES;
            double sum = 0;
            if (i < n) {
                for (int e = offsets[i] + t % LANES; e < offsets[i + 1]; e += LANES) sum += values[e] * vector[columns[e]];
            }
            part[t] = sum;
        }
        BARRIER;
        INNER(t) {
            const long i = first + t;
            if (t >= ROWS || i >= n) continue;
            double sum = 0;
            for (int lane = 0; lane < LANES; ++lane) sum += part[t * LANES + lane];
            const double moved = sum * over / diagonal[i] - beta * previous[i];
            previous[i] = moved;
            P(alpha) += diagonal[i] * moved * vector[i] * over;
        }
        BARRIER;
    }
    INNER(t) { part[t] = P(alpha); }
    SUM_OF_BLOCK(part);
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}

/* w -= alpha v, and the parts of its norm. */
KERNEL orthogonalise(const int n, const int grid, const int step, GLOBAL const double *RESTRICT diagonal,
                     GLOBAL const double *RESTRICT vector, GLOBAL double *RESTRICT result,
                     GLOBAL double *RESTRICT scalars, GLOBAL const double *RESTRICT alphas,
                     GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    SUM_OF_PARTS(alpha, alphas);
    const double norm = scalars[2 * step + 1], factor = norm > 0 ? alpha / norm : 0;
    WRITE_FIRST(2 * step + 2, alpha)
    INNER(t) {
        double sum = 0;
        for (long i = block * BLOCK + t; i < n; i += (long)grid * BLOCK) {
            const double value = result[i] - factor * vector[i];
            result[i] = value;
            sum += diagonal[i] * value * value;
        }
        part[t] = sum;
    }
    SUM_OF_BLOCK(part);
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}
