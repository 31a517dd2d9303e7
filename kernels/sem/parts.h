/* A group in parts, of as many elements as a vector of the processor holds: compilers keep longer ones in memory. */

#include "../device/register.h"

#define W (ELEMENTS * (int)sizeof(real) <= REGISTER ? ELEMENTS : REGISTER / (int)sizeof(real))
#define FOR_PARTS for (int part = 0; part < ELEMENTS; part += W)
#define FROM_PART(place) ((place) + part)
#define LAST_PART if (part + W == ELEMENTS)
/* l goes through the numbers of a part's slab, and IN_GROUP(l) tells where they stand from the part's first. */
#if defined(__AVX512F__) /* a group is one part, whose numbers have no gaps */
#define FOR_SLAB for (int l = 0; l < Q2 * W; ++l)
#define IN_GROUP(l) (W == ELEMENTS ? l : l / W * ELEMENTS + l % W)
#else
#define FOR_SLAB for (int at = 0; at < Q2; ++at) for (int l = at * W; l < (at + 1) * W; ++l)
#define IN_GROUP(l) (l + at * (ELEMENTS - W))
#endif
