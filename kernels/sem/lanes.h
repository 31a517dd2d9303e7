/* W numbers side by side, one of each element of a group or of a part of it, for bodies of processors. WHOLE stands before a loop that is
 * unrolled. */

#ifdef __OPENCL_VERSION__
#define JOINED(a, b) a##b
#define VECTOR(type, count) JOINED(type, count)
typedef VECTOR(real, W) lanes;
#define LOAD(from) (*(GLOBAL const lanes *)(from)) /* buffers are aligned, and groups as long as vectors */
#define STORE(to, value) (*(GLOBAL lanes *)(to) = (value))
#define WHOLE _Pragma("unroll")
#define AHEAD(pointer)
#elif defined(__CUDACC__) /* built by tests alone */
typedef real lanes;
#define LOAD(from) *(from)
#define STORE(to, value) (*(to) = (value))
#define WHOLE UNROLL
#define AHEAD(pointer)
#else
typedef real lanes __attribute__((vector_size(W * sizeof(real)), may_alias));
typedef real lanes_anywhere __attribute__((vector_size(W * sizeof(real)), aligned(sizeof(real)), may_alias));
#define LOAD(from) (*(const lanes_anywhere *)(from))
#define STORE(to, value) (*(lanes_anywhere *)(to) = (value))
#define WHOLE _Pragma("GCC unroll 16")
#define AHEAD(pointer) __builtin_prefetch(pointer, 0, 2)
#endif
