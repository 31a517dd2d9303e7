/* relax.c for the C compiler, whose rows of a slice go through vectors as long as the processor's. */

#include "../spmv/vectors.h"
#include "relax.c"
