/* As many numbers side by side as a vector of the processor has, eight at most, for bodies of processors in GNU C: compilers keep longer
 * ones in memory. `real` is a define. */

#include "eights.h"

/* EACH_PART is for 32 numbers: as many vectors, by their number and not by a loop's, so that they stay in registers. */
#define BYTES_OF_double 8
#define BYTES_OF_float 4
#define BYTES_OF_(type) BYTES_OF_##type
#define BYTES_OF(type) BYTES_OF_(type)
#if defined(__AVX512F__) || defined(__AVX__) && BYTES_OF(real) == 4
#define SOME 8
#define FIND_SOME FIND_EIGHT
#define SUM_OF_SOME SUM_OF_EIGHT
#define EACH_PART(ADD) ADD(0) ADD(1) ADD(2) ADD(3)
#elif defined(__AVX__) || BYTES_OF(real) == 4
#define SOME 4
#define FIND_SOME(x, at) (some){(x)[(at)[0]], (x)[(at)[1]], (x)[(at)[2]], (x)[(at)[3]]}
#define SUM_OF_SOME(v) (((v)[0] + (v)[2]) + ((v)[1] + (v)[3]))
#define EACH_PART(ADD) ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)
#else
#define SOME 2
#define FIND_SOME(x, at) (some){(x)[(at)[0]], (x)[(at)[1]]}
#define SUM_OF_SOME(v) ((v)[0] + (v)[1])
#define EACH_PART(ADD)                                                                                               \
    ADD(0) ADD(1) ADD(2) ADD(3) ADD(4) ADD(5) ADD(6) ADD(7)                                                          \
    ADD(8) ADD(9) ADD(10) ADD(11) ADD(12) ADD(13) ADD(14) ADD(15)
#endif
typedef real some __attribute__((vector_size(SOME * sizeof(real))));
typedef real some_anywhere __attribute__((vector_size(SOME * sizeof(real)), aligned(sizeof(real)), may_alias));
typedef __typeof__((some){0} < (some){0}) some_truths; /* -1 or 0 each, as wide as `real` */

#define LOAD_SOME(from) (*(const some_anywhere *)(from))
#define STORE_SOME(to, v) (*(some_anywhere *)(to) = (v))
/* 0 where it is not true, whatever v is there */
#define WHERE_SOME(truths, v) ((some)((some_truths)(v) & (truths)))
