/* One step of backward Euler around the solver: its right-hand side, and the step's end. */

/* b = m (q + u / Δt) - A u = m q - K u, where A = K + m / Δt: the residual of the solution before, to which the step adds what solves
 * A δ = b. The source is q = strength exp(-|x - centre|² / radius²). */
KERNEL residual(const long nodes, const real rate, const real strength, const real over_radius_2, const real cx, const real cy,
                const real cz, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT mass, GLOBAL const real *RESTRICT u,
                GLOBAL real *RESTRICT b)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= nodes) continue;
        const real dx = x[i] - cx, dy = x[nodes + i] - cy, dz = x[2 * nodes + i] - cz;
        const real q = strength * exp(-(dx * dx + dy * dy + dz * dz) * over_radius_2);
        b[i] = mass[i] * (q + u[i] * rate) - b[i]; /* b comes in as A u, or as zero for a start from zero */
    }
}

/* The change that the changes of the steps before, the last one first, lead one to expect. */
KERNEL extrapolate(const long nodes, const real weight, const real weight_before, const real weight_first,
                   GLOBAL const real *RESTRICT last, GLOBAL const real *RESTRICT before, GLOBAL const real *RESTRICT first,
                   GLOBAL real *RESTRICT guess)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < nodes) guess[i] = weight * last[i] + weight_before * before[i] + weight_first * first[i];
    }
}

/* δ comes in as what it is more than the guess; u += δ */
KERNEL add(const long nodes, GLOBAL const real *RESTRICT guess, GLOBAL real *RESTRICT change, GLOBAL real *RESTRICT u)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= nodes) continue;
        change[i] += guess[i];
        u[i] += change[i];
    }
}
