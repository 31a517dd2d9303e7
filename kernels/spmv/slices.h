// The sums of 32 rows whose entries lie `stride` apart, for C compilers of processors.
#include "ahead.h"
#include "../device/vectors.h"
#define TOGETHER 32

typedef int some_ints __attribute__((vector_size(SOME * sizeof(int))));
typedef int some_ints_anywhere __attribute__((vector_size(SOME * sizeof(int)), aligned(sizeof(int)), may_alias));

DEVICE_FUNCTION int is_padded(const int *columns)
{
    int any = 0;
    for (int lane = 0; lane < TOGETHER; ++lane) any |= columns[lane];
    return any < 0;
}

// Some rows, by their number and not by a loop's, so that their sums stay in registers.
#define ADD_PART(part) parts[part] += LOAD_SOME(values + place + SOME * part) * FIND_SOME(x, here + SOME * part);
#define ADD_ENTRIES(part)                                                                                            \
    {                                                                                                                \
        const some_ints column = *(const some_ints_anywhere *)(here + SOME * part), is_entry = column >= 0;          \
        const some_ints found = column & is_entry;                                                                   \
        const int *at = (const int *)&found;                                                                         \
        OPAQUE_TO(at, found);                                                                                        \
        const some product = LOAD_SOME(values + place + SOME * part) * FIND_SOME(x, at);                             \
        parts[part] += (some)((some_truths)product & __builtin_convertvector(is_entry, some_truths));                \
    }

// sums = the products of the entries from `place` on, a multiple of `stride` before `end`. A padded column is -1, and
// reads no x, which may be NaN there.
DEVICE_FUNCTION void add_slice(const int *RESTRICT columns, const real *RESTRICT values, const real *RESTRICT x,
                               long place, const long end, const long stride, real *sums)
{
    some parts[TOGETHER / SOME] = {0};
    for (; place < end; place += stride) {
        const int *here = columns + place;
        ask_for(here, values + place, TOGETHER);
        if (!is_padded(here)) {
            OPAQUE(here);
            EACH_PART(ADD_PART)
        } else {
            EACH_PART(ADD_ENTRIES)
        }
    }
    for (int part = 0; part < TOGETHER / SOME; ++part) *(some_anywhere *)(sums + SOME * part) = parts[part];
}
