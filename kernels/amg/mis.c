/* Distance-k maximal independent sets by rounds of the largest key in the neighbourhood (Bell, Dalton, Olson 2012).
 *
 * A key is the node's state in the two highest bits, then for an undecided node the share of its neighbours that are out, then 30 bits
 * of a hash that maps indices one to one: no ties, and the same set on every machine. A node whose key is the largest within distance k
 * becomes a root; one within distance k of a root is out. */

#include "mis.h"

#define UNDECIDED ((ulong)1 << 62)
#define ROOT ((ulong)2 << 62)

DEVICE_FUNCTION ulong largest(const ulong own, const int begin, const int end, GLOBAL const int *columns,
                              GLOBAL const ulong *keys)
{
    ulong top = own;
    for (int e = begin; e < end; ++e) {
        const ulong key = keys[columns[e]];
        top = key > top ? key : top;
    }
    return top;
}

KERNEL start(const int n, GLOBAL ulong *RESTRICT keys)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) keys[i] = UNDECIDED | hashed((uint)i);
    }
}

KERNEL spread(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const ulong *RESTRICT keys, GLOBAL ulong *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) result[i] = largest(keys[i], offsets[i], offsets[i + 1], columns, keys);
    }
}

/* `reach` holds the largest key within distance k - 1 of each node. Unless `electing`, roots are not made, only what they cover. */
KERNEL decide(const int n, const int electing, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const ulong *RESTRICT reach, GLOBAL const ulong *RESTRICT keys, GLOBAL ulong *RESTRICT result,
              GLOBAL int *RESTRICT undecided)
{
    OUTER(block);
    SHARED int left[1];
    INNER(t) {
        if (t == 0) left[0] = 0;
    }
    BARRIER;
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        ulong key = keys[i];
        if (key >= UNDECIDED && key < ROOT) {
            const ulong top = largest(reach[i], offsets[i], offsets[i + 1], columns, reach);
            if (electing && top == key) {
                key = ROOT | (key & MASK);
            } else if (top >= ROOT) {
                key &= MASK;
            } else {
                ATOMIC_ADD_SHARED(&left[0], 1);
            }
        }
        result[i] = key;
    }
    BARRIER;
    INNER(t) {
        if (t == 0 && undecided && left[0] > 0) ATOMIC_ADD_GLOBAL(&undecided[0], left[0]);
    }
}

/* The keys of the next round: undecided nodes with more neighbours out come first. */
KERNEL refresh(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
               GLOBAL const ulong *RESTRICT keys, GLOBAL ulong *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        ulong key = keys[i];
        if (key >= UNDECIDED && key < ROOT) {
            const int begin = offsets[i], end = offsets[i + 1];
            int out = 0;
            for (int e = begin; e < end; ++e) out += keys[columns[e]] < UNDECIDED;
            key = UNDECIDED | ((ulong)(255L * out / (end - begin)) << SHARE_BITS) | (key & MASK);
        }
        result[i] = key;
    }
}

KERNEL is_root(const int n, GLOBAL const ulong *RESTRICT keys, GLOBAL int *RESTRICT flags)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) flags[i] = keys[i] >= ROOT;
    }
}
