/* The kernels of fused.c and of its bodies, which define FOR_ROWS, and THREAD in it. */
#include "../device/tree.h"

/* d = b - A x */
KERNEL defect(const long slots, const long stride, const long rows,
              GLOBAL const extent *RESTRICT extents, GLOBAL const int *RESTRICT order,
              GLOBAL const int *RESTRICT first_columns,
              GLOBAL const int *RESTRICT far, GLOBAL const index *RESTRICT columns,
              GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT b,
              GLOBAL real *RESTRICT d)
{
    FOR_ROWS(b, b, b, b, d[i] = one - sum)
}

/* d = b - A x, rounded, and for each block its part of the sum of squares of what is not */
KERNEL measured_defect(const long slots, const long stride, const long rows,
                       GLOBAL const extent *RESTRICT extents, GLOBAL const int *RESTRICT order,
                       GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT far,
                       GLOBAL const index *RESTRICT columns, GLOBAL const real *RESTRICT values,
                       GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT b, GLOBAL rounded *RESTRICT d,
                       GLOBAL double *RESTRICT partial)
{
    SHARED double squares[BLOCK];
    INNER(t) { squares[t] = 0; }
    FOR_ROWS(b, b, b, b, const real left = one - sum; d[i] = (rounded)left; squares[THREAD] += (double)left * left)
    TREE(squares)
    INNER(t) {
        if (t == 0) partial[block] = squares[0];
    }
}

/* out = x + omega D^-1 (b - A x) */
KERNEL relax(const long slots, const long stride, const long rows,
             GLOBAL const extent *RESTRICT extents, GLOBAL const int *RESTRICT order,
             GLOBAL const int *RESTRICT first_columns,
             GLOBAL const int *RESTRICT far, GLOBAL const index *RESTRICT columns,
             GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT b,
             GLOBAL const real *RESTRICT inverse_diagonal, const real omega, GLOBAL real *RESTRICT out)
{
    FOR_ROWS(b, x, inverse_diagonal, b, out[i] = two + omega * three * (one - sum))
}

/* p = now D^-1 (b - A x) + before p, out = x + p */
KERNEL relax_with_memory(const long slots, const long stride, const long rows,
                         GLOBAL const extent *RESTRICT extents, GLOBAL const int *RESTRICT order,
                         GLOBAL const int *RESTRICT first_columns, GLOBAL const int *RESTRICT far, GLOBAL const index *RESTRICT columns,
                         GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x,
                         GLOBAL const real *RESTRICT b, GLOBAL const real *RESTRICT inverse_diagonal,
                         const real now, const real before, GLOBAL real *RESTRICT p, GLOBAL real *RESTRICT out)
{
    FOR_ROWS(b, x, inverse_diagonal, before == 0 ? b : p,
             const real step = now * three * (one - sum) + (before == 0 ? 0 : before * four);
             p[i] = step;
             out[i] = two + step)
}
