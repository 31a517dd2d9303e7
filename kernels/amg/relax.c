/* Relaxation of all patches at once: weighted Jacobi iterations within each, in shared memory (fu2014, section 5.2.2).
 *
 * With B⁻¹ the `iterations` iterations from zero with the weight `inner`, prerelaxation is u = outer B⁻¹ b and
 * post-relaxation u += outer B⁻¹ (b - A u): the same symmetric B in both, for every number of iterations. The matrix is
 * read once. rhs_real and result_real are the types of b and of the result, which are double on the finest level. */

#include "relax.h"

/* u = outer B⁻¹ b, and, where it is asked for, the residual of it without the boundary, b - (A_I + A_D) u. */
KERNEL prerelax(const int iterations, const real inner, const real outer, GLOBAL const int *RESTRICT headers,
                GLOBAL const ushort *RESTRICT order, GLOBAL const int *RESTRICT slices,
                GLOBAL const real *RESTRICT values, GLOBAL const index *RESTRICT columns,
                GLOBAL const ushort *RESTRICT incoming, GLOBAL const real *RESTRICT diagonals,
                GLOBAL const rhs_real *RESTRICT b, GLOBAL real *RESTRICT relaxed, GLOBAL real *RESTRICT residual)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL);
    SHARED_ARRAYS
    PRIVATE_ARRAYS
    INNER(t) {
        LOAD_ROW(t)
        if (t >= rows) continue;
        rhs[t] = b[first + t];
        weight[t] = inner / diagonals[first + t];
    }
    BARRIER;
    INNER(t) {
        P(mine) = weight[t] * rhs[P(row)] * (iterations == 1 ? outer : (real)1);
        u[t] = P(mine);
    }
    BARRIER;
    for (int iteration = 1; iteration < iterations; ++iteration) {
        GATHER
        INNER(t) {
            if (t >= rows) continue;
            TAKE_SUM(t);
            P(mine) += weight[t] * (rhs[P(row)] - P(sum)) - inner * P(mine);
            if (iteration == iterations - 1) P(mine) *= outer;
            u[t] = P(mine);
        }
        BARRIER;
    }
    if (residual) {
        GATHER
        INNER(t) {
            if (t >= rows) continue;
            TAKE_SUM(t);
            rhs[P(row)] -= P(sum) + inner / weight[t] * P(mine);
        }
    }
    INNER(t) {
        if (t < rows) u[P(row)] = P(mine); /* nobody reads u any more */
    }
    BARRIER;
    INNER(t) {
        if (t >= rows) continue;
        relaxed[first + t] = u[t];
        if (residual) residual[first + t] = rhs[t];
    }
}

/* The residual by itself: the pass through the matrix that the merger saves. */
KERNEL residue(GLOBAL const int *RESTRICT headers, GLOBAL const ushort *RESTRICT order,
               GLOBAL const int *RESTRICT slices, GLOBAL const real *RESTRICT values,
               GLOBAL const index *RESTRICT columns, GLOBAL const ushort *RESTRICT incoming,
               GLOBAL const real *RESTRICT diagonals, GLOBAL const rhs_real *RESTRICT b,
               GLOBAL const real *RESTRICT relaxed, GLOBAL real *RESTRICT residual)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL);
    SHARED_ARRAYS
    PRIVATE_ARRAYS
    INNER(t) {
        LOAD_ROW(t)
        if (t >= rows) continue;
        rhs[t] = b[first + t];
        BROUGHT[t] = relaxed[first + t];
    }
    BARRIER;
    INNER(t) {
        P(mine) = BROUGHT[P(row)];
        u[t] = P(mine);
    }
    BARRIER;
    GATHER
    INNER(t) {
        if (t >= rows) continue;
        TAKE_SUM(t);
        rhs[P(row)] -= P(sum) + diagonals[first + t] * P(mine);
    }
    BARRIER;
    INNER(t) {
        if (t < rows) residual[first + t] = rhs[t];
    }
}

/* result = u + outer B⁻¹ (b - A u): iterations that start from u, with the right-hand side b - A_B u, `shifted`. */
KERNEL postrelax(const int iterations, const real inner, const real outer, GLOBAL const int *RESTRICT headers,
                 GLOBAL const ushort *RESTRICT order, GLOBAL const int *RESTRICT slices,
                 GLOBAL const real *RESTRICT values, GLOBAL const index *RESTRICT columns,
                 GLOBAL const ushort *RESTRICT incoming, GLOBAL const real *RESTRICT diagonals,
                 GLOBAL const real *RESTRICT shifted, GLOBAL const real *RESTRICT before,
                 GLOBAL result_real *RESTRICT result)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL);
    SHARED_ARRAYS
    PRIVATE_ARRAYS
    INNER(t) {
        LOAD_ROW(t)
        if (t >= rows) continue;
        rhs[t] = shifted[first + t];
        weight[t] = inner / diagonals[first + t];
        BROUGHT[t] = before[first + t];
    }
    BARRIER;
    INNER(t) {
        P(mine) = BROUGHT[P(row)];
        u[t] = P(mine);
    }
    BARRIER;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        GATHER
        INNER(t) {
            if (t >= rows) continue;
            TAKE_SUM(t);
            P(mine) += weight[t] * (rhs[P(row)] - P(sum)) - inner * P(mine);
            u[t] = P(mine);
        }
        BARRIER;
    }
    INNER(t) {
        if (t < rows) BROUGHT[P(row)] = P(mine);
    }
    BARRIER;
    INNER(t) {
        if (t >= rows) continue;
        const real begun = before[first + t];
        result[first + t] = begun + outer * (BROUGHT[t] - begun);
    }
}
