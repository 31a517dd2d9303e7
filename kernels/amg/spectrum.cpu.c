/* Lanczos on a processor, see spectrum.c: a block has a run of rows, and goes through them one after the other. */

#include "spectrum.h"

#define FIRST_ROW(block) ((long)n * (block) / grid)

KERNEL begin(const int n, const int grid, GLOBAL const double *RESTRICT diagonal, GLOBAL double *RESTRICT vector,
             GLOBAL double *RESTRICT previous, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    double sum = 0;
    for (long i = FIRST_ROW(block); i < FIRST_ROW(block + 1); ++i) {
        const double entry = hashed((uint)i);
        vector[i] = entry / sqrt(diagonal[i]);
        previous[i] = 0;
        sum += squared_beside(entry, diagonal[i]);
    }
    parts[block] = sum;
}

KERNEL apply(const int n, const int grid, const int step, GLOBAL const int *RESTRICT offsets,
             GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values,
             GLOBAL const double *RESTRICT diagonal, GLOBAL const double *RESTRICT vector,
             GLOBAL double *RESTRICT previous, GLOBAL double *RESTRICT scalars, GLOBAL const double *RESTRICT norms,
             GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    SUM_OF_PARTS(squared, norms);
    const double norm = sqrt(squared), before = step > 0 ? scalars[2 * step - 1] : 0;
    WRITE_FIRST(2 * step + 1, norm)
    const double over = norm > 0 ? 1 / norm : 0, beta = before > 0 ? norm / before : 0;
    double alpha = 0;
    for (long i = FIRST_ROW(block); i < FIRST_ROW(block + 1); ++i) {
        double sum = 0;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) sum += values[e] * vector[columns[e]];
        const double moved = sum * over / diagonal[i] - beta * previous[i];
        previous[i] = moved;
        alpha += diagonal[i] * moved * vector[i];
    }
    parts[block] = alpha * over;
}

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
    double sums[8] = {0};
    for (long i = FIRST_ROW(block); i < FIRST_ROW(block + 1); i += 8)
        for (long lane = 0; lane < 8 && i + lane < FIRST_ROW(block + 1); ++lane) {
            const double moved = result[i + lane] - factor * vector[i + lane];
            result[i + lane] = moved;
            sums[lane] += diagonal[i + lane] * moved * moved;
        }
    double sum = 0;
    for (int lane = 0; lane < 8; ++lane) sum += sums[lane];
    parts[block] = sum;
}
