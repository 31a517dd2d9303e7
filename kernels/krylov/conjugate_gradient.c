/* The vector operations of preconditioned conjugate gradients: vectors of `real`, sums and scalars in double precision.
 *
 * A block has `chunk` consecutive entries. A sum over all is one number a block, added up in one order by every block
 * that needs it. Once `status` is set, kernels change nothing: launches ahead of the check do no harm.
 * BLOCK is a power of two. A thread takes LANES consecutive entries at a time: one on a GPU, where neighbouring
 * threads' entries lie side by side; a vector register's worth on a processor, whose blocks are single threads. */

#define RUNNING 0
#define CONVERGED 1
#define ITERATION_LIMIT 2
#define INDEFINITE 3
#define NOT_A_NUMBER 4
/* Places in `scalars` and `counters`. */
#define RZ 0
#define RZ_BEFORE 1
#define LIMIT 2
#define RHS 3
#define LEAST_QUOTIENT 4
#define LARGEST_QUOTIENT 5
#define SCALE 6
#define STATUS 0
#define ITERATIONS 1
#define MAX_ITERATIONS 2

#define FINITE(value) ((value) > -1e308 && (value) < 1e308)

#ifdef __CUDACC__ /* supplied by the driver */
extern "C" __device__ void cudaGraphSetConditional(unsigned long long handle, unsigned int value);
#define SET_CONDITION(handle, value) if (handle) cudaGraphSetConditional(handle, value)
#else
#define SET_CONDITION(handle, value) ((void)(handle))
#endif

#include "entries.h"

/* The largest magnitude in each block of b. A NaN is left to the sums that follow. */
KERNEL peak(const long count, const long chunk, GLOBAL const real *RESTRICT b, GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double peaks[BLOCK];
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;
    INNER(t) {
        double lanes[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const double size = fabs(b[i]);
            lanes[l] = size > lanes[l] ? size : lanes[l];
        });
        double most = 0;
        UNROLL
        for (int l = 0; l < LANES; ++l) most = lanes[l] > most ? lanes[l] : most;
        peaks[t] = most;
    }
    BARRIER;
    HIGHEST(peaks)
    INNER(t) {
        if (t == 0) partial[block] = peaks[0];
    }
}

/* x = 0, p = 0, r = b times the power of two that brings its largest entry to between 1 and 2, so that no square over-
 * or underflows, and single precision inside a preconditioner neither; partial sums of r.r. Where a preconditioner in
 * single precision takes r, `rounded` is r in it. */
KERNEL start(const long count, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial_peak,
             GLOBAL const real *RESTRICT b, GLOBAL real *RESTRICT x, GLOBAL real *RESTRICT r,
             GLOBAL real *RESTRICT p, GLOBAL double *RESTRICT scalars, GLOBAL double *RESTRICT partial,
             GLOBAL float *RESTRICT rounded)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    INNER(t) {
        double most = 0;
        for (int i = t; i < blocks; i += BLOCK) most = partial_peak[i] > most ? partial_peak[i] : most;
        sums[t] = most;
    }
    BARRIER;
    HIGHEST(sums)
    const double most = sums[0];
    BARRIER;
    const int exponent = most > 0 && FINITE(most) ? -ilogb(most) : 0;
    const double scale = ldexp(1.0, exponent > 1000 ? 1000 : exponent);
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;
    INNER(t) {
        double squares[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const double value = b[i] * scale;
            x[i] = 0;
            p[i] = 0;
            r[i] = value;
            if (rounded) rounded[i] = (float)value;
            squares[l] += value * value;
        });
        sums[t] = folded(squares);
        if (t == 0 && block == 0) scalars[SCALE] = scale;
    }
    TREE(sums)
    INNER(t) {
        if (t == 0) partial[block] = sums[0];
    }
}

/* Sets up the scalars of a solve; a single block. */
KERNEL prepare(const int blocks, const double tolerance, const int max_iterations,
               GLOBAL const double *RESTRICT partial, GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters,
               GLOBAL double *RESTRICT history)
{
    SHARED double sums[BLOCK];
    TOTAL(rhs, sums, partial, blocks)
    INNER(t) {
        if (t == 0) {
            scalars[RZ_BEFORE] = 0;
            scalars[RZ] = 0;
            scalars[RHS] = rhs;
            scalars[LIMIT] = tolerance * tolerance * rhs;
            scalars[LEAST_QUOTIENT] = 1e308;
            scalars[LARGEST_QUOTIENT] = 0;
            counters[ITERATIONS] = 0;
            counters[MAX_ITERATIONS] = max_iterations;
            history[0] = rhs > 0;
            counters[STATUS] = !FINITE(rhs)          ? NOT_A_NUMBER
                               : rhs == 0            ? CONVERGED
                               : max_iterations == 0 ? ITERATION_LIMIT
                                                     : RUNNING;
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

/* Partial sums of x.y. */
KERNEL product(const long count, const long chunk, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y,
           GLOBAL double *RESTRICT partial)
{
    PARTIAL_SUMS((double)x[i] * y[i])
}

/* p = z + beta p, where beta is the quotient of this r.z, whose partial sums are given, and the one before.
 *
 * A breakdown leaves all vectors as they are; `check` says so, a single block, since blocks that are still to come
 * read how the solve stands. */
#define DIRECTION(z_i)                                                                                               \
    OUTER(block);                                                                                                    \
    SHARED double sums[BLOCK];                                                                                       \
    const int running = counters[STATUS] == RUNNING;                                                                 \
    TOTAL(rz, sums, partial, blocks)                                                                                 \
    const int usable = running && rz > 0 && FINITE(rz);                                                              \
    const double before = scalars[RZ_BEFORE], beta = before > 0 ? rz / before : 0;                                   \
    const long begin = block * chunk, end = !usable ? begin : begin + chunk < count ? begin + chunk : count;         \
    INNER(t) {                                                                                                       \
        FOR_ENTRIES(t, begin, end, p[i] = z_i + beta * p[i]);                                                        \
        if (t == 0 && block == 0 && running) scalars[RZ] = rz;                                                       \
    }

KERNEL direction(const long count, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial,
                 GLOBAL const real *RESTRICT z, GLOBAL real *RESTRICT p, GLOBAL double *RESTRICT scalars,
                 GLOBAL const int *RESTRICT counters)
{
    DIRECTION(z[i])
}

/* Partial sums of p.q, and behind them of p.p and q.q, where q = A p. */
KERNEL curvature(const long count, const long chunk, const int blocks, GLOBAL const real *RESTRICT p,
                 GLOBAL const real *RESTRICT q, GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    SHARED double sums_p[BLOCK];
    SHARED double sums_q[BLOCK];
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;
    INNER(t) {
        double pq[LANES] = {0}, pp[LANES] = {0}, qq[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const double left = p[i];
            const double right = q[i];
            pq[l] += left * right;
            pp[l] += left * left;
            qq[l] += right * right;
        });
        sums[t] = folded(pq);
        sums_p[t] = folded(pp);
        sums_q[t] = folded(qq);
    }
    BARRIER;
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        INNER(t) {
            if (t < width) {
                sums[t] += sums[t + width];
                sums_p[t] += sums_p[t + width];
                sums_q[t] += sums_q[t + width];
            }
        }
        BARRIER;
    }
    INNER(t) {
        if (t == 0) {
            partial[block] = sums[0];
            partial[blocks + block] = sums_p[0];
            partial[2 * blocks + block] = sums_q[0];
        }
    }
}

/* alpha = r.z / p.q, and a block's entries: none where a solve has ended or broken down. */
#define STEP                                                                                                         \
    const int running = counters[STATUS] == RUNNING;                                                                 \
    TOTAL(pq, sums, partial, blocks)                                                                                 \
    const double rz = scalars[RZ];                                                                                   \
    const int usable = running && rz > 0 && FINITE(rz) && pq > 0 && FINITE(pq);                                      \
    const double alpha = usable ? rz / pq : 0;                                                                       \
    const long begin = block * chunk, end = !usable ? begin : begin + chunk < count ? begin + chunk : count;

/* x += alpha p, r -= alpha q with alpha = r.z / p.q; partial sums of the new r.r. */
KERNEL advance(const long count, const long chunk, const int blocks, GLOBAL const double *RESTRICT partial,
               GLOBAL const real *RESTRICT p, GLOBAL const real *RESTRICT q, GLOBAL real *RESTRICT x,
               GLOBAL real *RESTRICT r, GLOBAL double *RESTRICT scalars, GLOBAL const int *RESTRICT counters,
               GLOBAL double *RESTRICT partial_rr, GLOBAL float *RESTRICT rounded)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    STEP
    INNER(t) {
        double lanes[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const double value = r[i] - alpha * q[i];
            x[i] += alpha * p[i];
            r[i] = value;
            if (rounded) rounded[i] = (float)value;
            lanes[l] += value * value;
        });
        sums[t] = folded(lanes);
        if (t == 0 && block == 0 && running) scalars[RZ_BEFORE] = rz;
    }
    TREE(sums)
    INNER(t) {
        if (t == 0 && usable) partial_rr[block] = sums[0];
    }
}

/* Brings a solve's state up to date after an iteration, in a single thread: the iteration's residual into the history,
 * and whether to go on. `usable` says whether the iteration went on, `broken` by which number it did not.
 *
 * p.Ap / p.p and |Ap| / |p| lie between the extreme eigenvalues of A. Where they differ by more than the digits of a
 * double there is a direction in which A is zero to rounding, and what was found in it means nothing. */
DEVICE_FUNCTION void judge(const int running, const int usable, const double broken, const double rr, const double pq,
                           const double pp, const double qq, GLOBAL double *scalars, GLOBAL int *counters,
                           GLOBAL double *history)
{
    if (running && !usable) counters[STATUS] = FINITE(broken) ? INDEFINITE : NOT_A_NUMBER;
    if (running && usable) {
        const int iterations = counters[ITERATIONS] + 1;
        const double quotient = pq / pp, stretch = sqrt(qq / pp);
        const double least = quotient < scalars[LEAST_QUOTIENT] ? quotient : scalars[LEAST_QUOTIENT];
        const double largest = stretch > scalars[LARGEST_QUOTIENT] ? stretch : scalars[LARGEST_QUOTIENT];
        scalars[LEAST_QUOTIENT] = least;
        scalars[LARGEST_QUOTIENT] = largest;
        counters[ITERATIONS] = iterations;
        if (history) history[iterations] = sqrt(rr / scalars[RHS]);
        if (!FINITE(rr)) counters[STATUS] = NOT_A_NUMBER;
        else if (least < ROUNDING * largest) counters[STATUS] = INDEFINITE;
        else if (rr <= scalars[LIMIT]) counters[STATUS] = CONVERGED;
        else if (iterations >= counters[MAX_ITERATIONS]) counters[STATUS] = ITERATION_LIMIT;
    }
}

/* Ends an iteration; a single block. */
KERNEL check(const ulong handle, const int blocks, GLOBAL const double *RESTRICT partial_rr, const int parts,
             GLOBAL const double *RESTRICT partial, GLOBAL double *RESTRICT scalars, GLOBAL int *RESTRICT counters,
             GLOBAL double *RESTRICT history)
{
    SHARED double sums[4][BLOCK]; /* together, since each by itself waits as long */
    INNER(t) {
        double rr = 0, pq = 0, pp = 0, qq = 0;
        for (int i = t; i < blocks; i += BLOCK) rr += partial_rr[i];
        for (int i = t; i < parts; i += BLOCK) {
            pq += partial[i];
            pp += partial[parts + i];
            qq += partial[2 * parts + i];
        }
        sums[0][t] = rr;
        sums[1][t] = pq;
        sums[2][t] = pp;
        sums[3][t] = qq;
    }
    BARRIER;
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        INNER(t) {
            for (int k = 0; t < width && k < 4; ++k) sums[k][t] += sums[k][t + width];
        }
        BARRIER;
    }
    const double rr = sums[0][0], pq = sums[1][0], pp = sums[2][0], qq = sums[3][0];
    INNER(t) {
        if (t == 0) {
            const double rz = scalars[RZ], broken = rz > 0 && FINITE(rz) ? pq : rz;
            const int running = counters[STATUS] == RUNNING, usable = broken > 0 && FINITE(broken);
            judge(running, usable, broken, rr, pq, pp, qq, scalars, counters, history);
            SET_CONDITION(handle, counters[STATUS] == RUNNING);
        }
    }
}

/* The norm of b, and how the solve stands, for a host that reads all of it at once. */
KERNEL report(const int first, GLOBAL const double *RESTRICT scalars, GLOBAL const int *RESTRICT counters,
              GLOBAL double *RESTRICT out)
{
    INNER(t) {
        if (t == 0) {
            out[first] = sqrt(scalars[RHS]) / scalars[SCALE];
            out[first + 1] = counters[STATUS];
            out[first + 2] = counters[ITERATIONS];
        }
    }
}

/* y = x without the power of two. */
KERNEL finish(const long count, const long chunk, GLOBAL const double *RESTRICT scalars, GLOBAL const real *RESTRICT x,
              GLOBAL real *RESTRICT y)
{
    OUTER(block);
    const double scale = 1 / scalars[SCALE];
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;
    INNER(t) {
        FOR_ENTRIES(t, begin, end, y[i] = x[i] * scale);
    }
}

/* q becomes b - q; partial sums of its squares, and behind them of b's. */
KERNEL gaps(const long count, const long chunk, const int blocks, GLOBAL const real *RESTRICT b,
                GLOBAL real *RESTRICT q, GLOBAL double *RESTRICT partial)
{
    OUTER(block);
    SHARED double sums[BLOCK];
    SHARED double sums_b[BLOCK];
    const long begin = block * chunk, end = begin + chunk < count ? begin + chunk : count;
    INNER(t) {
        double squared_gaps[LANES] = {0}, squares[LANES] = {0};
        FOR_ENTRIES(t, begin, end, {
            const double wanted = b[i];
            const double gap = wanted - q[i];
            q[i] = (real)gap;
            squared_gaps[l] += gap * gap;
            squares[l] += wanted * wanted;
        });
        sums[t] = folded(squared_gaps);
        sums_b[t] = folded(squares);
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
