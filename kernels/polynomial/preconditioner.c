// z = s(A) r by Clenshaw's recurrence: the vector work between two products, read and written in `real`, where the outer
// iteration's vectors are `wide`.
KERNEL narrow(const long n, GLOBAL const wide *RESTRICT r, GLOBAL real *RESTRICT rounded)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n)
            continue;
        rounded[i] = (real)r[i];
    }
}

// out = of_r r + of_product w + of_now x + of_before y; `out` may be `y`, which is not read when its factor is 0.
KERNEL combine(const long n, const real of_r, GLOBAL const real *RESTRICT r, const real of_product,
               GLOBAL const real *RESTRICT w, const real of_now, GLOBAL const real *RESTRICT x, const real of_before,
               GLOBAL const real *y, GLOBAL wide *out)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n)
            continue;
        real value = of_r * r[i] + of_product * w[i] + of_now * x[i];
        if (of_before != 0)
            value += of_before * y[i];
        out[i] = (wide)value;
    }
}
