/* All of an iteration of conjugate gradients with Jacobi's preconditioner but the product, in one kernel: for systems so
 * small that launches are what an iteration takes. The CUDA body is a cluster of blocks, which wait for one another;
 * elsewhere a single block does it. */

#include "conjugate_gradient.c"

/* With q = A p: the step along p, the new residual, how the solve stands, and the next direction p. scalars[RZ] is the
 * r.z that belongs to p. A breakdown leaves all vectors as they are. */
KERNEL rest(const ulong handle, const long count, GLOBAL const real *RESTRICT inverse, GLOBAL real *RESTRICT p,
            GLOBAL const real *RESTRICT q, GLOBAL real *RESTRICT x, GLOBAL real *RESTRICT r,
            GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    SHARED double sums[BLOCK];
    SHARED double sums_p[BLOCK];
    SHARED double sums_q[BLOCK];
    INNER(t) {
        double pq = 0, pp = 0, qq = 0;
        for (long i = t; i < count; i += BLOCK) {
            const double left = p[i], right = q[i];
            pq += left * right;
            pp += left * left;
            qq += right * right;
        }
        sums[t] = pq;
        sums_p[t] = pp;
        sums_q[t] = qq;
    }
    TREE(sums)
    TREE(sums_p)
    TREE(sums_q)
    const double pq = sums[0], pp = sums_p[0], qq = sums_q[0];
    BARRIER;
    const double rz = scalars[RZ], broken = rz > 0 && FINITE(rz) ? pq : rz;
    const int running = counters[STATUS] == RUNNING, usable = running && broken > 0 && FINITE(broken);
    const double alpha = usable ? rz / pq : 0;
    INNER(t) {
        double rr = 0, weighted = 0;
        for (long i = t; usable && i < count; i += BLOCK) {
            const real value = r[i] - alpha * q[i];
            x[i] += alpha * p[i];
            r[i] = value;
            rr += (double)value * value;
            weighted += (double)value * (inverse[i] * value);
        }
        sums[t] = rr;
        sums_p[t] = weighted;
    }
    TREE(sums)
    TREE(sums_p)
    INNER(t) {
        const double beta = sums_p[0] / rz;
        for (long i = t; usable && i < count; i += BLOCK) p[i] = inverse[i] * r[i] + beta * p[i];
        if (t == 0) {
            judge(running, usable, broken, sums[0], pq, pp, qq, scalars, counters, history);
            if (usable) scalars[RZ] = sums_p[0];
            SET_CONDITION(handle, counters[STATUS] == RUNNING);
        }
    }
}
