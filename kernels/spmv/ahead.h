// Entries further on are asked for on processors, since rows, columns, values and x are more streams than a core foresees.
#include "../device/eights.h"
#define AHEAD 1024 // entries

// Asks for memory AHEAD of `count` entries; it may lie beyond the arrays.
DEVICE_FUNCTION void ask_for(const int *columns, const real *values, const int count)
{
    for (int k = 0; k < count; k += 64 / (int)sizeof(real)) __builtin_prefetch(values + AHEAD + k);
    for (int k = 0; k < count; k += 64 / (int)sizeof(int)) __builtin_prefetch(columns + AHEAD + k);
}
