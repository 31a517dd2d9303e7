/* A V-cycle from zero over all levels up to `top` by one block, in one launch: on such levels a launch takes longer than
 * its work. Matrices are stored by columns, as wide as their longest row; padding has the value 0 and some column of that
 * row.
 *
 * layout: of each level FIELDS numbers, its unknowns, its place in `vectors`, then of A, R and P width and place.
 * vectors: of each level, one after another, b, x, spare, defect, memory and D^-1. coefficients: two a step, level by level.
 * given and result: b and x of level `top`. */

#include "../device/tree.h"

#define FIELDS 8
#define VECTORS 6

#ifdef __CUDACC__
#define UNROLLED _Pragma("unroll 5")
#else
#define UNROLLED
#endif

#define EACH(i, n) INNER(t) for (int i = t; i < (n); i += BLOCK)

/* Adds to sum the i-th row of a matrix of `rows` rows, whose fields begin at `field`, times x. */
#define ADD_ROW(sum, field, rows, x)                                                                                 \
    do {                                                                                                             \
        const int width = here[field];                                                                               \
        const long place = here[(field) + 1] + i;                                                                    \
        UNROLLED for (int k = 0; k < width; ++k)                                                                     \
            sum += values[place + (long)k * (rows)] * (x)[columns[place + (long)k * (rows)]];                        \
    } while (0)

#define LEVEL(level)                                                                                                 \
    GLOBAL const int *here = layout + (level) * FIELDS;                                                              \
    const int n = here[0];                                                                                           \
    GLOBAL real *own = vectors + here[1];                                                                            \
    GLOBAL const real *b = (level) == top ? given : own;                                                             \
    GLOBAL real *first = (level) == top ? result : own + n;                                                          \
    GLOBAL real *second = own + 2 * n;                                                                               \
    GLOBAL real *memory = own + 4 * n;                                                                               \
    GLOBAL const real *inverse_diagonal = own + 5 * n;                                                               \
    GLOBAL const real *factors = coefficients + (level) * steps * 2

/* to = from + a step, from the defect of `from` and, with MEMORY, the step before. */
#define RELAX(step, from, to)                                                                                        \
    {                                                                                                                \
        const real now = factors[2 * (step)], before = factors[2 * (step) + 1];                                      \
        EACH(i, n) {                                                                                                 \
            real sum = 0;                                                                                            \
            ADD_ROW(sum, 2, n, from);                                                                                \
            real move = now * inverse_diagonal[i] * (b[i] - sum);                                                    \
            if (MEMORY) {                                                                                            \
                if (before != 0) move += before * memory[i];                                                         \
                memory[i] = move;                                                                                    \
            }                                                                                                        \
            (to)[i] = (from)[i] + move;                                                                              \
        }                                                                                                            \
        BARRIER;                                                                                                     \
    }

KERNEL small_cycle(const int top, const int steps, const int max_iterations, const double tolerance,
                   GLOBAL const int *RESTRICT layout, GLOBAL const real *RESTRICT coefficients,
                   GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                   GLOBAL const int *RESTRICT row_offsets, GLOBAL const int *RESTRICT entry_columns,
                   GLOBAL const real *RESTRICT entries, GLOBAL const real *given, GLOBAL real *result,
                   GLOBAL real *vectors, GLOBAL int *iterations)
{
    SHARED double sums_rz[BLOCK];
    SHARED double sums_rr[BLOCK];
    SHARED double sums_pq[BLOCK];
    for (int level = top; level > 0; --level) {
        LEVEL(level);
        GLOBAL real *from = second, *to = first, *defect = own + 3 * n;
        const int below = here[0 - FIELDS];
        GLOBAL real *b_below = vectors + here[1 - FIELDS];
        EACH(i, n) {
            const real move = factors[0] * inverse_diagonal[i] * b[i];
            if (MEMORY) memory[i] = move;
            from[i] = move;
        }
        BARRIER;
        for (int step = 1; step < steps; ++step) {
            RELAX(step, from, to)
            GLOBAL real *last = from;
            from = to;
            to = last;
        }
        EACH(i, n) {
            real sum = 0;
            ADD_ROW(sum, 2, n, from);
            defect[i] = b[i] - sum;
        }
        BARRIER;
        EACH(i, below) {
            real sum = 0;
            ADD_ROW(sum, 4, below, defect);
            b_below[i] = sum;
        }
        BARRIER;
    }
    {
        const int n = layout[0];
        GLOBAL real *b = vectors + layout[1], *x = b + n, *r = b + 2 * n, *p = b + 3 * n, *q = b + 4 * n;
        GLOBAL const real *inverse_diagonal = b + 5 * n;
#include "conjugate_gradient.h"
    }
    for (int level = 1; level <= top; ++level) {
        LEVEL(level);
        /* `steps` - 1 relaxations came before, and as many as `steps` follow: the last is written to `first`. */
        GLOBAL real *from = steps % 2 ? second : first, *to = steps % 2 ? first : second;
        GLOBAL const real *x_below = vectors + here[1 - FIELDS] + here[0 - FIELDS];
        EACH(i, n) {
            real sum = 0;
            ADD_ROW(sum, 6, n, x_below);
            from[i] += sum;
        }
        BARRIER;
        for (int step = 0; step < steps; ++step) {
            RELAX(step, from, to)
            GLOBAL real *last = from;
            from = to;
            to = last;
        }
    }
}
