/* Adds up sums[BLOCK], which threads have just written, into sums[0]; BLOCK is a power of two. TREE_OF: where threads from `count` on,
 * a power of two, have nothing, which takes fewer barriers. */
#define TREE(sums) TREE_OF(sums, BLOCK)
#define TREE_OF(sums, count)                                                                                         \
    BARRIER;                                                                                                         \
    for (int width = (count) / 2; width > 0; width /= 2) {                                                           \
        INNER(t) {                                                                                                   \
            if (t < width) sums[t] += sums[t + width];                                                               \
        }                                                                                                            \
        BARRIER;                                                                                                     \
    }
