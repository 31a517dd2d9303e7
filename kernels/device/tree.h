/* Adds up sums[BLOCK], which threads have just written, into sums[0]; BLOCK is a power of two. */
#define TREE(sums)                                                                                                   \
    BARRIER;                                                                                                         \
    for (int width = BLOCK / 2; width > 0; width /= 2) {                                                             \
        INNER(t) {                                                                                                   \
            if (t < width) sums[t] += sums[t + width];                                                               \
        }                                                                                                            \
        BARRIER;                                                                                                     \
    }
