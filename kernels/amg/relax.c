/* Relaxation of all patches at once: weighted Jacobi iterations within each, in shared memory (fu2014, section 5.2.2).
 *
 * With B⁻¹ the `iterations` iterations from zero with the weight `inner`, prerelaxation is u = outer B⁻¹ b and
 * post-relaxation u += outer B⁻¹ (b - A u): the same symmetric B in both, for every number of iterations. The matrix is
 * read once. rhs_real and result_real are the types of b and of the result, which are double on the finest level. */

#include "relax.h"

/* u = outer B⁻¹ b, and the residual of it without the boundary, b - (A_I + A_D) u. */
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
        if (t < rows) {
            rhs[t] = b[first + t];
            pivot[t] = diagonals[first + t];
        }
        LOAD_ROW(t)
    }
    BARRIER;
    INNER(t) {
        if (t >= rows) continue;
        P(load) = rhs[P(row)];
        P(diagonal) = pivot[P(row)];
        P(mine) = inner / P(diagonal) * P(load) * (iterations == 1 ? outer : (real)1);
        u[P(row)] = P(mine);
        CLEAR(t);
    }
    BARRIER;
    for (int iteration = 1; iteration < iterations; ++iteration) {
        GATHER
        INNER(t) {
            if (t >= rows) continue;
            TAKE_SUM(t);
            P(mine) += inner / P(diagonal) * (P(load) - P(sum) - P(diagonal) * P(mine));
            if (iteration == iterations - 1) P(mine) *= outer;
            u[P(row)] = P(mine);
        }
        BARRIER;
    }
    GATHER
    INNER(t) {
        if (t >= rows) continue;
        TAKE_SUM(t);
        rhs[P(row)] = P(load) - P(sum) - P(diagonal) * P(mine);
    }
    BARRIER;
    INNER(t) {
        if (t >= rows) continue;
        relaxed[first + t] = u[t];
        residual[first + t] = rhs[t];
    }
}

/* The boundary's part of the right-hand side, taken off the patch's rows of `target`; a block's rows. */
#define SUBTRACT_BOUNDARY(target, source)                                                                            \
    INNER(t) {                                                                                                       \
        if (t >= boundary_rows) continue;                                                                            \
        const int s = t / SLICE;                                                                                     \
        GLOBAL const int *slice = boundary_slices + SLICE_NUMBERS * (header[FIRST_SLICE] + s);                       \
        const int at = slice[0] + t % SLICE, width = slice[1];                                                       \
        const int step = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;                                        \
        real sum = 0;                                                                                                \
        for (int k = 0; k < width; ++k) sum += boundary_values[at + k * step] * source[boundary_columns[at + k * step]]; \
        target[boundary_order[first + t]] -= sum;                                                                    \
    }                                                                                                                \
    BARRIER;

/* result = u + outer B⁻¹ (b - A u): iterations that start from u, with the right-hand side b - A_B u. */
KERNEL postrelax(const int iterations, const real inner, const real outer, GLOBAL const int *RESTRICT headers,
                 GLOBAL const ushort *RESTRICT order, GLOBAL const int *RESTRICT slices,
                 GLOBAL const real *RESTRICT values, GLOBAL const index *RESTRICT columns,
                 GLOBAL const ushort *RESTRICT incoming, GLOBAL const real *RESTRICT diagonals,
                 GLOBAL const ushort *RESTRICT boundary_order, GLOBAL const int *RESTRICT boundary_slices,
                 GLOBAL const real *RESTRICT boundary_values, GLOBAL const int *RESTRICT boundary_columns,
                 GLOBAL const rhs_real *RESTRICT b, GLOBAL const real *RESTRICT before,
                 GLOBAL result_real *RESTRICT result)
{
    OUTER(patch);
    SHARED_POOL(real, pool, POOL);
    SHARED_ARRAYS
    PRIVATE_ARRAYS
    PRIVATE(real, begun);
    const int boundary_rows = header[BOUNDARY_ROWS];
    INNER(t) {
        if (t < rows) {
            rhs[t] = b[first + t];
            pivot[t] = diagonals[first + t];
            u[t] = before[first + t];
        }
        LOAD_ROW(t)
    }
    BARRIER;
    SUBTRACT_BOUNDARY(rhs, before)
    INNER(t) {
        if (t >= rows) continue;
        P(load) = rhs[P(row)];
        P(diagonal) = pivot[P(row)];
        P(mine) = u[P(row)];
        P(begun) = P(mine);
        CLEAR(t);
    }
    BARRIER;
    for (int iteration = 0; iteration < iterations; ++iteration) {
        GATHER
        INNER(t) {
            if (t >= rows) continue;
            TAKE_SUM(t);
            P(mine) += inner / P(diagonal) * (P(load) - P(sum) - P(diagonal) * P(mine));
            if (iteration == iterations - 1) P(mine) = P(begun) + outer * (P(mine) - P(begun));
            u[P(row)] = P(mine);
        }
        BARRIER;
    }
    INNER(t) {
        if (t < rows) result[first + t] = u[t];
    }
}

/* residual -= A_B u. */
KERNEL compensate(GLOBAL const int *RESTRICT headers, GLOBAL const ushort *RESTRICT boundary_order,
                  GLOBAL const int *RESTRICT boundary_slices, GLOBAL const real *RESTRICT boundary_values,
                  GLOBAL const int *RESTRICT boundary_columns, GLOBAL const real *RESTRICT u,
                  GLOBAL real *RESTRICT residual)
{
    OUTER(patch);
    SHARED real rest[BLOCK];
    GLOBAL const int *header = headers + HEADER * patch;
    const int first = header[FIRST], rows = header[ROWS], boundary_rows = header[BOUNDARY_ROWS];
    INNER(t) {
        if (t < rows) rest[t] = residual[first + t];
    }
    BARRIER;
    SUBTRACT_BOUNDARY(rest, u)
    INNER(t) {
        if (t < rows) residual[first + t] = rest[t];
    }
}
