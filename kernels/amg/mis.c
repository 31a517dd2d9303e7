/* Distance-k maximal independent sets by k rounds of the largest key in the neighbourhood (Bell, Dalton, Olson 2012).
 *
 * A key is the node's state in the two highest bits, then 30 bits of a hash that maps indices one to one: no ties, and the same set
 * on every machine. A node whose key is the largest within distance k becomes a root; one within distance k of a root is out. */

#define MASK 0x3fffffffu
#define UNDECIDED 0x40000000u
#define ROOT 0x80000000u

DEVICE_FUNCTION uint hashed(uint x)
{
    x = (x * 0x2c1b3c6du) & MASK;
    x ^= x >> 13;
    x = (x * 0x297a2d39u) & MASK;
    x ^= x >> 15;
    x = (x * 0x045d9f3bu) & MASK;
    return x ^ (x >> 14);
}

DEVICE_FUNCTION uint largest(const uint own, const int begin, const int end, GLOBAL const int *columns,
                             GLOBAL const uint *keys)
{
    uint top = own;
    for (int e = begin; e < end; ++e) {
        const uint key = keys[columns[e]];
        top = key > top ? key : top;
    }
    return top;
}

KERNEL start(const int n, GLOBAL uint *RESTRICT keys)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) keys[i] = UNDECIDED | hashed((uint)i);
    }
}

KERNEL spread(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const uint *RESTRICT keys, GLOBAL uint *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) result[i] = largest(keys[i], offsets[i], offsets[i + 1], columns, keys);
    }
}

/* `spread_keys` hold the largest key within distance k - 1. */
KERNEL decide(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const uint *RESTRICT spread_keys, GLOBAL const uint *RESTRICT keys, GLOBAL uint *RESTRICT result,
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
        uint key = keys[i];
        if ((key & UNDECIDED) != 0) {
            const uint top = largest(spread_keys[i], offsets[i], offsets[i + 1], columns, spread_keys);
            if (top == key) {
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
        if (t == 0 && left[0] > 0) ATOMIC_ADD_GLOBAL(&undecided[0], left[0]);
    }
}

KERNEL is_root(const int n, GLOBAL const uint *RESTRICT keys, GLOBAL int *RESTRICT flags)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) flags[i] = keys[i] >= ROOT;
    }
}
