/* The factors of the elements, see elements.c and contribute.h: some of them side by side. */

#define real double
#include "reaction.h"
#include "../spmv/vectors.h"

#define FAILED 6 /* place in `report` */
#define OF_ELEMENTS(array) (here == SOME ? (some)LOAD_SOME((array) + first) : FIND_SOME(array, at))
#define ABSOLUTE(v) ((some)((some_truths)(v) & 0x7fffffffffffffff))

/* As recover in reaction.h, for some points; those that have converged stay where they are. */
DEVICE_FUNCTION some_truths recover_some(const some *phi, const some *before, const double b, const double c, const double gamma,
                                           const double mu1, const double mu2, const double rate, some *r, some *slope)
{
    const some weight = 1 / (mu2 + *phi), drive = c * *phi * (*phi - b - 1);
    some now = *r;
    some_truths open = now == now;
    int some_open = 1;
    for (int k = 0; k < MOST_LOCAL_ITERATIONS && some_open; ++k) {
        const some speed = gamma + mu1 * now * weight;
        const some residual = (now - *before) * rate + speed * (now + drive);
        const some change = WHERE_SOME(open, residual / (rate + mu1 * weight * (now + drive) + speed));
        now -= change;
        open &= ~(ABSOLUTE(change) <= 1e-13 * (1 + ABSOLUTE(now)));
        some_open = 0;
        for (int lane = 0; lane < SOME; ++lane) some_open |= open[lane] != 0;
    }
    const some speed = gamma + mu1 * now * weight, tangent = rate + mu1 * weight * (now + drive) + speed;
    *slope = -(speed * c * (2 * *phi - b - 1) - mu1 * now * weight * weight * (now + drive)) / tangent;
    *r = now;
    return open;
}

KERNEL elements(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT stiffness,
                GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                GLOBAL const double *RESTRICT mean_before, GLOBAL const double *RESTRICT r_before,
                GLOBAL double *RESTRICT recovery, const double alpha, const double b, const double c, const double gamma,
                const double mu1, const double mu2, const double rate, GLOBAL const int *RESTRICT places,
                GLOBAL double *RESTRICT factors, GLOBAL double *RESTRICT report)
{
    OUTER(block);
    const long past = (block + 1) * BLOCK < count ? (block + 1) * BLOCK : count;
    for (long first = block * BLOCK; first < past; first += SOME) {
        const int here = past - first < SOME ? past - first : SOME;
        long at[SOME];
        int node[4][SOME];
        for (int l = 0; l < SOME; ++l) at[l] = first + (l < here ? l : here - 1); /* the last element fills up */
        for (int k = 0; k < 4; ++k)
            for (int l = 0; l < SOME; ++l) node[k][l] = cells[k * count + at[l]];
        const some p0 = FIND_SOME(phi, node[0]), p1 = FIND_SOME(phi, node[1]), p2 = FIND_SOME(phi, node[2]), p3 = FIND_SOME(phi, node[3]);
        const some mean = 0.25 * (p0 + p1 + p2 + p3), before = OF_ELEMENTS(r_before);
        some r = OF_ELEMENTS(recovery), slope;
        const some_truths open = recover_some(&mean, &before, b, c, gamma, mu1, mu2, rate, &r, &slope);
        const some derivative = c * ((2 * (1 + alpha) - 3 * mean) * mean - alpha) - r - mean * slope;
        const some flow = mean * (c * (mean - alpha) * (1 - mean) - r);
        const some volume = OF_ELEMENTS(volumes), moved = mean - OF_ELEMENTS(mean_before);
        const some mass = volume * (rate - derivative) * 0.0625, load = volume * (moved * rate - flow) * 0.25;
        for (int l = 0; l < here; ++l) {
            recovery[first + l] = r[l];
            factors[first + l] = mass[l];
            factors[count + 1 + first + l] = load[l];
            if (open[l]) ATOMIC_ADD_GLOBAL(&report[FAILED], 1.0);
        }
    }
}
