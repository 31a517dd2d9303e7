/* The K-cycle on matrices in slices of SLICE rows, stored by columns; columns of padding are -1. A block has `chunk` rows, and a sum
 * over all is one number a block, added up in the same order by every block that needs it. `damped` is ω / diagonal, and `scaled` damped
 * times the right-hand side at hand: what makes that one makes this, too, and each entry of a matrix finds one number in place of two. */

#define FOR_ROWS(t, row)                                                                                             \
    for (long row = block * chunk + t, dialect_last = block * chunk + chunk < rows ? block * chunk + chunk : rows;   \
         row < dialect_last; row += BLOCK)
/* sum of value times of[column] over a row */
#ifdef ROW_SUM /* as kcycle.cpu.c has it */
#elif SLICE == 1 /* rows are filled up to sums side by side, which become vector instructions and do not wait for one another */
#define SIDE 8
#define ROW_SUM(sum, row, of)                                                                                        \
    real sums_of_row[SIDE];                                                                                          \
    for (int l = 0; l < SIDE; ++l) sums_of_row[l] = 0;                                                               \
    for (long place = slice_offsets[row], last = slice_offsets[(row) + 1]; place < last; place += SIDE) {            \
        for (int l = 0; l < SIDE; ++l) {                                                                             \
            const int column = columns[place + l];                                                                   \
            sums_of_row[l] += values[place + l] * (of[column]);                                                      \
        }                                                                                                            \
    }                                                                                                                \
    for (int reach = SIDE / 2; reach > 0; reach /= 2) {                                                              \
        for (int l = 0; l < reach; ++l) sums_of_row[l] += sums_of_row[l + reach];                                    \
    }                                                                                                                \
    const real sum = sums_of_row[0];
#else
#define ROW_SUM(sum, row, of)                                                                                        \
    real sum = 0;                                                                                                    \
    for (long place = slice_offsets[(row) / SLICE] + (row) % SLICE; place < slice_offsets[(row) / SLICE + 1]; place += SLICE) { \
        const int column = columns[place];                                                                           \
        if (column >= 0) sum += values[place] * (of[column]);                                                        \
    }
#endif

#include "../device/tree.h"
#define TOTAL(total, partial)                                                                                        \
    INNER(t) {                                                                                                       \
        double sum = 0;                                                                                              \
        for (int i = t; i < blocks; i += BLOCK) sum += (partial)[i];                                                 \
        sums[t] = sum;                                                                                               \
    }                                                                                                                \
    TREE(sums)                                                                                                     \
    const double total = sums[0];                                                                                    \
    BARRIER;
#define QUOTIENT(a, b) ((b) > 0 ? (a) / (b) : 0)

/* scaled = damped b */
KERNEL scale(const long rows, const long chunk, GLOBAL const real *RESTRICT damped, GLOBAL const real *RESTRICT b,
             GLOBAL real *RESTRICT scaled)
{
    OUTER(block);
    INNER(t) {
        FOR_ROWS(t, row) scaled[row] = damped[row] * b[row];
    }
}

/* rest = b - A x after a step of damped Jacobi from zero, x = scaled. */
KERNEL before(const long rows, const long chunk, GLOBAL const long *RESTRICT slice_offsets,
              GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
              GLOBAL const real *RESTRICT scaled, GLOBAL const real *RESTRICT b, GLOBAL real *RESTRICT rest)
{
    OUTER(block);
    INNER(t) {
        FOR_ROWS(t, row) {
            ROW_SUM(sum, row, scaled)
            rest[row] = b[row] - sum;
        }
    }
}

/* y = the sums of x over each aggregate; and scaled, where the coarser level has damped, of y. */
KERNEL restrict_sums(const long aggregates, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT members,
                     GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT damped, GLOBAL real *RESTRICT y,
                     GLOBAL real *RESTRICT scaled)
{
    OUTER(block);
    INNER(t) {
        const long aggregate = block * BLOCK + t;
        if (aggregate >= aggregates) continue;
        real sum = 0;
        for (int place = offsets[aggregate]; place < offsets[aggregate + 1]; ++place) sum += x[members[place]];
        y[aggregate] = sum;
        if (damped) scaled[aggregate] = damped[aggregate] * sum;
    }
}

/* The coarse correction added to x = scaled, and another step of Jacobi. The matrix is A P, with a column an aggregate; `rest` is
 * what the first step left. */
KERNEL after(const long rows, const long chunk, GLOBAL const long *RESTRICT slice_offsets,
             GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
             GLOBAL const real *RESTRICT damped, GLOBAL const int *RESTRICT labels, GLOBAL const real *RESTRICT scaled,
             GLOBAL const real *RESTRICT rest, GLOBAL const real *RESTRICT coarse, GLOBAL real *RESTRICT x)
{
    OUTER(block);
    INNER(t) {
        FOR_ROWS(t, row) {
            ROW_SUM(sum, row, coarse)
            x[row] = scaled[row] + damped[row] * (rest[row] - sum) + coarse[labels[row]];
        }
    }
}

/* v = A c; partial sums of c.v, and behind them of c.b. */
KERNEL first_product(const long rows, const long chunk, const int blocks, GLOBAL const long *RESTRICT slice_offsets,
                     GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                     GLOBAL const real *RESTRICT c, GLOBAL const real *RESTRICT b, GLOBAL real *RESTRICT v,
                     GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    SHARED double sums_b[BLOCK];
    INNER(t) {
        double curvature = 0, work = 0;
        FOR_ROWS(t, row) {
            ROW_SUM(sum, row, c)
            v[row] = sum;
            curvature += (double)c[row] * sum;
            work += (double)c[row] * b[row];
        }
        sums[t] = curvature;
        sums_b[t] = work;
    }
    TREE(sums)
    TREE(sums_b)
    INNER(t) {
        if (t == 0) {
            partial[block] = sums[0];
            partial[blocks + block] = sums_b[0];
        }
    }
}

/* rest = b - A x; and scaled, of rest. */
KERNEL remaining(const long rows, const long chunk, GLOBAL const long *RESTRICT slice_offsets,
                 GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values, GLOBAL const real *RESTRICT b,
                 GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT damped, GLOBAL real *RESTRICT rest,
                 GLOBAL real *RESTRICT scaled)
{
    OUTER(block);
    INNER(t) {
        FOR_ROWS(t, row) {
            ROW_SUM(sum, row, x)
            rest[row] = b[row] - sum;
            scaled[row] = damped[row] * (b[row] - sum);
        }
    }
}

/* rest = b - (c.b / c.v) v; and scaled, of rest. */
KERNEL residual(const long rows, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial,
                GLOBAL const real *RESTRICT b, GLOBAL const real *RESTRICT v, GLOBAL const real *RESTRICT damped,
                GLOBAL real *RESTRICT rest, GLOBAL real *RESTRICT scaled)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    TOTAL(curvature, partial)
    TOTAL(work, partial + blocks)
    const real step = (real)QUOTIENT(work, curvature);
    INNER(t) {
        FOR_ROWS(t, row) {
            const real left = b[row] - step * v[row];
            rest[row] = left;
            scaled[row] = damped[row] * left;
        }
    }
}

/* Partial sums of d.A d, and behind them of d.v and d.rest. */
KERNEL second_product(const long rows, const long chunk, const int blocks, GLOBAL const long *RESTRICT slice_offsets,
                      GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                      GLOBAL const real *RESTRICT d, GLOBAL const real *RESTRICT v, GLOBAL const real *RESTRICT rest,
                      GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    SHARED double sums_v[BLOCK];
    SHARED double sums_rest[BLOCK];
    INNER(t) {
        double curvature = 0, mixed = 0, work = 0;
        FOR_ROWS(t, row) {
            ROW_SUM(sum, row, d)
            curvature += (double)d[row] * sum;
            mixed += (double)d[row] * v[row];
            work += (double)d[row] * rest[row];
        }
        sums[t] = curvature;
        sums_v[t] = mixed;
        sums_rest[t] = work;
    }
    TREE(sums)
    TREE(sums_v)
    TREE(sums_rest)
    INNER(t) {
        if (t == 0) {
            partial[block] = sums[0];
            partial[blocks + block] = sums_v[0];
            partial[2 * blocks + block] = sums_rest[0];
        }
    }
}

/* x = the combination of c and d that is nearest to the solution in the norm of A, added to x or in its place; partial sums as the
 * products have left them. */
KERNEL combine(const long rows, const long chunk, const int blocks, const int adds, GLOBAL const double *RESTRICT first,
               GLOBAL const double *RESTRICT second, GLOBAL const real *RESTRICT c, GLOBAL const real *RESTRICT d,
               GLOBAL real *RESTRICT x)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    TOTAL(curvature, first)
    TOTAL(work, first + blocks)
    TOTAL(curvature_d, second)
    TOTAL(mixed, second + blocks)
    TOTAL(work_d, second + 2 * blocks)
    const double step = QUOTIENT(work, curvature), overlap = QUOTIENT(mixed, curvature);
    const double left = curvature_d - overlap * mixed;           /* of d, made conjugate to c */
    const double step_d = left > 1e-10 * curvature_d ? work_d / left : 0; /* else d lies along c */
    const real of_c = (real)(step - overlap * step_d), of_d = (real)step_d;
    INNER(t) {
        FOR_ROWS(t, row) x[row] = (adds ? x[row] : 0) + of_c * c[row] + of_d * d[row];
    }
}
