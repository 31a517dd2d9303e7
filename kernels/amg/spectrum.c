/* Lanczos on D^-1/2 A D^-1/2. Vectors are kept unnormalised beside their norm; sums are of a block's parts in order, so the same every
 * time. `scalars` holds, for step k, alpha[k] in 2 k and beta[k], the norm of the vector that step k makes, in 2 k + 1. */

KERNEL begin(const int n, GLOBAL const double *RESTRICT diagonal, GLOBAL double *RESTRICT scale,
             GLOBAL double *RESTRICT vector, GLOBAL double *RESTRICT previous, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        const long i = block * BLOCK + t;
        part[t] = 0;
        if (i >= n) continue;
        uint x = (uint)i * 0x9e3779b1u;
        x ^= x >> 15;
        x *= 0x2c1b3c6du;
        x ^= x >> 12;
        const double value = (double)(x >> 8) * (1.0 / 16777216) - 0.5;
        scale[i] = 1 / sqrt(diagonal[i]);
        vector[i] = value;
        previous[i] = 0;
        part[t] = value * value;
    }
    for (int span = BLOCK / 2; span > 0; span /= 2) {
        BARRIER;
        INNER(t) {
            if (t < span) part[t] += part[t + span];
        }
    }
    BARRIER;
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}

/* One block: sum of the parts, or its root, into scalars[place]. */
KERNEL finish(const int count, const int place, const int root, GLOBAL const double *RESTRICT parts,
              GLOBAL double *RESTRICT scalars)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block + t; i < count; i += BLOCK) sum += parts[i];
        part[t] = sum;
    }
    for (int span = BLOCK / 2; span > 0; span /= 2) {
        BARRIER;
        INNER(t) {
            if (t < span) part[t] += part[t + span];
        }
    }
    BARRIER;
    INNER(t) {
        if (t == 0) scalars[place] = root ? sqrt(part[0]) : part[0];
    }
}

/* w = D^-1/2 A D^-1/2 v - beta v_previous, both v divided by their norms, and the parts of v w. */
KERNEL apply(const int n, const int step, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
             GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT scale,
             GLOBAL const double *RESTRICT vector, GLOBAL const double *RESTRICT previous,
             GLOBAL double *RESTRICT result, GLOBAL const double *RESTRICT scalars, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        const long i = block * BLOCK + t;
        part[t] = 0;
        if (i >= n) continue;
        const double norm = scalars[2 * step + 1], before = step > 0 ? scalars[2 * step - 1] : 1;
        if (!(norm > 0)) continue;
        double sum = 0;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) sum += values[e] * scale[columns[e]] * vector[columns[e]];
        sum *= scale[i] / norm;
        if (step > 0 && before > 0) sum -= norm / before * previous[i];
        result[i] = sum;
        part[t] = sum * vector[i] / norm;
    }
    for (int span = BLOCK / 2; span > 0; span /= 2) {
        BARRIER;
        INNER(t) {
            if (t < span) part[t] += part[t + span];
        }
    }
    BARRIER;
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}

/* w -= alpha v, and the parts of its norm. */
KERNEL orthogonalise(const int n, const int step, GLOBAL const double *RESTRICT vector, GLOBAL double *RESTRICT result,
                     GLOBAL const double *RESTRICT scalars, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        const long i = block * BLOCK + t;
        part[t] = 0;
        if (i >= n) continue;
        const double norm = scalars[2 * step + 1];
        if (!(norm > 0)) continue;
        const double value = result[i] - scalars[2 * step + 2] / norm * vector[i];
        result[i] = value;
        part[t] = value * value;
    }
    for (int span = BLOCK / 2; span > 0; span /= 2) {
        BARRIER;
        INNER(t) {
            if (t < span) part[t] += part[t + span];
        }
    }
    BARRIER;
    INNER(t) {
        if (t == 0) parts[block] = part[0];
    }
}
