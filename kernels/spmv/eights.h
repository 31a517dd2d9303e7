// Sums of products eight at a time, for C compilers of processors. The factors from x are loaded one by one, since the
// compilers' gathers take longer, and entries further on are asked for, since rows, columns, values and x are more
// streams than a core foresees.
#define AHEAD 1024 // entries
#define EIGHT_BYTES (8 * sizeof(real))
typedef real eight __attribute__((vector_size(EIGHT_BYTES)));
typedef real eight_anywhere __attribute__((vector_size(EIGHT_BYTES), aligned(sizeof(real)), may_alias));

#define LOAD_EIGHT(from) (*(const eight_anywhere *)(from))
#define FIND_EIGHT(x, at) (eight){x[(at)[0]], x[(at)[1]], x[(at)[2]], x[(at)[3]], x[(at)[4]], x[(at)[5]], x[(at)[6]], x[(at)[7]]}
#define SUM_OF_EIGHT(v) ((((v)[0] + (v)[4]) + ((v)[1] + (v)[5])) + (((v)[2] + (v)[6]) + ((v)[3] + (v)[7])))

// What lies AHEAD of `count` entries; it may lie beyond the arrays.
DEVICE_FUNCTION void ask_for(const int *columns, const real *values, const int count)
{
    for (int k = 0; k < count; k += 64 / (int)sizeof(real)) __builtin_prefetch(values + AHEAD + k);
    for (int k = 0; k < count; k += 64 / (int)sizeof(int)) __builtin_prefetch(columns + AHEAD + k);
}
