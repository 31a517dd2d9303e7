// y = alpha A x + beta y, A in warps of 32 lanes that are stored by columns; SPLIT: several lanes may share a row
// (wong2015, listing 2, K1, and listing 3, K2), whose sums are then added through registers.
#define WARP 32
#define STEP (COALESCED ? WARP : 1)
// DEPTH: entries of a lane that are loaded before the first is used

template <bool STREAMED, typename T> __device__ __forceinline__ T entry(const T *place)
{
    return STREAMED && COALESCED ? __ldcs(place) : __ldg(place);
}

DEVICE_FUNCTION real factor(const real *RESTRICT x, const int column)
{
    if (column < 0) // padding reads no x: it may be NaN
        return 0;
    return CACHED ? __ldg(&x[column]) : __ldcg(&x[column]); // through the texture cache, or past it
}

template <bool STREAMED>
__device__ __forceinline__ real lane_sum(const int *RESTRICT columns, const real *RESTRICT values,
                                         const real *RESTRICT x, int left)
{
    real sum = 0, value[DEPTH];
    int column[DEPTH];
#if ROLLED // fewer registers: for short rows, and where lanes share rows
#pragma unroll 1
#endif
    for (; left >= DEPTH; left -= DEPTH, columns += DEPTH * STEP, values += DEPTH * STEP) {
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) { // all loads before the first use
            column[d] = entry<STREAMED>(&columns[d * STEP]);
            value[d] = entry<STREAMED>(&values[d * STEP]);
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            sum += value[d] * factor(x, column[d]);
    }
    if (left > 0) {
#pragma unroll
        for (int d = 0; d < DEPTH - 1; ++d) { // the same number in all lanes
            column[d] = d < left ? entry<STREAMED>(&columns[d * STEP]) : -1;
            value[d] = d < left ? entry<STREAMED>(&values[d * STEP]) : 0;
        }
#pragma unroll
        for (int d = 0; d < DEPTH - 1; ++d)
            sum += value[d] * factor(x, column[d]);
    }
    return sum;
}

KERNEL ellwarp(const int warps, const int rows, const int resident, const real alpha, const real beta,
               GLOBAL const int *RESTRICT warp_offsets, GLOBAL const int *RESTRICT first_slots,
               GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
               GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const int warp = (block * BLOCK + threadIdx.x) / WARP, lane = threadIdx.x % WARP;
    if (warp >= warps)
        return;
    const int begin = warp_offsets[warp], width = warp_offsets[warp + 1] - begin;
    const int first = SPLIT ? first_slots[warp] : WARP * warp;
    const int share = SPLIT ? WARP / (first_slots[warp + 1] - first) : 1;
    const int slot = first + lane / share, row = SORTED ? order[slot] : slot;
    columns += WARP * (long)begin + (COALESCED ? lane : lane * width);
    values += WARP * (long)begin + (COALESCED ? lane : lane * width);
    // Of every PARTS warps so many leave their entries in the cache for the next product.
    real sum = warp % PARTS < resident ? lane_sum<false>(columns, values, x, width)
                                       : lane_sum<true>(columns, values, x, width);
    if (SPLIT)
        for (int step = 1; step < share; step *= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane % share == 0 && row >= 0 && row < rows)
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
}
