/* Conjugate gradients that take Jacobi's preconditioner in: r.z comes with the update of r, and z = r over the diagonal
 * is never stored. An iteration has five kernels, product included, where a preconditioner of its own makes seven. */

#include "conjugate_gradient.c"

/* Partial sums of r.z, for the first iteration. */
KERNEL weigh(const long count, const long chunk, GLOBAL const real *RESTRICT inverse, GLOBAL const real *RESTRICT r,
             GLOBAL double *RESTRICT partial)
{
    PARTIAL_SUMS((double)r[i] * (inverse[i] * r[i]))
}

/* p = z + beta p, as `direction`. */
KERNEL scaled_direction(const long count, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial,
                        GLOBAL const real *RESTRICT inverse, GLOBAL const real *RESTRICT r, GLOBAL real *RESTRICT p,
                        GLOBAL double *RESTRICT scalars, GLOBAL const int *RESTRICT counters)
{
    DIRECTION(inverse[i] * r[i])
}

/* x += alpha p, r -= alpha q, as `advance`; partial sums of the new r.r, and of the new r.z. */
KERNEL scaled_advance(const long count, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial,
                      GLOBAL const real *RESTRICT inverse, GLOBAL const real *RESTRICT p,
                      GLOBAL const real *RESTRICT q, GLOBAL real *RESTRICT x, GLOBAL real *RESTRICT r,
                      GLOBAL double *RESTRICT scalars, GLOBAL const int *RESTRICT counters,
                      GLOBAL double *RESTRICT partial_rr, GLOBAL double *RESTRICT partial_rz)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    SHARED double sums_z[BLOCK];
    STEP
    INNER(t) {
        double rr[LANES] = {0}, weighted[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const real value = r[i] - alpha * q[i];
            x[i] += alpha * p[i];
            r[i] = value;
            rr[l] += (double)value * value;
            weighted[l] += (double)value * (inverse[i] * value);
        });
        sums[t] = folded(rr);
        sums_z[t] = folded(weighted);
        if (t == 0 && block == 0 && running) scalars[RZ_BEFORE] = rz;
    }
    BARRIER;
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        INNER(t) {
            if (t < width) {
                sums[t] += sums[t + width];
                sums_z[t] += sums_z[t + width];
            }
        }
        BARRIER;
    }
    INNER(t) {
        if (t == 0 && usable) {
            partial_rr[block] = sums[0];
            partial_rz[block] = sums_z[0];
        }
    }
}
