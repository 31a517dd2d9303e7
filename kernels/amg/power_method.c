/* The power method's vectors (power_method.py): their norms are sums of blocks' parts in order, the same bits every time. A
 * fixed number of blocks go through the rows. Vectors are halved at each step in place of normalised, for an eigenvalue that is
 * 1 to 2; the eigenvalue is twice what the last step makes of the norm. */

#include "../device/tree.h"

#define PARTS_OF_BLOCK                                                                                               \
    TREE(part)                                                                                                       \
    INNER(t) {                                                                                                       \
        if (t == 0) parts[block] = part[0];                                                                          \
    }

/* Numbers from -1 to 1, as good as random, the same on every device, and a right-hand side of zero. */
KERNEL start(const int n, const int grid, GLOBAL real *RESTRICT vector, GLOBAL real *RESTRICT rest,
             GLOBAL double *RESTRICT parts)
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
            rest[i] = 0;
            sum += (double)value * value;
        }
        part[t] = sum;
    }
    PARTS_OF_BLOCK
}

/* vector = (vector - moved) / 2, and a right-hand side of zero. */
KERNEL subtract(const int n, const int grid, GLOBAL const result_real *RESTRICT moved, GLOBAL real *RESTRICT vector,
                GLOBAL real *RESTRICT rest, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    SHARED double part[BLOCK];
    INNER(t) {
        double sum = 0;
        for (long i = block * BLOCK + t; i < n; i += (long)grid * BLOCK) {
            const double value = ((double)vector[i] - moved[i]) / 2;
            vector[i] = (real)value;
            rest[i] = 0;
            sum += value * value;
        }
        part[t] = sum;
    }
    PARTS_OF_BLOCK
}

/* One block: twice the root of the ratio of the sums of parts. */
KERNEL growth(const int count, GLOBAL const double *RESTRICT parts, GLOBAL const double *RESTRICT before,
              GLOBAL double *RESTRICT found, const int place)
{
    OUTER(block);
    SHARED double part[BLOCK];
    SHARED double earlier[BLOCK];
    INNER(t) {
        double sum = 0, earlier_sum = 0;
        for (long i = block + t; i < count; i += BLOCK) {
            sum += parts[i];
            earlier_sum += before[i];
        }
        part[t] = sum;
        earlier[t] = earlier_sum;
    }
    TREE(part)
    TREE(earlier)
    INNER(t) {
        if (t == 0) found[place] = 2 * sqrt(part[0] / earlier[0]);
    }
}
