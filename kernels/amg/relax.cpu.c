/* relax.c for the C compiler, whose rows of a slice go through vectors as long as the processor's. */

#include "../spmv/vectors.h"
/* A processor has no registers for rows: it takes entries of some of them at once, from where they lie. */
#define SOME_ROWS (INSIDE == ELL)
#include "relax.c"
