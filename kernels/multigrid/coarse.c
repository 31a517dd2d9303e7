/* Conjugate gradients with Jacobi preconditioning from zero, all of them in a single block: the coarsest level has a few
 * hundred unknowns, and launches would cost more than the arithmetic. */

#include "../device/tree.h"

KERNEL conjugate_gradient(const int n, const int max_iterations, const double tolerance,
                          GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT entry_columns,
                          GLOBAL const real *RESTRICT entries, GLOBAL const real *RESTRICT inverse_diagonal,
                          GLOBAL const real *RESTRICT b, GLOBAL real *r, GLOBAL real *p, GLOBAL real *q,
                          GLOBAL real *x, GLOBAL int *iterations)
{
    OUTER(block);
    SHARED double sums_rz[BLOCK];
    SHARED double sums_rr[BLOCK];
    SHARED double sums_pq[BLOCK];
#include "conjugate_gradient.h"
}
