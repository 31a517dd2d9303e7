/* y = s x, entry by entry. */
KERNEL scale(const long count, GLOBAL const real *RESTRICT s, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < count) y[i] = s[i] * x[i];
    }
}
