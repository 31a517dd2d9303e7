// The dialect on OpenCL C 1.2: a block is a work-group, INNER is its work-items.
#pragma OPENCL EXTENSION cl_khr_fp64 : enable
#pragma OPENCL EXTENSION cl_khr_int64_base_atomics : enable

#define KERNEL __kernel __attribute__((reqd_work_group_size(BLOCK_X, BLOCK_Y, BLOCK_Z))) void
#define DEVICE_FUNCTION static inline __attribute__((always_inline))
#define GLOBAL __global
#define SHARED __local
#define SHARED_POINTER __local
#define RESTRICT restrict
#ifdef DIALECT_CPU // loops over work-items are faster without
#define UNROLL
#else
#define UNROLL _Pragma("unroll")
#endif
#define READ_ONLY_LOAD(pointer) (*(pointer))
#define READ_ONCE_LOAD(pointer) (*(pointer))
#define PREFETCH(pointer) prefetch(pointer, 1)

#define OUTER(bx) const long bx = get_group_id(0)
#define OUTER2(bx, by) const long bx = get_group_id(0), by = get_group_id(1)
#define OUTER3(bx, by, bz) const long bx = get_group_id(0), by = get_group_id(1), bz = get_group_id(2)

#define SHARED_POOL(type, name, count)                                                                               \
    typedef char shared_bytes_of_the_build_is_less_than_SHARED_POOL[                                                 \
        sizeof(type) * (count) <= SHARED_POOL_BYTES ? 1 : -1];                                                       \
    __local type name[count]
#define PRIVATE(type, name) type name##_private
#define PRIVATE_ARRAY(type, name, count) type name##_private[count]
#define P(name) name##_private

#define DIALECT_THREAD ((int)(get_local_id(0) + BLOCK_X * (get_local_id(1) + BLOCK_Y * get_local_id(2))))
#define DIALECT_ONCE dialect_once = 1; dialect_once; dialect_once = 0 // a loop, so that `continue` leaves
#define INNER(t) for (int t = DIALECT_THREAD, DIALECT_ONCE)
#define INNER2(i, j) for (int i = get_local_id(0), j = get_local_id(1), DIALECT_ONCE)
#define INNER3(i, j, k) for (int i = get_local_id(0), j = get_local_id(1), k = get_local_id(2), DIALECT_ONCE)
#ifdef DIALECT_CPU // one work-item goes through all: memory in order, and a loop that becomes vector instructions
#define INNER_FOR(i, n) for (__typeof__((n) + 0) i = DIALECT_THREAD == 0 ? 0 : (n); i < (n); ++i)
#else
#define INNER_FOR(i, n) for (__typeof__((n) + 0) i = DIALECT_THREAD; i < (n); i += BLOCK)
#endif
#define BARRIER barrier(CLK_LOCAL_MEM_FENCE | CLK_GLOBAL_MEM_FENCE)

// Adds: integers by the language; floating-point numbers by compare-and-swap, or by NVIDIA's own instruction where the
// device is found to take it (DIALECT_PTX).
#define DIALECT_OVERLOAD static inline __attribute__((overloadable)) void
#define DIALECT_ADD_INT(space)                                                                                       \
    DIALECT_OVERLOAD dialect_add(volatile space int *target, int value) { atomic_add(target, value); }
#define DIALECT_ADD_SWAP(space, type, word, reinterpret, reinterpret_word, swap)                                     \
    DIALECT_OVERLOAD dialect_add(volatile space type *target, type value)                                            \
    {                                                                                                                \
        volatile space word *bits = (volatile space word *)target;                                                   \
        word expected, old = *bits;                                                                                  \
        do {                                                                                                         \
            expected = old;                                                                                          \
            old = swap(bits, expected, reinterpret_word(reinterpret(expected) + value));                             \
        } while (old != expected);                                                                                   \
    }
#define DIALECT_ADD_PTX(space, ptx_space, type, suffix, constraint)                                                  \
    DIALECT_OVERLOAD dialect_add(volatile space type *target, type value)                                            \
    {                                                                                                                \
        asm volatile("red." ptx_space ".add." suffix " [%0], %1;" ::"l"(target), constraint(value) : "memory");      \
    }
DIALECT_ADD_INT(__global)
DIALECT_ADD_INT(__local)
#ifdef DIALECT_PTX
DIALECT_ADD_PTX(__global, "global", float, "f32", "f")
DIALECT_ADD_PTX(__global, "global", double, "f64", "d")
DIALECT_ADD_PTX(__local, "shared", float, "f32", "f")
DIALECT_ADD_PTX(__local, "shared", double, "f64", "d")
#else
DIALECT_ADD_SWAP(__global, float, int, as_float, as_int, atomic_cmpxchg)
DIALECT_ADD_SWAP(__global, double, ulong, as_double, as_ulong, atom_cmpxchg)
DIALECT_ADD_SWAP(__local, float, int, as_float, as_int, atomic_cmpxchg)
DIALECT_ADD_SWAP(__local, double, ulong, as_double, as_ulong, atom_cmpxchg)
#endif
#define ATOMIC_ADD_SHARED(pointer, value) dialect_add(pointer, value)
#define ATOMIC_ADD_GLOBAL(pointer, value) dialect_add(pointer, value)
#define FETCH_ADD_SHARED(pointer, value) atomic_add(pointer, value)
#define FETCH_ADD_GLOBAL(pointer, value) atomic_add(pointer, value)
#define ATOMIC_MAX_GLOBAL(pointer, value) atomic_max(pointer, value)
#define STORE_GLOBAL(pointer, value) (*(volatile __global int *)(pointer) = (value))
#define LOAD_GLOBAL(pointer) (*(const volatile __global int *)(pointer))
#define COMPARE_SWAP_SHARED(pointer, expected, value) atomic_cmpxchg(pointer, expected, value)

#define RECIPROCAL(x) (1 / (x))
