/* Weighted Jacobi relaxation, besides its products with the matrix. rhs_real and result_real are the types of b and of the
 * result, which are double on the finest level. */

/* u = weights b, the first iteration from zero; residual = b, which -A u is added to. */
KERNEL start(const long count, GLOBAL const real *RESTRICT weights, GLOBAL const rhs_real *RESTRICT b,
             GLOBAL real *RESTRICT u, GLOBAL real *RESTRICT residual)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= count) continue;
        const real load = b[i];
        u[i] = weights[i] * load;
        residual[i] = load;
    }
}

/* result = u + weights residual. */
KERNEL finish(const long count, GLOBAL const real *RESTRICT weights, GLOBAL const real *RESTRICT residual,
              GLOBAL const real *RESTRICT u, GLOBAL result_real *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < count) result[i] = u[i] + weights[i] * residual[i];
    }
}
