/* Conjugate gradients with Jacobi preconditioning from zero, all of them in a single block: the coarsest level has a few
 * hundred unknowns, and launches would cost more than the arithmetic. Stops by itself at |r| <= tolerance |b|. */

#include "../device/tree.h"

KERNEL conjugate_gradient(const int n, const int max_iterations, const double tolerance,
                          GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT columns,
                          GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT inverse_diagonal,
                          GLOBAL const double *RESTRICT b, GLOBAL double *r, GLOBAL double *p, GLOBAL double *q,
                          GLOBAL double *x, GLOBAL int *iterations)
{
    OUTER(block);
    SHARED double sums_rz[BLOCK];
    SHARED double sums_rr[BLOCK];
    SHARED double sums_pq[BLOCK];
    INNER(t) {
        double rz = 0, rr = 0;
        for (int i = t; i < n; i += BLOCK) {
            const double value = b[i], z = inverse_diagonal[i] * value;
            x[i] = 0;
            r[i] = value;
            p[i] = z;
            rz += value * z;
            rr += value * value;
        }
        sums_rz[t] = rz;
        sums_rr[t] = rr;
    }
    TREE(sums_rz)
    TREE(sums_rr)
    double rz = sums_rz[0];
    const double limit = tolerance * tolerance * sums_rr[0];
    int count = 0, running = sums_rr[0] > 0;
    BARRIER;
    for (; running && count < max_iterations; ++count) {
        INNER(t) {
            double pq = 0;
            for (int i = t; i < n; i += BLOCK) {
                double sum = 0;
                for (int k = row_offsets[i]; k < row_offsets[i + 1]; ++k) sum += values[k] * p[columns[k]];
                q[i] = sum;
                pq += p[i] * sum;
            }
            sums_pq[t] = pq;
        }
        TREE(sums_pq)
        const double alpha = rz / sums_pq[0];
        INNER(t) {
            double now = 0, rr = 0;
            for (int i = t; i < n; i += BLOCK) {
                const double value = r[i] - alpha * q[i];
                x[i] += alpha * p[i];
                r[i] = value;
                now += value * value * inverse_diagonal[i];
                rr += value * value;
            }
            sums_rz[t] = now;
            sums_rr[t] = rr;
        }
        TREE(sums_rz)
        TREE(sums_rr)
        const double beta = sums_rz[0] / rz;
        rz = sums_rz[0];
        running = sums_rr[0] > limit && rz > 0;
        INNER(t) {
            for (int i = t; i < n; i += BLOCK) p[i] = r[i] * inverse_diagonal[i] + beta * p[i];
        }
        BARRIER;
    }
    INNER(t) {
        if (t == 0) iterations[0] = count;
    }
}
