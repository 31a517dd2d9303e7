// y = alpha A x + beta y, A in warps of 32 lanes that are stored by columns; SPLIT: several lanes may share a row. A
// thread takes all lanes of a warp in lockstep.
#include "slices.h"
#define WARP TOGETHER
#define SIZE 1
#define SLICE WARP
#define BITS 32
#define index int
#include "gathered.h"
#define ROW_OF(slot) (SORTED ? order[slot] : (slot))

KERNEL ellwarp(const int warps, const int rows, const int resident, const real alpha, const real beta,
               GLOBAL const int *RESTRICT warp_offsets, GLOBAL const int *RESTRICT first_slots,
               GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
               GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const long last = (block + 1) * BLOCK < warps ? (block + 1) * BLOCK : warps;
#if GATHERS
    const int is_beyond = (sizeof(real) + sizeof(int)) * WARP * warp_offsets[warps] > BEYOND;
#endif
    for (long warp = block * BLOCK; warp < last; ++warp) {
        const long begin = WARP * (long)warp_offsets[warp], end = WARP * (long)warp_offsets[warp + 1];
        const int first = SPLIT ? first_slots[warp] : WARP * warp;
        const int share = SPLIT ? WARP / (first_slots[warp + 1] - first) : 1;
        real sums[WARP];
#if COALESCED && GATHERS
        add_gathered(columns, 0, values, x, begin, end, 0, is_beyond, &sums);
#elif COALESCED
        add_slice(columns, values, x, begin, end, WARP, sums);
#else // by rows, to be compared with
        const long width = (end - begin) / WARP;
        for (int lane = 0; lane < WARP; ++lane) {
            sums[lane] = 0;
            for (long place = begin + lane * width; place < begin + (lane + 1) * width; ++place)
                if (columns[place] >= 0) sums[lane] += values[place] * x[columns[place]];
        }
#endif
        for (int step = 1; step < share; step *= 2)
            for (int lane = 0; lane < WARP; lane += 2 * step)
                sums[lane] += sums[lane + step];
        for (int lane = 0; lane < WARP; lane += share) {
            const long row = ROW_OF(first + lane / share);
            if (row >= 0 && row < rows)
                y[row] = alpha * sums[lane] + (beta == 0 ? 0 : beta * y[row]);
        }
    }
}
