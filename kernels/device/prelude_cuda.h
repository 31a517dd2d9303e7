// The dialect on CUDA (NVRTC): a block is a thread block, INNER is its threads.
static_assert(sizeof(long) == 8, "the dialect's long has 64 bits");
typedef unsigned char uchar; // OpenCL's short names
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;

#ifdef MIN_BLOCKS // resident blocks a multiprocessor that registers shall allow
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK, MIN_BLOCKS)
#else
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK)
#endif
#define DEVICE_FUNCTION __device__ __forceinline__
#define GLOBAL
#define SHARED __shared__
#define SHARED_POINTER
#define RESTRICT __restrict__
#define UNROLL _Pragma("unroll")
#define READ_ONLY_LOAD(pointer) __ldg(pointer)
#define READ_ONCE_LOAD(pointer) __ldcs(pointer)
#define PREFETCH(pointer) ((void)0)

#define OUTER(bx) const long bx = blockIdx.x
#define OUTER2(bx, by) const long bx = blockIdx.x, by = blockIdx.y
#define OUTER3(bx, by, bz) const long bx = blockIdx.x, by = blockIdx.y, bz = blockIdx.z

#define SHARED_POOL(type, name, count)                                                                               \
    static_assert(sizeof(type) * (count) <= SHARED_POOL_BYTES, "shared_bytes of the build is less than SHARED_POOL"); \
    extern __shared__ __align__(16) unsigned char dialect_pool[];                                                    \
    type *const name = reinterpret_cast<type *>(dialect_pool)
#define PRIVATE(type, name) type name##_private
#define PRIVATE_ARRAY(type, name, count) type name##_private[count]
#define P(name) name##_private

#define DIALECT_THREAD ((int)(threadIdx.x + BLOCK_X * (threadIdx.y + BLOCK_Y * threadIdx.z)))
#define DIALECT_ONCE dialect_once = 1; dialect_once; dialect_once = 0 // a loop, so that `continue` leaves
#define INNER(t) for (int t = DIALECT_THREAD, DIALECT_ONCE)
#define INNER2(i, j) for (int i = threadIdx.x, j = threadIdx.y, DIALECT_ONCE)
#define INNER3(i, j, k) for (int i = threadIdx.x, j = threadIdx.y, k = threadIdx.z, DIALECT_ONCE)
#define INNER_FOR(i, n) for (decltype((n) + 0) i = DIALECT_THREAD; i < (n); i += BLOCK)
#define BARRIER __syncthreads()

// 1 / x without the slow path of a division: within two units in the last place where x and 1 / x are normal.
__device__ __forceinline__ double RECIPROCAL(const double x)
{
    double r;
    asm("rcp.approx.ftz.f64 %0, %1;" : "=d"(r) : "d"(x));
    r = fma(r, fma(-x, r, 1.0), r);
    return fma(r, fma(-x, r, 1.0), r);
}
__device__ __forceinline__ float RECIPROCAL(const float x) { return __frcp_rn(x); }

#define ATOMIC_ADD_SHARED(pointer, value) atomicAdd(pointer, value)
#define ATOMIC_ADD_GLOBAL(pointer, value) atomicAdd(pointer, value)
#define FETCH_ADD_SHARED(pointer, value) atomicAdd(pointer, value)
#define FETCH_ADD_GLOBAL(pointer, value) atomicAdd(pointer, value)
#define ATOMIC_MAX_GLOBAL(pointer, value) atomicMax(pointer, value)
#define STORE_GLOBAL(pointer, value) (*(volatile int *)(pointer) = (value))
#define LOAD_GLOBAL(pointer) (*(const volatile int *)(pointer))
#define COMPARE_SWAP_SHARED(pointer, expected, value) atomicCAS(pointer, expected, value)
