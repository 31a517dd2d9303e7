/* loops.c for the C compiler, in parts. */

#include "parts.h"
#include "loops.c"
