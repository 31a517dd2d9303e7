/* Keys of nodes, for mis.c and mis_lists.c. */

#define SHARE_BITS 30 /* below the share of neighbours that are out, in 256ths */
#define MASK 0x3fffffffu

DEVICE_FUNCTION uint hashed(uint x)
{
    x = (x * 0x2c1b3c6du) & MASK;
    x ^= x >> 13;
    x = (x * 0x297a2d39u) & MASK;
    x ^= x >> 15;
    x = (x * 0x045d9f3bu) & MASK;
    return x ^ (x >> 14);
}
