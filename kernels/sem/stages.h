/* Factors on their way: each thread copies its own of the next STAGES slabs to shared memory while it computes, and waits for none but
 * its own, so that the bytes in flight do not depend on the registers that are free. CUDA alone has such copies; 0 stages: plain loads. */

#ifndef __CUDACC__
#undef STAGES
#define STAGES 0
#endif
#if STAGES
template <int bytes = sizeof(real)> __device__ __forceinline__ void copy_ahead(real *to, const real *from)
{
    const unsigned place = (unsigned)__cvta_generic_to_shared(to);
    if constexpr (bytes == 16) asm volatile("cp.async.cg.shared.global [%0], [%1], 16;" ::"r"(place), "l"(from));
    else asm volatile("cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(place), "l"(from), "n"(bytes));
}
__device__ __forceinline__ void end_of_stage() { asm volatile("cp.async.commit_group;"); }
__device__ __forceinline__ void wait_for_stage() { asm volatile("cp.async.wait_group %0;" ::"n"(STAGES - 1)); }

/* Ordered after the wait, and after nothing else: loads of other shared memory may go ahead of it. */
__device__ __forceinline__ double arrived(const double *from)
{
    double value;
    asm volatile("ld.shared.f64 %0, [%1];" : "=d"(value) : "r"((unsigned)__cvta_generic_to_shared(from)));
    return value;
}
__device__ __forceinline__ float arrived(const float *from)
{
    float value;
    asm volatile("ld.shared.f32 %0, [%1];" : "=f"(value) : "r"((unsigned)__cvta_generic_to_shared(from)));
    return value;
}
#endif
