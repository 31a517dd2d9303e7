/* Where the operator's results go: all to the element vector `parts`; or, of the assembled vector `y`, those inside an element, which
 * are of this element alone, straight to their place, and those on its surface to the surface vector for a gather, or added by atomics.
 *
 * A surface vector holds of every element the 6 Q² - 12 Q + 8 nodes on its surface, face after face (layout.py), so that no byte of it
 * is left out when it is written and read. */

#define TO_PARTS 0
#define TO_BOTH 1
#define TO_NODES 2

#define IS_INNER(k, j, i) ((k) > 0 && (k) < Q - 1 && (j) > 0 && (j) < Q - 1 && (i) > 0 && (i) < Q - 1)
#define SURFACE (6 * Q * Q - 12 * Q + 8)
#define ON_SURFACE(k, j, i)                                                                                           \
    ((k) == 0 || (k) == Q - 1 ? ((k) == 0 ? 0 : Q * Q) + (j) * Q + (i)                                                \
     : (j) == 0 || (j) == Q - 1 ? 2 * Q * Q + ((j) == 0 ? 0 : (Q - 2) * Q) + ((k) - 1) * Q + (i)                      \
                                : 4 * Q * Q - 4 * Q + ((i) == 0 ? 0 : (Q - 2) * (Q - 2)) + ((k) - 1) * (Q - 2) + (j) - 1)

#if OUTPUT == TO_BOTH
#define DELIVER(node, element, k, j, i, surface, y, result)                                                           \
    do {                                                                                                             \
        if (!IS_INNER(k, j, i)) (surface)[(element) * SURFACE + ON_SURFACE(k, j, i)] = (result);                     \
        else if ((node) >= 0) (y)[node] = (result);                                                                  \
    } while (0)
#elif OUTPUT == TO_NODES
#define DELIVER(node, element, k, j, i, surface, y, result)                                                           \
    do {                                                                                                             \
        if (IS_INNER(k, j, i) && (node) >= 0) (y)[node] = (result);                                                  \
        else if ((node) >= 0) ATOMIC_ADD_GLOBAL(&(y)[node], (result));                                               \
    } while (0)
#endif
