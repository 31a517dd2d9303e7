/* All iterations of a solve in one kernel, whose blocks are all on the GPU at once: a thread has a row of the matrix and its entries of
 * the vectors in registers. Blocks exchange only z = r over the diagonal and their sums, twice an iteration: with A p = A z + beta A p
 * of the iteration before, the product needs no beta. */

#include "conjugate_gradient.c"

#define WARP 32
#define WARPS (BLOCK / WARP)
#define ALL 0xffffffffu
/* A double travels with a number of its exchange in either half, so that who waits reads both at once: no fence, no second trip. */
#define PAGE (3 * MOST_BLOCKS)

__device__ __forceinline__ double warp_sum(double sum)
{
#pragma unroll
    for (int step = WARP / 2; step > 0; step /= 2) sum += __shfl_xor_sync(ALL, sum, step);
    return sum;
}

/* Every thread's sums over all threads of all blocks, the same bits in each. VISIBLE: what was written before can be read after, by
 * plain loads: the fences write back, and make the first-level cache forget. */
template <int many, bool VISIBLE> __device__ void grid_sums(double (&sums)[many], double (&own)[3][WARPS], double (&all)[PAGE],
                                              double (&total)[3], uint4 *board, const unsigned number)
{
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP, blocks = gridDim.x;
    uint4 *const page = board + number % 2 * PAGE;
#pragma unroll
    for (int k = 0; k < many; ++k) {
        sums[k] = warp_sum(sums[k]);
        if (lane == 0) own[k][warp] = sums[k];
    }
    __syncthreads();
    if (warp == 0) {
#pragma unroll
        for (int k = 0; k < many; ++k) sums[k] = warp_sum(lane < WARPS ? own[k][lane] : 0);
        if (lane == 0) {
            if (VISIBLE) __threadfence(); // of all the block, which the barrier has brought before this
#pragma unroll
            for (int k = 0; k < many; ++k) {
                const unsigned long long bits = __double_as_longlong(sums[k]);
                asm volatile("st.volatile.global.v4.u32 [%0], {%1, %2, %3, %2};" ::"l"(page + k * blocks + blockIdx.x),
                             "r"((unsigned)bits), "r"(number), "r"((unsigned)(bits >> 32)) : "memory");
            }
        }
    }
    for (int i = threadIdx.x; i < many * blocks; i += BLOCK) {
        unsigned low, here, high, there;
        do {
            asm volatile("ld.volatile.global.v4.u32 {%0, %1, %2, %3}, [%4];"
                         : "=r"(low), "=r"(here), "=r"(high), "=r"(there) : "l"(page + i) : "memory");
        } while (here != number || there != number);
        all[i] = __longlong_as_double((unsigned long long)high << 32 | low);
    }
    __syncthreads();
    if (VISIBLE && threadIdx.x == BLOCK - 1) __threadfence();
    for (int k = warp; k < many; k += WARPS) {
        double sum = 0;
        for (int i = lane; i < blocks; i += WARP) sum += all[k * blocks + i];
        sum = warp_sum(sum);
        if (lane == 0) total[k] = sum;
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < many; ++k) sums[k] = total[k];
}

/* The matrix is K1's: warps of rows, stored by columns. `numbers[0]` numbers the last exchange, of this solve or another. */
KERNEL whole(const int warps, const int rows, GLOBAL const int *RESTRICT warp_offsets, GLOBAL const int *RESTRICT order,
             GLOBAL const int *RESTRICT columns, GLOBAL const double *RESTRICT values,
             GLOBAL const double *RESTRICT inverse, GLOBAL const double *RESTRICT rhs, GLOBAL double *RESTRICT x,
             GLOBAL double *z, GLOBAL double *board, GLOBAL int *RESTRICT numbers, GLOBAL double *RESTRICT scalars,
             GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    __shared__ double own[3][WARPS], all[PAGE], total[2][3];
    if (counters[STATUS] != RUNNING) return;
    double state[8];
    int count[3] = {RUNNING, counters[ITERATIONS], counters[MAX_ITERATIONS]};
#pragma unroll
    for (int k = 0; k < 8; ++k) state[k] = scalars[k];
    unsigned number = (unsigned)numbers[0];

    // neighbouring warps, which are as long, go to different blocks
    const int lane = threadIdx.x % WARP, warp = threadIdx.x / WARP * gridDim.x + blockIdx.x;
    int row = -1, width = 0, column[WIDEST];
    double value[WIDEST];
#pragma unroll
    for (int k = 0; k < WIDEST; ++k) {
        column[k] = 0;
        value[k] = 0;
    }
    if (warp < warps) {
        row = SORTED ? order[WARP * warp + lane] : WARP * warp + lane;
        if (row >= rows) row = -1;
        const int begin = warp_offsets[warp];
        width = warp_offsets[warp + 1] - begin;
#pragma unroll
        for (int k = 0; k < WIDEST; ++k)
            if (k < width) {
                const int found = columns[WARP * (begin + k) + lane];
                column[k] = found < 0 ? 0 : found;
                value[k] = found < 0 ? 0 : values[WARP * (begin + k) + lane];
            }
    }
    const double weight = row < 0 ? 0 : inverse[row];
    double r = row < 0 ? 0 : rhs[row], scaled = weight * r, p = 0, q = 0, found = 0, beta = 0;
    if (row >= 0) z[row] = scaled;
    double after[2] = {r * r, r * scaled};
    grid_sums<2, true>(after, own, all, total[0], (uint4 *)board, ++number);
    double rz = after[1];
    GLOBAL double *const told = blockIdx.x == 0 && threadIdx.x == 0 ? history : nullptr;
    while (count[STATUS] == RUNNING) {
        double factor[WIDEST], sum = 0;
#pragma unroll
        for (int k = 0; k < WIDEST; ++k) factor[k] = k < width ? z[column[k]] : 0;
#pragma unroll
        for (int k = 0; k < WIDEST; ++k) sum += value[k] == 0 ? 0 : value[k] * factor[k];
        q = sum + beta * q;
        p = scaled + beta * p;
        double before[3] = {p * q, p * p, q * q};
        grid_sums<3, false>(before, own, all, total[1], (uint4 *)board, ++number);
        const double broken = rz > 0 && FINITE(rz) ? before[0] : rz;
        const int usable = broken > 0 && FINITE(broken);
        if (usable) {
            const double alpha = rz / before[0];
            found += alpha * p;
            r -= alpha * q;
        }
        scaled = weight * r;
        if (row >= 0) z[row] = scaled;
        after[0] = r * r;
        after[1] = r * scaled;
        grid_sums<2, true>(after, own, all, total[0], (uint4 *)board, ++number);
        judge(1, usable, broken, after[0], before[0], before[1], before[2], state, count, told);
        beta = after[1] / rz;
        rz = after[1];
    }
    if (row >= 0) x[row] = found;
    if (told) {
        numbers[0] = (int)number;
        scalars[LEAST_QUOTIENT] = state[LEAST_QUOTIENT];
        scalars[LARGEST_QUOTIENT] = state[LARGEST_QUOTIENT];
        counters[STATUS] = count[STATUS];
        counters[ITERATIONS] = count[ITERATIONS];
    }
}
