/* Pairs of patches that fit into one, by handshakes: each chooses the neighbour it shares most edges with, and two that choose one another
 * are a pair. Ties are broken by a number that both ends of an edge compute alike, so every round makes pairs. */

DEVICE_FUNCTION uint edge_hash(const uint a, const uint b)
{
    uint x = (a < b ? a : b) * 0x9e3779b1u + (a < b ? b : a) * 0x85ebca6bu;
    x ^= x >> 15;
    x *= 0x2c1b3c6du;
    return x ^ (x >> 13);
}

KERNEL choose(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const int *RESTRICT adjacency, GLOBAL const int *RESTRICT sizes, GLOBAL const int *RESTRICT mate,
              const int limit, GLOBAL int *RESTRICT choice)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        int best = -1, highest = 0;
        uint best_hash = 0;
        if (mate[i] < 0) {
            for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
                const int other = columns[e];
                if (mate[other] >= 0 || sizes[i] + sizes[other] > limit || adjacency[e] < highest) continue;
                const uint hash = edge_hash((uint)i, (uint)other);
                if (adjacency[e] > highest || hash > best_hash) {
                    best = other;
                    highest = adjacency[e];
                    best_hash = hash;
                }
            }
        }
        choice[i] = best;
    }
}

#include "../device/handshake.h"

KERNEL is_first(const int n, GLOBAL const int *RESTRICT mate, GLOBAL int *RESTRICT flags)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) flags[i] = mate[i] < 0 || i < mate[i];
    }
}

KERNEL relabel(const int n, GLOBAL const int *RESTRICT mate, GLOBAL const int *RESTRICT numbers,
               GLOBAL int *RESTRICT labels)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        const int own = labels[i], other = mate[own];
        labels[i] = numbers[other >= 0 && other < own ? other : own];
    }
}
