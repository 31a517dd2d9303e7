/* The factors of the elements, see elements.c and contribute.h: eight of them side by side. */

#define real double
#include "reaction.h"
#include "../device/eights.h"

#define FAILED 6 /* place in `report` */
#define OF_ELEMENTS(array) (here == 8 ? (eight)LOAD_EIGHT((array) + first) : FIND_EIGHT(array, at))
#define ABSOLUTE(v) ((eight)((eight_truths)(v) & 0x7fffffffffffffff))

/* As recover in reaction.h, for eight points; those that have converged stay where they are. */
DEVICE_FUNCTION eight_truths recover_eight(const eight *phi, const eight *before, const double b, const double c, const double gamma,
                                           const double mu1, const double mu2, const double rate, eight *r, eight *slope)
{
    const eight weight = 1 / (mu2 + *phi), drive = c * *phi * (*phi - b - 1);
    eight now = *r;
    eight_truths open = now == now;
    int some_open = 1;
    for (int k = 0; k < MOST_LOCAL_ITERATIONS && some_open; ++k) {
        const eight speed = gamma + mu1 * now * weight;
        const eight residual = (now - *before) * rate + speed * (now + drive);
        const eight change = WHERE(open, residual / (rate + mu1 * weight * (now + drive) + speed));
        now -= change;
        open &= ~(ABSOLUTE(change) <= 1e-13 * (1 + ABSOLUTE(now)));
        some_open = 0;
        for (int lane = 0; lane < 8; ++lane) some_open |= open[lane] != 0;
    }
    const eight speed = gamma + mu1 * now * weight, tangent = rate + mu1 * weight * (now + drive) + speed;
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
    for (long first = block * BLOCK; first < past; first += 8) {
        const int here = past - first < 8 ? past - first : 8;
        long at[8];
        int node[4][8];
        for (int l = 0; l < 8; ++l) at[l] = first + (l < here ? l : here - 1); /* the last element fills up */
        for (int k = 0; k < 4; ++k)
            for (int l = 0; l < 8; ++l) node[k][l] = cells[k * count + at[l]];
        const eight p0 = FIND_EIGHT(phi, node[0]), p1 = FIND_EIGHT(phi, node[1]), p2 = FIND_EIGHT(phi, node[2]), p3 = FIND_EIGHT(phi, node[3]);
        const eight mean = 0.25 * (p0 + p1 + p2 + p3), before = OF_ELEMENTS(r_before);
        eight r = OF_ELEMENTS(recovery), slope;
        const eight_truths open = recover_eight(&mean, &before, b, c, gamma, mu1, mu2, rate, &r, &slope);
        const eight derivative = c * ((2 * (1 + alpha) - 3 * mean) * mean - alpha) - r - mean * slope;
        const eight flow = mean * (c * (mean - alpha) * (1 - mean) - r);
        const eight volume = OF_ELEMENTS(volumes), moved = mean - OF_ELEMENTS(mean_before);
        const eight mass = volume * (rate - derivative) * 0.0625, load = volume * (moved * rate - flow) * 0.25;
        for (int l = 0; l < here; ++l) {
            recovery[first + l] = r[l];
            factors[first + l] = mass[l];
            factors[count + 1 + first + l] = load[l];
            if (open[l]) ATOMIC_ADD_GLOBAL(&report[FAILED], 1.0);
        }
    }
}
