/* All of an iteration but the product, by a cluster of CLUSTER blocks on neighbouring multiprocessors, whose sums go
 * straight into one another's shared memory. */

#include "conjugate_gradient.c"

#if __CUDA_ARCH__ < 900 /* has no clusters: one block does it */
#undef CLUSTER
#define CLUSTER 1
#else
#undef KERNEL
#define KERNEL extern "C" __global__ void __launch_bounds__(BLOCK) __cluster_dims__(CLUSTER, 1, 1)
#endif
#define WARPS (BLOCK / 32)

/* Every block's sums of `sums` over all threads of the cluster: the same bits in each. `own` and `all` are used once. */
template <int many> __device__ void cluster_sums(double (&sums)[many], double (&own)[many][WARPS],
                                                 double (&all)[many][CLUSTER])
{
    const int lane = threadIdx.x % 32, warp = threadIdx.x / 32;
#pragma unroll
    for (int k = 0; k < many; ++k) {
#pragma unroll
        for (int step = 16; step > 0; step /= 2) sums[k] += __shfl_down_sync(0xffffffffu, sums[k], step);
        if (lane == 0) own[k][warp] = sums[k];
    }
    __syncthreads();
    if (threadIdx.x < many * CLUSTER) { // a thread for each sum and each block that wants it
        const int k = threadIdx.x / CLUSTER, block = threadIdx.x % CLUSTER;
        double sum = 0;
#pragma unroll
        for (int w = 0; w < WARPS; ++w) sum += own[k][w];
#if __CUDA_ARCH__ < 900
        all[k][block] = sum;
    }
    __syncthreads();
#else
        const unsigned here = (unsigned)__cvta_generic_to_shared(&all[k][blockIdx.x]);
        asm volatile("{\n .reg .b32 there;\n mapa.shared::cluster.u32 there, %0, %1;\n"
                     " st.shared::cluster.f64 [there], %2;\n}" ::"r"(here), "r"(block), "d"(sum) : "memory");
    }
    asm volatile("barrier.cluster.arrive.release.aligned;\n barrier.cluster.wait.acquire.aligned;" ::: "memory");
#endif
#pragma unroll
    for (int k = 0; k < many; ++k) {
        sums[k] = 0;
#pragma unroll
        for (int block = 0; block < CLUSTER; ++block) sums[k] += all[k][block];
    }
}

KERNEL rest(const ulong handle, const long count, GLOBAL const real *RESTRICT inverse, GLOBAL real *RESTRICT p,
            GLOBAL const real *RESTRICT q, GLOBAL real *RESTRICT x, GLOBAL real *RESTRICT r,
            GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    __shared__ double own[3][WARPS], all[3][CLUSTER], own_after[2][WARPS], all_after[2][CLUSTER];
    const int first = blockIdx.x * BLOCK + threadIdx.x, stride = CLUSTER * BLOCK, n = (int)count;
    const double rz = scalars[RZ];
    const int running = counters[STATUS] == RUNNING;
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;"); // no block is written to before it has begun
#endif
    double before[3] = {0, 0, 0}; // p.q, p.p and q.q
#pragma unroll 4
    for (int i = first; i < n; i += stride) {
        const double left = p[i], right = q[i];
        before[0] += left * right;
        before[1] += left * left;
        before[2] += right * right;
    }
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.aligned;");
#endif
    cluster_sums(before, own, all);
    const double broken = rz > 0 && FINITE(rz) ? before[0] : rz;
    const int usable = running && broken > 0 && FINITE(broken);
    const double alpha = usable ? rz / before[0] : 0;
    double after[2] = {0, 0}; // r.r and r.z
    if (usable) {
#pragma unroll 4
        for (int i = first; i < n; i += stride) {
            const real value = r[i] - alpha * q[i];
            x[i] += alpha * p[i];
            r[i] = value;
            after[0] += (double)value * value;
            after[1] += (double)value * (inverse[i] * value);
        }
    }
    cluster_sums(after, own_after, all_after);
    if (first == CLUSTER * BLOCK - 1) {
        judge(running, usable, broken, after[0], before[0], before[1], before[2], scalars, counters, history);
        if (usable) scalars[RZ] = after[1];
        SET_CONDITION(handle, counters[STATUS] == RUNNING);
    }
    if (usable) {
        const double beta = after[1] / rz;
#pragma unroll 4
        for (int i = first; i < n; i += stride) p[i] = inverse[i] * r[i] + beta * p[i];
    }
}
