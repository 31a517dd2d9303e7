/* The power method's vectors (power_method.py): their norms are sums of blocks' parts in order, the same bits every time. A
 * fixed number of blocks go through the rows. */

#include "../device/tree.h"

#define PARTS_OF_BLOCK                                                                                               \
    TREE(part)                                                                                                       \
    INNER(t) {                                                                                                       \
        if (t == 0) parts[block] = part[0];                                                                          \
    }

/* Numbers from -1 to 1, as good as random, the same on every device. */
KERNEL start(const int n, const int grid, GLOBAL real *RESTRICT vector, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block * BLOCK + t; i < n; i += (long)grid * BLOCK) {
            uint x = (uint)i;
            x = (x ^ (x >> 16)) * 0x7feb352du;
            x = (x ^ (x >> 15)) * 0x846ca68bu;
            const real value = (real)(x >> 8) / 8388608 - 1;
            vector[i] = value;
            sum += (double)value * value;
        }
        part[t] = sum;
    }
    PARTS_OF_BLOCK
}

/* One block: the root of the sum of the parts. */
KERNEL root_of_sum(const int count, GLOBAL const double *RESTRICT parts, GLOBAL double *RESTRICT found)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block + t; i < count; i += BLOCK) sum += parts[i];
        part[t] = sum;
    }
    TREE(part)
    INNER(t) {
        if (t == 0) found[0] = sqrt(part[0]);
    }
}

/* The vector over its norm, of which `parts` are the parts of the square, and a right-hand side of zero. */
KERNEL normalise(const int n, const int count, GLOBAL const double *RESTRICT parts, GLOBAL real *RESTRICT vector,
                 GLOBAL real *RESTRICT rest)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (int i = t; i < count; i += BLOCK) sum += parts[i];
        part[t] = sum;
    }
    TREE(part)
    const double over = 1 / sqrt(part[0]);
    INNER(t) {
        for (long i = block * BLOCK + t; i < n; i += (long)count * BLOCK) {
            vector[i] = (real)(vector[i] * over);
            rest[i] = 0;
        }
    }
}

/* vector -= moved. */
KERNEL subtract(const int n, const int grid, GLOBAL const result_real *RESTRICT moved, GLOBAL real *RESTRICT vector,
                GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block * BLOCK + t; i < n; i += (long)grid * BLOCK) {
            const double value = (double)vector[i] - moved[i];
            vector[i] = (real)value;
            sum += value * value;
        }
        part[t] = sum;
    }
    PARTS_OF_BLOCK
}
