/* The common beginning of both bodies of spectrum.c. */

DEVICE_FUNCTION double hashed(const uint i)
{
    uint x = i * 0x9e3779b1u;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    x ^= x >> 12;
    return (double)(x >> 8) * (1.0 / 16777216) - 0.5;
}

/* A number's square, or none where an entry of the diagonal is not positive: the first norm, and so all, is none then. */
DEVICE_FUNCTION double squared_beside(const double value, const double entry)
{
    return entry > 0 && entry - entry == 0 ? value * value : sqrt(-1.0);
}

#define SUM_OF_BLOCK(part)                                                                                           \
    for (int span = BLOCK / 2; span > 0; span /= 2) {                                                                \
        BARRIER;                                                                                                     \
        INNER(t) {                                                                                                   \
            if (t < span) part[t] += part[t + span];                                                                 \
        }                                                                                                            \
    }                                                                                                                \
    BARRIER

/* `total` = the sum of the blocks' parts. */
#define SUM_OF_PARTS(total, parts)                                                                                   \
    INNER(t) {                                                                                                       \
        double sum = 0;                                                                                              \
        for (int i = t; i < grid; i += BLOCK) sum += parts[i];                                                       \
        part[t] = sum;                                                                                               \
    }                                                                                                                \
    SUM_OF_BLOCK(part);                                                                                              \
    const double total = part[0];                                                                                    \
    BARRIER

#define WRITE_FIRST(place, value)                                                                                    \
    INNER(t) {                                                                                                       \
        if (block == 0 && t == 0) scalars[place] = value;                                                            \
    }

/* One block: the norm of the last vector. */
KERNEL finish(const int grid, const int place, GLOBAL const double *RESTRICT norms, GLOBAL double *RESTRICT scalars)
{
    OUTER(block);
    SHARED double part[BLOCK];
    SUM_OF_PARTS(squared, norms);
    WRITE_FIRST(place, sqrt(squared))
}
