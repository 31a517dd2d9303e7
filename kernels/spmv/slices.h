// The sums of 32 rows whose entries lie `stride` apart, for C compilers of processors.
#include "ahead.h"
#define TOGETHER 32
typedef int eight_ints __attribute__((vector_size(8 * sizeof(int))));
typedef int eight_ints_anywhere __attribute__((vector_size(8 * sizeof(int)), aligned(sizeof(int)), may_alias));

DEVICE_FUNCTION int is_padded(const int *columns)
{
    int any = 0;
    for (int lane = 0; lane < TOGETHER; ++lane) any |= columns[lane];
    return any < 0;
}

// Four times eight rows, each by its number, so that their sums stay in registers.
#define EACH_PART(ADD) ADD(0) ADD(1) ADD(2) ADD(3)
#define ADD_PART(part) parts[part] += LOAD_EIGHT(values + place + 8 * part) * FIND_EIGHT(x, here + 8 * part);
#define ADD_ENTRIES(part)                                                                                            \
    {                                                                                                                \
        const eight_ints column = *(const eight_ints_anywhere *)(here + 8 * part), is_entry = column >= 0;           \
        const eight_ints found = column & is_entry;                                                                  \
        const int *at = (const int *)&found;                                                                         \
        OPAQUE_TO(at, found);                                                                                        \
        const eight product = LOAD_EIGHT(values + place + 8 * part) * FIND_EIGHT(x, at);                             \
        parts[part] += WHERE(__builtin_convertvector(is_entry, eight_truths), product);                              \
    }

// sums = the products of the entries from `place` on, a multiple of `stride` before `end`. A padded column is -1, and
// reads no x, which may be NaN there.
DEVICE_FUNCTION void add_slice(const int *RESTRICT columns, const real *RESTRICT values, const real *RESTRICT x,
                               long place, const long end, const long stride, real *sums)
{
    eight parts[TOGETHER / 8] = {0};
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
    for (int part = 0; part < TOGETHER / 8; ++part) STORE_EIGHT(sums + 8 * part, parts[part]);
}
