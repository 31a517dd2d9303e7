// The sums of 32 rows whose entries lie `stride` apart, for C compilers of processors.
#include "ahead.h"
#define TOGETHER 32

// As many numbers side by side as a vector of the processor has, eight at most: compilers keep longer ones in memory.
#define BYTES_OF_double 8
#define BYTES_OF_float 4
#define BYTES_OF_(type) BYTES_OF_##type
#define BYTES_OF(type) BYTES_OF_(type)
#if defined(__AVX512F__) || defined(__AVX__) && BYTES_OF(real) == 4
#define SOME 8
#define FIND_SOME FIND_EIGHT
#define EACH_PART(ADD) ADD(0) ADD(1) ADD(2) ADD(3)
#elif defined(__AVX__) || BYTES_OF(real) == 4
#define SOME 4
#define FIND_SOME(x, at) (some){(x)[(at)[0]], (x)[(at)[1]], (x)[(at)[2]], (x)[(at)[3]]}
#define EACH_PART(ADD) ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)
#else
#define SOME 2
#define FIND_SOME(x, at) (some){(x)[(at)[0]], (x)[(at)[1]]}
#define EACH_PART(ADD)                                                                                               \
    ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)                                                          \
    ADD(8) ADD(9) ADD(10) ADD(11) ADD(12) ADD(13) ADD(14) ADD(15)
#endif
typedef real some __attribute__((vector_size(SOME * sizeof(real))));
typedef real some_anywhere __attribute__((vector_size(SOME * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef __typeof__((some){0} < (some){0}) some_truths; // -1 or 0 each, as wide as `real`
typedef int some_ints __attribute__((vector_size(SOME * sizeof(int))));
typedef int some_ints_anywhere __attribute__((vector_size(SOME * sizeof(int)), aligned(sizeof(int)), may_alias));
#define LOAD_SOME(from) (*(const some_anywhere *)(from))

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
