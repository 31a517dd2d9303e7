/* Where the operator's results go: all to the element vector `parts`; or, of the assembled vector `y`, those inside an element, which
 * are of this element alone, straight to their place, and those on its surface to `parts` for a gather, or added by atomics. */

#define TO_PARTS 0
#define TO_BOTH 1
#define TO_NODES 2

#if OUTPUT == TO_BOTH
#define DELIVER(node, is_inner, part, y, result)                                                                      \
    do {                                                                                                             \
        if ((is_inner) && (node) >= 0) (y)[node] = (result);                                                         \
        else (part) = (result);                                                                                      \
    } while (0)
#elif OUTPUT == TO_NODES
#define DELIVER(node, is_inner, part, y, result)                                                                      \
    do {                                                                                                             \
        if ((is_inner) && (node) >= 0) (y)[node] = (result);                                                         \
        else if ((node) >= 0) ATOMIC_ADD_GLOBAL(&(y)[node], (result));                                               \
    } while (0)
#endif
