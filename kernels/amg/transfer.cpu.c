/* transfer.c on a processor, where a row of the inverse has one thread: eight sums, which do not wait for one another. */

#include "../device/eights.h"
typedef rhs_real rhs_eight __attribute__((vector_size(8 * sizeof(rhs_real)), aligned(sizeof(rhs_real)), may_alias));

#define ADD_PRODUCTS(sum, row)                                                                                       \
    {                                                                                                                \
        const real *const entries = inverse + (row) * count;                                                         \
        eight sums = {0};                                                                                            \
        int j = 0;                                                                                                   \
        for (; j + 8 <= count; j += 8)                                                                               \
            sums += LOAD_EIGHT(entries + j) * __builtin_convertvector(*(const rhs_eight *)(b + j), eight);           \
        sum = SUM_OF_EIGHT(sums);                                                                                    \
        for (; j < count; ++j) sum += entries[j] * (real)b[j];                                                       \
    }

#include "transfer.c"
