// OpenCL C 1.2's names before a program's first line, as far as kernels use them: clang alone declares its functions.
#define __OPENCL_VERSION__ 120
#pragma GCC poison __builtin_prefetch // clang has it, and a GPU's driver need not
typedef unsigned char uchar;
typedef unsigned short ushort;
typedef unsigned int uint;
typedef unsigned long ulong;
typedef unsigned long size_t;
typedef uint cl_mem_fence_flags;
#define CLK_LOCAL_MEM_FENCE 1
#define CLK_GLOBAL_MEM_FENCE 2
#define as_int(x) __builtin_astype((x), int)
#define as_long(x) __builtin_astype((x), long)
#define as_float(x) __builtin_astype((x), float)
#define as_double(x) __builtin_astype((x), double)
#define as_uint(x) __builtin_astype((x), uint)
#define as_ulong(x) __builtin_astype((x), ulong)
typedef double double2 __attribute__((ext_vector_type(2)));
typedef float float4 __attribute__((ext_vector_type(4)));
typedef float float2 __attribute__((ext_vector_type(2)));
typedef double double4 __attribute__((ext_vector_type(4)));
typedef double double8 __attribute__((ext_vector_type(8)));
typedef float float8 __attribute__((ext_vector_type(8)));
typedef float float16 __attribute__((ext_vector_type(16)));
