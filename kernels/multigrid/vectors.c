/* Vector operations of multigrid, and its stopping test, in the precision of `real`.
 *
 * A thread takes LANES consecutive entries: one on a GPU, a vector register's worth on a processor. */

#define RUNNING 0
#define CONVERGED 1
#define CYCLE_LIMIT 2
#define NOT_A_NUMBER 3
/* Places in `counters`. */
#define STATUS 0
#define CYCLES 1
#define MAX_CYCLES 2

#ifdef __CUDACC__ /* supplied by the driver */
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#define SET_CONDITION(handle, value) if (handle) cudaGraphSetConditional(handle, value)
#else
#define SET_CONDITION(handle, value) ((void)(handle))
#endif

#define FOR_ENTRIES(block, t, n, statement)                                                                          \
    do {                                                                                                             \
        const long first = ((block) * BLOCK + (t)) * LANES;                                                          \
        if (first + LANES <= (n)) {                                                                                  \
            for (int l = 0; l < LANES; ++l) {                                                                        \
                const long i = first + l;                                                                            \
                statement;                                                                                           \
            }                                                                                                        \
        } else {                                                                                                     \
            for (long i = first; i < (n); ++i) {                                                                     \
                statement;                                                                                           \
            }                                                                                                        \
        }                                                                                                            \
    } while (0)

KERNEL copy(const long n, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) { FOR_ENTRIES(block, t, n, y[i] = x[i]); }
}

/* y = omega D^-1 x: a relaxation that starts from zero. */
KERNEL scale(const long n, const real omega, GLOBAL const real *RESTRICT inverse_diagonal,
             GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) { FOR_ENTRIES(block, t, n, y[i] = omega * inverse_diagonal[i] * x[i]); }
}

/* out = x + omega D^-1 d. */
KERNEL update(const long n, const real omega, GLOBAL const real *RESTRICT inverse_diagonal,
              GLOBAL const real *RESTRICT d, GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT out)
{
    OUTER(block);
    INNER(t) { FOR_ENTRIES(block, t, n, out[i] = x[i] + omega * inverse_diagonal[i] * d[i]); }
}

/* p = now D^-1 d + before p, out = x + p. */
KERNEL update_with_memory(const long n, const real now, const real before,
                          GLOBAL const real *RESTRICT inverse_diagonal, GLOBAL const real *RESTRICT d,
                          GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT p, GLOBAL real *RESTRICT out)
{
    OUTER(block);
    INNER(t) {
        FOR_ENTRIES(block, t, n, {
            const real step = now * inverse_diagonal[i] * d[i] + (before == 0 ? 0 : before * p[i]);
            p[i] = step;
            out[i] = x[i] + step;
        });
    }
}

/* low = d in the precision of `real`, where a correction is computed in less than the solution. */
KERNEL lower(const long n, GLOBAL const double *RESTRICT d, GLOBAL real *RESTRICT low)
{
    OUTER(block);
    INNER(t) { FOR_ENTRIES(block, t, n, low[i] = (real)d[i]); }
}

/* x += c */
KERNEL correct(const long n, GLOBAL const real *RESTRICT c, GLOBAL double *RESTRICT x)
{
    OUTER(block);
    INNER(t) { FOR_ENTRIES(block, t, n, x[i] += (double)c[i]); }
}

#include "../device/tree.h"

/* Partial sums of d.d, one a block of `chunk` entries. */
KERNEL squares(const long n, const long chunk, GLOBAL const double *RESTRICT d, GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    const long begin = block * chunk, end = begin + chunk < n ? begin + chunk : n;
    INNER(t) {
        double sum = 0;
        for (long i = begin + t; i < end; i += BLOCK)
            sum += d[i] * d[i];
        sums[t] = sum;
    }
    TREE(sums)
    INNER(t) {
        if (t == 0) partial[block] = sums[0];
    }
}

/* Ends a cycle, or where `first` is 1 what comes before all: the defect into the history, and whether to go on. */
KERNEL check(const ulong handle, const int first, const int blocks, const double tolerance, const int max_cycles,
             GLOBAL const double *RESTRICT partial, GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    SHARED double sums[BLOCK];
    INNER(t) {
        double sum = 0;
        for (int i = t; i < blocks; i += BLOCK) sum += partial[i];
        sums[t] = sum;
    }
    TREE(sums)
    INNER(t) {
        if (t == 0) {
            const double norm = sqrt(sums[0]);
            if (first) {
                counters[CYCLES] = 0;
                counters[MAX_CYCLES] = max_cycles;
                counters[STATUS] = RUNNING;
                history[0] = norm;
            } else if (counters[STATUS] == RUNNING) {
                counters[CYCLES] += 1;
                history[counters[CYCLES]] = norm;
            }
            if (counters[STATUS] == RUNNING) {
                if (!(norm < 1e300)) counters[STATUS] = NOT_A_NUMBER;
                else if (norm <= tolerance * history[0]) counters[STATUS] = CONVERGED;
                else if (counters[CYCLES] >= counters[MAX_CYCLES]) counters[STATUS] = CYCLE_LIMIT;
            }
            SET_CONDITION(handle, counters[STATUS] == RUNNING);
        }
    }
}

/* Tells a CUDA graph's loop whether to begin. */
KERNEL arm(const ulong handle, GLOBAL const int *RESTRICT counters)
{
    INNER(t) {
        if (t == 0) SET_CONDITION(handle, counters[STATUS] == RUNNING);
    }
}
