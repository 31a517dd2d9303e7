/* Distance-k maximal independent sets on a processor (mis.c), by lists: a part, which is a run of nodes, goes through its undecided
 * nodes alone. A key is as there, but without the state: 0 when a node is decided. */

#include "mis.h"

#define FIRST_NODE(part) (int)((long)n * (part) / parts)

KERNEL start(const int n, const int parts, GLOBAL ulong *RESTRICT keys, GLOBAL int *RESTRICT list,
             GLOBAL int *RESTRICT lengths)
{
    OUTER(part);
    for (int i = FIRST_NODE(part); i < FIRST_NODE(part + 1); ++i) {
        keys[i] = hashed((uint)i);
        list[i] = i;
    }
    lengths[part] = FIRST_NODE(part + 1) - FIRST_NODE(part);
}

/* Lists the nodes whose key is the largest within `hops`, one or two, of what `reach` holds: keys, or the largest within some distance. */
KERNEL elect(const int n, const int parts, const int hops, GLOBAL const int *RESTRICT offsets,
             GLOBAL const int *RESTRICT columns, GLOBAL const ulong *RESTRICT reach, GLOBAL const ulong *RESTRICT keys,
             GLOBAL const int *RESTRICT list, GLOBAL const int *RESTRICT lengths, GLOBAL int *RESTRICT elected,
             GLOBAL int *RESTRICT counts)
{
    OUTER(part);
    const int first = FIRST_NODE(part);
    int count = 0;
    for (int k = first; k < first + lengths[part]; ++k) {
        const int i = list[k];
        const ulong key = keys[i];
        int is_largest = reach[i] <= key; /* most nodes find a larger one soon */
        for (int e = offsets[i]; is_largest && e < offsets[i + 1]; ++e) is_largest = reach[columns[e]] <= key;
        for (int e = offsets[i]; is_largest && hops > 1 && e < offsets[i + 1]; ++e)
            for (int f = offsets[columns[e]]; is_largest && f < offsets[columns[e] + 1]; ++f)
                is_largest = reach[columns[f]] <= key;
        if (is_largest) elected[first + count++] = i;
    }
    counts[part] = count;
}

/* Flags the roots that were elected, and what is within `radius`, one or two, of one: itself, too, where a path comes back. */
KERNEL cover(const int n, const int parts, const int radius, GLOBAL const int *RESTRICT offsets,
             GLOBAL const int *RESTRICT columns, GLOBAL const int *RESTRICT elected, GLOBAL const int *RESTRICT counts,
             GLOBAL int *RESTRICT roots, GLOBAL int *RESTRICT out)
{
    OUTER(part);
    const int first = FIRST_NODE(part);
    for (int k = first; k < first + counts[part]; ++k) {
        const int root = elected[k];
        roots[root] = 1;
        for (int e = offsets[root]; e < offsets[root + 1]; ++e) {
            const int near = columns[e];
            STORE_GLOBAL(&out[near], 1);
            for (int f = offsets[near]; radius > 1 && f < offsets[near + 1]; ++f) STORE_GLOBAL(&out[columns[f]], 1);
        }
    }
}

/* Strikes the decided nodes off the lists. With `shares`, those with more neighbours out come first in the next round. */
KERNEL refresh(const int n, const int parts, const int shares, GLOBAL const int *RESTRICT offsets,
               GLOBAL const int *RESTRICT columns, GLOBAL const int *RESTRICT roots, GLOBAL const int *RESTRICT out,
               GLOBAL ulong *RESTRICT keys, GLOBAL int *RESTRICT list, GLOBAL int *RESTRICT lengths)
{
    OUTER(part);
    const int first = FIRST_NODE(part);
    int count = 0;
    for (int k = first; k < first + lengths[part]; ++k) {
        const int i = list[k], begin = offsets[i], end = offsets[i + 1];
        if (roots[i] || out[i]) {
            keys[i] = 0;
            continue;
        }
        list[first + count++] = i;
        if (!shares) continue;
        int beside = 0;
        for (int e = begin; e < end; ++e) beside += out[columns[e]];
        keys[i] = (ulong)(255L * beside / (end - begin)) << SHARE_BITS | (keys[i] & MASK);
    }
    lengths[part] = count;
}
