// The dialect on a C compiler: a block is one call, INNER is a loop over its threads. The caller gives the
// block's index in three arguments that a macro, made from each kernel's name, puts before the kernel's own.
_Static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");
#include <math.h>
typedef unsigned char uchar; // OpenCL's short names
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#define KERNEL static __attribute__((noinline)) void
#define DIALECT_INDEX const long dialect_bx, const long dialect_by, const long dialect_bz
#define DEVICE_FUNCTION static inline __attribute__((always_inline))
#define GLOBAL
#define SHARED __attribute__((aligned(64)))
#define SHARED_POINTER
#define RESTRICT restrict
#define UNROLL
#define READ_ONLY_LOAD(pointer) (*(pointer))
#define READ_ONCE_LOAD(pointer) (*(pointer))
#define PREFETCH(pointer) __builtin_prefetch(pointer)

#define OUTER(bx) const long bx = dialect_bx
#define OUTER2(bx, by) const long bx = dialect_bx, by = dialect_by
#define OUTER3(bx, by, bz) const long bx = dialect_bx, by = dialect_by, bz = dialect_bz

#define SHARED_POOL(type, name, count)                                                                               \
    _Static_assert(sizeof(type) * (count) <= SHARED_POOL_BYTES, "shared_bytes of the build is less than SHARED_POOL"); \
    SHARED type name[count]
#define PRIVATE(type, name) SHARED type name##_private[BLOCK]
#define PRIVATE_ARRAY(type, name, count) SHARED type name##_private[BLOCK][count]
#define P(name) name##_private[dialect_thread]

#define INNER(t) for (int t = 0, dialect_thread = 0; t < BLOCK; ++t, ++dialect_thread)
#define INNER2(i, j)                                                                                                 \
    for (int j = 0; j < BLOCK_Y; ++j)                                                                                \
        for (int i = 0, dialect_thread = BLOCK_X * j; i < BLOCK_X; ++i, ++dialect_thread)
#define INNER3(i, j, k)                                                                                              \
    for (int k = 0; k < BLOCK_Z; ++k)                                                                                \
        for (int j = 0; j < BLOCK_Y; ++j)                                                                            \
            for (int i = 0, dialect_thread = BLOCK_X * (j + BLOCK_Y * k); i < BLOCK_X; ++i, ++dialect_thread)
#define INNER_FOR(i, n) for (__typeof__((n) + 0) i = 0; i < (n); ++i)
#define BARRIER ((void)0)

#define ATOMIC_ADD_SHARED(pointer, value) (*(pointer) += (value)) // a block is one thread
#define ATOMIC_ADD_GLOBAL(pointer, value)                                                                            \
    _Generic(*(pointer), int: dialect_add_int, float: dialect_add_float, double: dialect_add_double)(pointer, value)
static inline void dialect_add_int(int *target, int value) { __atomic_fetch_add(target, value, __ATOMIC_RELAXED); }
#define DIALECT_ADD(type)                                                                                            \
    static inline void dialect_add_##type(type *target, type value)                                                  \
    {                                                                                                                \
        type old, sum;                                                                                               \
        __atomic_load(target, &old, __ATOMIC_RELAXED);                                                               \
        do sum = old + value;                                                                                        \
        while (!__atomic_compare_exchange(target, &old, &sum, 1, __ATOMIC_RELAXED, __ATOMIC_RELAXED));               \
    }
DIALECT_ADD(float)
DIALECT_ADD(double)
static inline int dialect_fetch_add(int *target, int value)
{
    const int old = *target;
    *target = old + value;
    return old;
}
static inline int dialect_compare_swap(int *target, int expected, int value)
{
    const int old = *target;
    if (old == expected) *target = value;
    return old;
}
static inline void dialect_max(int *target, int value)
{
    int old = __atomic_load_n(target, __ATOMIC_RELAXED);
    while (old < value && !__atomic_compare_exchange_n(target, &old, value, 0, __ATOMIC_RELAXED, __ATOMIC_RELAXED)) {}
}
#define FETCH_ADD_SHARED(pointer, value) dialect_fetch_add(pointer, value)
#define FETCH_ADD_GLOBAL(pointer, value) __atomic_fetch_add(pointer, value, __ATOMIC_RELAXED)
#define ATOMIC_MAX_GLOBAL(pointer, value) dialect_max(pointer, value)
#define STORE_GLOBAL(pointer, value) __atomic_store_n(pointer, value, __ATOMIC_RELAXED)
#define LOAD_GLOBAL(pointer) __atomic_load_n(pointer, __ATOMIC_RELAXED)
#define COMPARE_SWAP_SHARED(pointer, expected, value) dialect_compare_swap(pointer, expected, value)

#define RECIPROCAL(x) (1 / (x))
