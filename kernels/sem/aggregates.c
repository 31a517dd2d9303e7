/* Matching of rows in pairs along their strongest couplings. */

DEVICE_FUNCTION uint mixed(uint x)
{
    x ^= x >> 16;
    x *= 0x7feb352du;
    x ^= x >> 15;
    x *= 0x846ca68bu;
    return x ^ (x >> 16);
}

/* choice = the free neighbour with the strongest negative coupling; of equal ones the pair whose hash is largest, which both of its
 * rows see alike, so that a chain of equal couplings does not wait for its end. */
KERNEL choose(const long rows, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT root, GLOBAL const int *RESTRICT mate,
              GLOBAL int *RESTRICT choice)
{
    OUTER(block);
    INNER(t) {
        const long row = block * BLOCK + t;
        if (row >= rows) continue;
        int best = -1;
        float strongest = 0;
        uint highest = 0;
        if (mate[row] < 0) {
            for (int e = offsets[row]; e < offsets[row + 1]; ++e) {
                const int column = columns[e];
                if (column == row || mate[column] >= 0) continue;
                const float strength = (float)(-values[e] / (root[row] * root[column])); /* rounding does not tell equal ones apart */
                const uint low = (uint)(row < column ? row : column), high = (uint)(row < column ? column : row);
                const uint hash = mixed(low ^ mixed(high));
                if (strength > strongest * 1.0001f || (strength > strongest * 0.9999f && best >= 0 && hash > highest)) {
                    best = column;
                    strongest = strength > strongest ? strength : strongest;
                    highest = hash;
                }
            }
        }
        choice[row] = best;
    }
}

#include "../device/handshake.h"
