/* All iterations of a solve in one launch, whose threads meet in C: twice an iteration they share out parts of the matrix's slices. Vectors
 * lie in the order of the slices' slots, but for z = r over the diagonal, which the product reads by columns. With A p = A z + beta A p of
 * the iteration before, the product and its sums are one part. Unless it WEIGHS, the diagonal is 1, and not read. */

#include "conjugate_gradient.c"
#include "../spmv/vectors.h"

#define LINE 8 /* doubles: parts write their sums apart */

extern void (*dialect_run)(void (*)(long, long, const void *), const void *, long);

struct solve {
    long rows;
    const long *bounds, *offsets; /* of parts, in slices; of slices, in entries */
    const int *order, *columns;   /* past the last row, order is `rows` */
    const double *values, *inverse, *rhs;
    double *x, *z, *weight, *r, *p, *q, *found, *sums;
    double alpha, beta;
};

#if WEIGHS
#define WEIGHED(s, at, r) (LOAD_SOME((s)->weight + (at)) * (r))
#else
#define WEIGHED(s, at, r) (r)
#endif

#define EACH_SOME(s)                                                                                                 \
    for (long at = TOGETHER * s->bounds[part], past = TOGETHER * s->bounds[part + 1]; at < past; at += SOME)

static void set_up(long part, const long last, const void *given)
{
    const struct solve *const s = given;
    for (; part < last; ++part) {
        some rr = {0}, rz = {0};
        EACH_SOME(s) {
            some weight, r;
            for (int l = 0; l < SOME; ++l) {
                const int row = s->order[at + l];
                weight[l] = row >= s->rows ? 0 : WEIGHS ? s->inverse[row] : 1;
                r[l] = row < s->rows ? s->rhs[row] : 0;
                s->z[row] = weight[l] * r[l];
            }
            STORE_SOME(s->weight + at, weight);
            STORE_SOME(s->r + at, r);
            STORE_SOME(s->p + at, (some){0});
            STORE_SOME(s->q + at, (some){0});
            STORE_SOME(s->found + at, (some){0});
            rr += r * r;
            rz += r * (weight * r);
        }
        s->sums[LINE * part] = SUM_OF_SOME(rr);
        s->sums[LINE * part + 1] = SUM_OF_SOME(rz);
    }
}

/* q = A z + beta q and p = z + beta p, with p.q, p.p and q.q. */
static void turn(long part, const long last, const void *given)
{
    const struct solve *const s = given;
    const double beta = s->beta;
    for (; part < last; ++part) {
        some pq = {0}, pp = {0}, qq = {0};
        for (long slice = s->bounds[part]; slice < s->bounds[part + 1]; ++slice) {
            double sums[TOGETHER];
            add_slice(s->columns, s->values, s->z, s->offsets[slice], s->offsets[slice + 1], TOGETHER, sums);
            for (int k = 0; k < TOGETHER; k += SOME) {
                const long at = TOGETHER * slice + k;
                const some p = WEIGHED(s, at, LOAD_SOME(s->r + at)) + beta * LOAD_SOME(s->p + at);
                const some q = LOAD_SOME(sums + k) + beta * LOAD_SOME(s->q + at);
                STORE_SOME(s->p + at, p);
                STORE_SOME(s->q + at, q);
                pq += p * q;
                pp += p * p;
                qq += q * q;
            }
        }
        s->sums[LINE * part] = SUM_OF_SOME(pq);
        s->sums[LINE * part + 1] = SUM_OF_SOME(pp);
        s->sums[LINE * part + 2] = SUM_OF_SOME(qq);
    }
}

/* x += alpha p, r -= alpha q and z = r over the diagonal, with r.r and r.z. */
static void go(long part, const long last, const void *given)
{
    const struct solve *const s = given;
    const double alpha = s->alpha;
    for (; part < last; ++part) {
        some rr = {0}, rz = {0};
        EACH_SOME(s) {
            const some r = LOAD_SOME(s->r + at) - alpha * LOAD_SOME(s->q + at), z = WEIGHED(s, at, r);
            STORE_SOME(s->found + at, LOAD_SOME(s->found + at) + alpha * LOAD_SOME(s->p + at));
            STORE_SOME(s->r + at, r);
            for (int l = 0; l < SOME; ++l) s->z[s->order[at + l]] = z[l];
            rr += r * r;
            rz += r * z;
        }
        s->sums[LINE * part] = SUM_OF_SOME(rr);
        s->sums[LINE * part + 1] = SUM_OF_SOME(rz);
    }
}

static void give(long part, const long last, const void *given)
{
    const struct solve *const s = given;
    for (; part < last; ++part)
        EACH_SOME(s)
            for (int l = 0; l < SOME; ++l)
                if (s->order[at + l] < s->rows) s->x[s->order[at + l]] = s->found[at + l];
}

/* Have threads do all parts of something; the sums over them, in their order. */
static void share_out(void (*one)(long, long, const void *), const struct solve *s, const int parts, double *sums)
{
    dialect_run(one, s, parts);
    sums[0] = sums[1] = sums[2] = 0;
    for (int part = 0; part < parts; ++part)
        for (int k = 0; k < 3; ++k) sums[k] += s->sums[LINE * part + k];
}

/* A single block. `work` holds five vectors of `slots`; x is untouched where the solve has ended before. */
KERNEL whole(const int parts, const long slots, const long rows, GLOBAL const long *RESTRICT bounds,
             GLOBAL const long *RESTRICT offsets, GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT columns,
             GLOBAL const double *RESTRICT values, GLOBAL const double *RESTRICT inverse, GLOBAL const double *rhs,
             GLOBAL double *x, GLOBAL double *z, GLOBAL double *work, GLOBAL double *sums,
             GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters, GLOBAL double *RESTRICT history)
{
    if (counters[STATUS] != RUNNING) return;
    struct solve s = {rows, bounds, offsets, order, columns, values, inverse, rhs, x, z, work, work + slots,
                      work + 2 * slots, work + 3 * slots, work + 4 * slots, sums, 0, 0};
    double after[3], before[3];
    share_out(set_up, &s, parts, after);
    while (counters[STATUS] == RUNNING) {
        const double rz = after[1];
        share_out(turn, &s, parts, before);
        const double broken = rz > 0 && FINITE(rz) ? before[0] : rz;
        const int usable = broken > 0 && FINITE(broken);
        if (usable) {
            s.alpha = rz / before[0];
            share_out(go, &s, parts, after);
            s.beta = after[1] / rz;
        }
        judge(1, usable, broken, after[0], before[0], before[1], before[2], scalars, counters, history);
    }
    dialect_run(give, &s, parts);
}
