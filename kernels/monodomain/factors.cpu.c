/* Sums of contributions that elements do not write, see factors.c: a slice's rows in lockstep. */

#include "../device/eights.h"
#include "../device/register.h"
#define DOUBLES (REGISTER / 8)
#define PARTS (SLICE / DOUBLES)
typedef double some_sums __attribute__((vector_size(REGISTER)));
#if defined(__AVX512F__)
#define FACTORS_OF(f, at) (some_sums){(f)[(at)[0]], (f)[(at)[1]], (f)[(at)[2]], (f)[(at)[3]], (f)[(at)[4]], (f)[(at)[5]], (f)[(at)[6]], (f)[(at)[7]]}
#elif defined(__AVX__)
#define FACTORS_OF(f, at) (some_sums){(f)[(at)[0]], (f)[(at)[1]], (f)[(at)[2]], (f)[(at)[3]]}
#else
#define FACTORS_OF(f, at) (some_sums){(f)[(at)[0]], (f)[(at)[1]]}
#endif

DEVICE_FUNCTION void add_factors(const int *RESTRICT element, const double *RESTRICT of, long place, const long end, some_sums *sums)
{
    some_sums parts[PARTS] = {0};
    for (; place < end; place += SLICE) {
        const int *here = element + place;
        OPAQUE(here);
        for (int part = 0; part < PARTS; ++part) parts[part] += FACTORS_OF(of, here + DOUBLES * part);
    }
    for (int part = 0; part < PARTS; ++part) sums[part] = parts[part];
}

KERNEL sums(const long slots, const long edges, const long elements, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT element,
            GLOBAL const double *RESTRICT factors, GLOBAL const double *RESTRICT conduction,
            GLOBAL const double *RESTRICT flow, GLOBAL const int *RESTRICT upper, GLOBAL const int *RESTRICT lower,
            GLOBAL const int *RESTRICT diagonal, GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT inverse_diagonal,
            GLOBAL real *RESTRICT residual)
{
    OUTER(block);
    const long past = (block + 1) * BLOCK < slots ? (block + 1) * BLOCK : slots;
    for (long first = block * BLOCK; first < past; first += SLICE) {
        const long end = slice_offsets[first / SLICE + 1];
        int some_node = 0;
        for (int lane = 0; lane < SLICE; ++lane) some_node |= order[first + lane] >= edges;
        some_sums masses[PARTS] = {0}, loads[PARTS] = {0};
        add_factors(element, factors, slice_offsets[first / SLICE], end, masses);
        if (some_node) add_factors(element, factors + elements + 1, slice_offsets[first / SLICE], end, loads);
        for (int lane = 0; lane < SLICE; ++lane) {
            const long row = order[first + lane], node = row - edges;
            if (row < 0) continue;
            const double mass = conduction[row] + masses[lane / DOUBLES][lane % DOUBLES];
            if (row < edges) {
                values[upper[row]] = values[lower[row]] = mass;
            } else {
                values[diagonal[node]] = mass;
                inverse_diagonal[node] = 1 / mass;
                residual[node] = flow[node] + loads[lane / DOUBLES][lane % DOUBLES];
            }
        }
    }
}
