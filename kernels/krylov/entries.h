/* A block's entries of a vector, and sums over all its threads. */

/* A thread's entries i of begin <= i < end, the statement with its lane l; it has no comma outside of parentheses, since
 * OpenCL has no macros of a variable number of arguments. */
#define FOR_ENTRIES(t, begin, end, statement)                                                                        \
    do {                                                                                                             \
        long first = (begin) + (long)(t) * LANES;                                                                    \
        for (; first + LANES <= (end); first += BLOCK * LANES) {                                                     \
            UNROLL                                                                                                   \
            for (int l = 0; l < LANES; ++l) {                                                                        \
                const long i = first + l;                                                                            \
                statement;                                                                                           \
            }                                                                                                        \
        }                                                                                                            \
        for (int l = 0; l < LANES && first + l < (end); ++l) {                                                       \
            const long i = first + l;                                                                                \
            statement;                                                                                               \
        }                                                                                                            \
    } while (0)

DEVICE_FUNCTION double folded(const double *lanes)
{
    double sum = 0;
    UNROLL
    for (int l = 0; l < LANES; ++l) sum += lanes[l];
    return sum;
}

#include "../device/tree.h"

/* The same for the largest of them. */
#define HIGHEST(peaks)                                                                                               \
    for (int width = BLOCK / 2; width > 0; width /= 2) {                                                             \
        INNER(t) {                                                                                                   \
            if (t < width && peaks[t + width] > peaks[t]) peaks[t] = peaks[t + width];                               \
        }                                                                                                            \
        BARRIER;                                                                                                     \
    }

/* total = the sum of `count` partial sums; sums is free again afterwards. */
#define TOTAL(total, sums, partial, count)                                                                           \
    INNER(t) {                                                                                                       \
        double sum = 0;                                                                                              \
        for (int i = t; i < (count); i += BLOCK) sum += (partial)[i];                                                \
        sums[t] = sum;                                                                                               \
    }                                                                                                                \
    TREE(sums)                                                                                                       \
    const double total = sums[0];                                                                                    \
    BARRIER;

/* A kernel's body: partial sums of an expression of i, a number a block. */
#define PARTIAL_SUMS(expression)                                                                                     \
    OUTER(block);                                                                                                    \
    SHARED double sums[BLOCK];                                                                                       \
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;                           \
    INNER(t) {                                                                                                       \
        double lanes[LANES] = {0};                                                                                   \
        FOR_ENTRIES(t, begin, end, lanes[l] += expression);                                                          \
        sums[t] = folded(lanes);                                                                                     \
    }                                                                                                                \
    TREE(sums)                                                                                                       \
    INNER(t) {                                                                                                       \
        if (t == 0) partial[block] = sums[0];                                                                        \
    }
