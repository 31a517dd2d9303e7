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

// sums = the products of the entries from `place` on, a multiple of `stride` before `end`. A padded column is -1, and
// reads no x, which may be NaN there. It stands after all entries of its row.
DEVICE_FUNCTION void add_slice(const int *RESTRICT columns, const real *RESTRICT values, const real *RESTRICT x,
                               long place, const long end, const long stride, real *sums)
{
    eight parts[TOGETHER / 8] = {0};
    for (; place < end; place += stride) {
        ask_for(columns + place, values + place, TOGETHER);
        if (!is_padded(columns + place))
            for (int part = 0; part < TOGETHER / 8; ++part)
                parts[part] += LOAD_EIGHT(values + place + 8 * part) * FIND_EIGHT(x, columns + place + 8 * part);
        else
            for (int part = 0; part < TOGETHER / 8; ++part) {
                const eight_ints column = *(const eight_ints_anywhere *)(columns + place + 8 * part);
                const eight_ints is_entry = column >= 0;
                int at[8];
                *(eight_ints_anywhere *)at = column & is_entry;
                const eight product = LOAD_EIGHT(values + place + 8 * part) * FIND_EIGHT(x, at);
                parts[part] += WHERE(__builtin_convertvector(is_entry, eight_truths), product);
            }
    }
    for (int lane = 0; lane < TOGETHER; ++lane) sums[lane] = parts[lane / 8][lane % 8];
}
