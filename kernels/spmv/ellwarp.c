// y = alpha A x + beta y, A in warps of 32 lanes that are stored by columns; SPLIT: several lanes may share a row
// (wong2015, listing 2, K1, and listing 3, K2). A processor's thread takes all lanes of a warp in lockstep.
//
// The paper's maxrows is a difference of warp_offsets, its reduction, the lanes of a row, WARP over one of first_slots.
#define WARP 32
#define PLACE(k, lane) (COALESCED ? WARP * (k) + (lane) : (lane) * width + (k))
#define ROW_OF(slot) (SORTED ? order[slot] : (slot)) // the paper's Pinv and rowmap; of K1r the rows are the slots

KERNEL ellwarp(const int warps, const int rows, const int resident, const real alpha, const real beta,
               GLOBAL const int *RESTRICT warp_offsets, GLOBAL const int *RESTRICT first_slots,
               GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
               GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
#if LANES > 1
    OUTER(block);
    INNER(t) {
        const long warp = block * BLOCK + t;
        if (warp >= warps)
            continue;
        const long begin = WARP * (long)warp_offsets[warp];
        const int width = warp_offsets[warp + 1] - warp_offsets[warp];
        const int first = SPLIT ? first_slots[warp] : WARP * warp;
        const int share = SPLIT ? WARP / (first_slots[warp + 1] - first) : 1;
        real sums[WARP];
        for (int lane = 0; lane < WARP; ++lane)
            sums[lane] = 0;
        for (int k = 0; k < width; ++k)
            for (int lane = 0; lane < WARP; ++lane) {
                const long place = begin + PLACE(k, lane);
                const int column = columns[place];
                const real factor = column < 0 ? 0 : x[column]; // padding reads no x: it may be NaN
                sums[lane] += READ_ONCE_LOAD(&values[place]) * factor;
            }
        for (int step = 1; step < share; step *= 2)
            for (int lane = 0; lane < WARP; lane += 2 * step)
                sums[lane] += sums[lane + step];
        for (int lane = 0; lane < WARP; lane += share) {
            const long row = ROW_OF(first + lane / share);
            if (row >= 0 && row < rows)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
#else
    SHARED real sums[BLOCK];
    OUTER(block);
    INNER(t) {
        const long warp = (block * BLOCK + t) / WARP;
        const int lane = t % WARP;
        real sum = 0;
        if (warp < warps) {
            const long begin = WARP * (long)warp_offsets[warp];
            const int width = warp_offsets[warp + 1] - warp_offsets[warp];
            for (int k = 0; k < width; ++k) {
                const long place = begin + PLACE(k, lane);
                const int column = columns[place];
                sum += READ_ONCE_LOAD(&values[place]) * (column < 0 ? 0 : x[column]);
            }
        }
        sums[t] = sum;
    }
    if (SPLIT) {
        for (int step = 1; step < WARP; step *= 2) {
            BARRIER;
            INNER(t) {
                const long warp = (block * BLOCK + t) / WARP;
                if (warp < warps && t % (2 * step) == 0 && step * (first_slots[warp + 1] - first_slots[warp]) < WARP)
                    sums[t] += sums[t + step];
            }
        }
    }
    BARRIER;
    INNER(t) {
        const long warp = (block * BLOCK + t) / WARP;
        if (warp >= warps)
            continue;
        const int lane = t % WARP, first = SPLIT ? first_slots[warp] : WARP * warp;
        const int share = SPLIT ? WARP / (first_slots[warp + 1] - first) : 1;
        if (lane % share != 0)
            continue;
        const long row = ROW_OF(first + lane / share);
        if (row >= 0 && row < rows)
            y[row] = alpha * sums[t] + (beta == 0 ? 0 : beta * y[row]);
    }
#endif
}
