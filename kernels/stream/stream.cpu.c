/* stream.c for processors: a block is one thread, and a pack of WIDTH numbers as many vectors as it fills, since compilers keep longer
 * ones in memory. */

#include "../device/register.h"

#define LANES (REGISTER / (int)sizeof(real) < WIDTH ? REGISTER / (int)sizeof(real) : WIDTH)
#define PARTS (WIDTH / LANES)
#define STEP (LOADS * LANES)
#define NUMBERS (ROUNDS * LOADS * WIDTH) /* of a block */
typedef real lanes __attribute__((vector_size(LANES * sizeof(real)), aligned(sizeof(real)), may_alias));
#define AT(array, load) (*(lanes *)((array) + k + (load) * LANES))
#define IN(array, load) (*(const lanes *)((array) + k + (load) * LANES))
#define FOR_LOADS UNROLL for (int load = 0; load < LOADS; ++load)
#define FOR_STEPS for (long k = block * NUMBERS; k < (block + 1) * NUMBERS; k += STEP)

KERNEL copy(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    FOR_STEPS {
        lanes held[LOADS];
        FOR_LOADS held[load] = IN(x, load);
        FOR_LOADS AT(y, load) = held[load];
    }
}

/* z = x + alpha y */
KERNEL triad(const real alpha, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y, GLOBAL real *RESTRICT z)
{
    OUTER(block);
    FOR_STEPS {
        lanes added[LOADS];
        FOR_LOADS added[load] = IN(x, load) + IN(y, load) * alpha;
        FOR_LOADS AT(z, load) = added[load];
    }
}

/* Sums each block's numbers, lane by lane, into WIDTH entries of total. PARTS divide LOADS. */
KERNEL read(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT total)
{
    OUTER(block);
    lanes sum[LOADS] = {0};
    FOR_STEPS FOR_LOADS sum[load] += IN(x, load);
    for (int load = PARTS; load < LOADS; ++load) sum[load % PARTS] += sum[load];
    for (int part = 0; part < PARTS; ++part) *(lanes *)(total + block * WIDTH + part * LANES) = sum[part];
}

/* ROUNDS * steps dependent multiply-adds in each of LOADS chains of numbers, two flops each. A chain starts at its number. */
KERNEL multiply_add(const int steps, const real factor, const real addend, GLOBAL real *RESTRICT result)
{
    OUTER(block);
    const lanes zero = {0};
    const lanes added = zero + addend;
    for (long k = block * WIDTH; k < (block + 1) * WIDTH; k += LANES) {
        lanes chain[LOADS], sum = zero;
        FOR_LOADS chain[load] = zero + (real)load;
        for (int step = 0; step < steps; ++step) {
            UNROLL
            for (int round = 0; round < ROUNDS; ++round)
                FOR_LOADS chain[load] = chain[load] * factor + added;
        }
        FOR_LOADS sum += chain[load];
        AT(result, 0) = sum;
    }
}
