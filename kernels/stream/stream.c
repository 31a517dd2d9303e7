// Memory and arithmetic at the hardware's rate, for ceilings. A block moves CHUNK consecutive elements, so that a processor's
// core streams and a GPU's threads read side by side.
KERNEL copy(const long count, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long first = block * CHUNK;
    const long length = count - first < CHUNK ? count - first : CHUNK;
    INNER_FOR(i, length) {
        y[first + i] = x[first + i];
    }
}

KERNEL triad(const long count, const real alpha, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y,
             GLOBAL real *RESTRICT z)
{
    OUTER(block);
    const long first = block * CHUNK;
    const long length = count - first < CHUNK ? count - first : CHUNK;
    INNER_FOR(i, length) {
        z[first + i] = x[first + i] + alpha * y[first + i];
    }
}

// Adds each block's sum to total[block].
KERNEL read(const long count, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT total)
{
    OUTER(block);
    SHARED real partial[BLOCK];
    const long first = block * CHUNK;
    const long length = count - first < CHUNK ? count - first : CHUNK;
    INNER(t) {
        real sums[LANES];
        for (int l = 0; l < LANES; ++l)
            sums[l] = 0;
        long i = t * LANES;
        for (; i + LANES <= length; i += BLOCK * LANES) {
            UNROLL
            for (int l = 0; l < LANES; ++l)
                sums[l] += x[first + i + l];
        }
        for (int l = 0; i + l < length; ++l)
            sums[l] += x[first + i + l];
        real sum = 0;
        for (int l = 0; l < LANES; ++l)
            sum += sums[l];
        partial[t] = sum;
    }
    BARRIER;
    INNER(t) {
        if (t > 0)
            continue;
        real sum = 0;
        for (int other = 0; other < BLOCK; ++other)
            sum += partial[other];
        total[block] = sum;
    }
}

// Two flops per step and lane: chains of multiply-adds, enough side by side to hide their latency.
KERNEL multiply_add(const int steps, const real factor, GLOBAL real *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        real chains[LANES];
        UNROLL
        for (int l = 0; l < LANES; ++l)
            chains[l] = l + t;
        for (int step = 0; step < steps; ++step) {
            UNROLL
            for (int l = 0; l < LANES; ++l)
                chains[l] = chains[l] * factor + factor;
        }
        real sum = 0;
        UNROLL
        for (int l = 0; l < LANES; ++l)
            sum += chains[l];
        result[block * BLOCK + t] = sum;
    }
}
