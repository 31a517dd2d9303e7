/* All of an iteration but the product, by a cluster of CLUSTER blocks on neighbouring multiprocessors: vectors stay in
 * registers, and sums go straight into one another's shared memory. */

#include "conjugate_gradient.c"

#if __CUDA_ARCH__ >= 900 /* others have no clusters, and never run this */
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

/* A thread has ENTRIES entries of each vector in registers, of neighbours beside each other; behind the last are zeros. */
#define FOR_OWN(statement)                                                                                           \
    _Pragma("unroll") for (int k = 0; k < ENTRIES; ++k)                                                              \
    {                                                                                                                \
        const int i = first + k * CLUSTER * BLOCK;                                                                   \
        statement;                                                                                                   \
    }

KERNEL rest(const ulong handle, const long count, GLOBAL const real *RESTRICT inverse, GLOBAL real *RESTRICT p,
            GLOBAL const real *RESTRICT q, GLOBAL real *RESTRICT x, GLOBAL real *RESTRICT r,
            GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    __shared__ double own[3][WARPS], all[3][CLUSTER], own_after[2][WARPS], all_after[2][CLUSTER];
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.arrive.relaxed.aligned;"); // no block is written to before it has begun
#endif
    const int first = blockIdx.x * BLOCK + threadIdx.x, n = (int)count;
    real along[ENTRIES], image[ENTRIES], residual[ENTRIES], weight[ENTRIES];
    FOR_OWN(along[k] = i < n ? p[i] : 0)
    FOR_OWN(image[k] = i < n ? q[i] : 0)
    FOR_OWN(residual[k] = i < n ? r[i] : 0)
    FOR_OWN(weight[k] = i < n ? inverse[i] : 0)
    const double rz = scalars[RZ];
    const int running = counters[STATUS] == RUNNING;
    double before[3] = {0, 0, 0}; // p.q, p.p and q.q
    FOR_OWN(before[0] += (double)along[k] * image[k]; before[1] += (double)along[k] * along[k];
            before[2] += (double)image[k] * image[k])
#if __CUDA_ARCH__ >= 900
    asm volatile("barrier.cluster.wait.aligned;");
#endif
    cluster_sums(before, own, all);
    const double broken = rz > 0 && FINITE(rz) ? before[0] : rz;
    const int usable = running && broken > 0 && FINITE(broken);
    const double alpha = usable ? rz / before[0] : 0;
    double after[2] = {0, 0}; // r.r and r.z
    FOR_OWN(residual[k] -= alpha * image[k]; after[0] += (double)residual[k] * residual[k];
            after[1] += (double)residual[k] * (weight[k] * residual[k]))
    cluster_sums(after, own_after, all_after);
    if (usable) {
        const double beta = after[1] / rz;
        FOR_OWN(if (i < n) {
            x[i] += alpha * along[k];
            r[i] = residual[k];
            p[i] = weight[k] * residual[k] + beta * along[k];
        })
    }
    if (first == 0) {
        judge(running, usable, broken, after[0], before[0], before[1], before[2], scalars, counters, history);
        if (usable) scalars[RZ] = after[1];
        SET_CONDITION(handle, counters[STATUS] == RUNNING);
    }
}
