/* Sums of contributions that elements do not write, see factors.c: a slice's rows in lockstep. */

#include "../device/eights.h"
#define PARTS (SLICE / 8)
typedef double eight_sums __attribute__((vector_size(64)));
#define FACTORS_OF(at) (eight_sums){factors[(at)[0]], factors[(at)[1]], factors[(at)[2]], factors[(at)[3]], factors[(at)[4]], factors[(at)[5]], factors[(at)[6]], factors[(at)[7]]}

KERNEL sums(const long slots, const long edges, const long nodes, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT element,
            GLOBAL const double *RESTRICT factors, GLOBAL const double *RESTRICT constant,
            GLOBAL const double *RESTRICT flow, GLOBAL const int *RESTRICT upper, GLOBAL const int *RESTRICT lower,
            GLOBAL const int *RESTRICT diagonal, GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT inverse_diagonal,
            GLOBAL real *RESTRICT residual)
{
    OUTER(block);
    const long past = (block + 1) * BLOCK < slots ? (block + 1) * BLOCK : slots;
    for (long first = block * BLOCK; first < past; first += SLICE) {
        const long end = slice_offsets[first / SLICE + 1];
        eight_sums parts[PARTS] = {0};
        for (long place = slice_offsets[first / SLICE]; place < end; place += SLICE) {
            const int *here = element + place;
            OPAQUE(here);
            for (int part = 0; part < PARTS; ++part) parts[part] += FACTORS_OF(here + 8 * part);
        }
        for (int lane = 0; lane < SLICE; ++lane) {
            const long row = order[first + lane];
            const double sum = parts[lane / 8][lane % 8];
            if (row < 0) continue;
            if (row < edges) {
                values[upper[row]] = values[lower[row]] = constant[row] + sum;
            } else if (row < edges + nodes) {
                values[diagonal[row - edges]] = constant[row] + sum;
                inverse_diagonal[row - edges] = 1 / (constant[row] + sum);
            } else {
                residual[row - edges - nodes] = flow[row - edges - nodes] + sum;
            }
        }
    }
}
