// Vector work of a Lanczos step; each block leaves its part of a sum, and the host adds the few hundred.
DEVICE_FUNCTION real hashed(const long i, const long seed) // uniform in (-1, 1), the same on every back end
{
    ulong z = (ulong)i + 0x9E3779B97F4A7C15ul * (ulong)(seed + 1);
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ul;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBul;
    z = z ^ (z >> 31);
    return (real)(z >> 11) * (real)(2.0 / 9007199254740992.0) - (real)1;
}

KERNEL fill_random(const long n, const long seed, GLOBAL real *RESTRICT x)
{
    OUTER(block);
    INNER(t) {
        for (long i = block * CHUNK + t; i < n && i < (block + 1) * CHUNK; i += BLOCK)
            x[i] = hashed(i, seed);
    }
}

// w -= factor x; parts[block] = Σ w y over the block's chunk. x may be w's own partner y.
KERNEL subtract_and_dot(const long n, const real factor, GLOBAL const real *x, GLOBAL const real *y, GLOBAL real *w,
                        GLOBAL real *RESTRICT parts)
{
    SHARED real sums[BLOCK];
    OUTER(block);
    INNER(t) {
        real sum = 0;
        for (long i = block * CHUNK + t; i < n && i < (block + 1) * CHUNK; i += BLOCK) {
            const real value = factor == 0 ? w[i] : w[i] - factor * x[i];
            w[i] = value;
            sum += value * y[i];
        }
        sums[t] = sum;
    }
    BARRIER;
    INNER(t) {
        if (t > 0)
            continue;
        real sum = 0;
        for (int k = 0; k < BLOCK; ++k)
            sum += sums[k];
        parts[block] = sum;
    }
}

KERNEL scale(const long n, const real factor, GLOBAL const real *x, GLOBAL real *y)
{
    OUTER(block);
    INNER(t) {
        for (long i = block * CHUNK + t; i < n && i < (block + 1) * CHUNK; i += BLOCK)
            y[i] = factor * x[i];
    }
}
