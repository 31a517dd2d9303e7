// y = alpha A x + beta y, A in warps of 32 lanes that are stored by columns; SPLIT: several lanes may share a row
// (wong2015, listing 2, K1, and listing 3, K2), whose sums are then added through registers.
#define WARP 32
#define STEP (COALESCED ? WARP : 1)
#ifndef DEPTH
#define DEPTH 4
#endif

DEVICE_FUNCTION real factor(const real *RESTRICT x, const int column)
{
    if (column < 0) // padding reads no x: it may be NaN
        return 0;
    return CACHED ? __ldg(&x[column]) : __ldcg(&x[column]); // through the texture cache, or past it
}

KERNEL ellwarp(const int warps, const int rows, const real alpha, const real beta,
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
    columns += WARP * (long)begin + (COALESCED ? lane : lane * width);
    values += WARP * (long)begin + (COALESCED ? lane : lane * width);
    real sum = 0;
    int left = width;
    for (; left >= DEPTH; left -= DEPTH, columns += DEPTH * STEP, values += DEPTH * STEP) {
        int column[DEPTH];
        real value[DEPTH];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d) { // all loads before the first use
            column[d] = columns[d * STEP];
            value[d] = COALESCED ? __ldcs(&values[d * STEP]) : values[d * STEP];
        }
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            sum += value[d] * factor(x, column[d]);
    }
#pragma unroll 1
    for (; left > 0; --left, columns += STEP, values += STEP)
        sum += (COALESCED ? __ldcs(values) : *values) * factor(x, *columns);
    if (SPLIT)
        for (int step = 1; step < share; step *= 2)
            sum += __shfl_down_sync(0xffffffffu, sum, step);
    if (lane % share != 0)
        return;
    const int row = SORTED ? order[first + lane / share] : first + lane / share;
    if (row >= 0 && row < rows)
        y[row] = alpha * sum + (beta == 0 ? 0 : beta * y[row]);
}
