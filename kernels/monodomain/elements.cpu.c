/* The factors of the elements, see elements.c and contribute.h: some of them side by side, and several times as many at once, so that
 * divisions do not wait for one another.
 *
 * The residual of reaction.h times (mu2 + phi)^2 is a parabola of r, (steep r + linear) r + constant. So a round divides once, and the last
 * round's inverse serves d r / d phi. All go on until the last has converged, which changes the others by rounding. */

#define real double
#include "reaction.h"
#include "../spmv/vectors.h"

#define FAILED 6 /* place in `report` */
#define VECTORS 4
#define GROUP (VECTORS * SOME)
#define FOR_VECTORS for (int v = 0; v < VECTORS; ++v)
#define OF_VECTOR(array) LOAD_SOME((array) + e + SOME * v)
#define ABSOLUTE(v) ((some)((some_truths)(v) & 0x7fffffffffffffff))

KERNEL elements(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT stiffness,
                GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                GLOBAL const double *RESTRICT mean_before, GLOBAL const double *RESTRICT r_before,
                GLOBAL double *RESTRICT recovery, const double alpha, const double b, const double c, const double gamma,
                const double mu1, const double mu2, const double rate, GLOBAL const int *RESTRICT places,
                GLOBAL double *RESTRICT factors, GLOBAL double *RESTRICT report)
{
    OUTER(block);
    const double bend = c * (1 + b), lift = c * (1 + alpha), loss = c * alpha, pace = rate + gamma;
    const long past = (block + 1) * BLOCK < count ? (block + 1) * BLOCK : count;
    long e = block * BLOCK;
    for (; e + GROUP <= past; e += GROUP) {
        some mean[VECTORS], drive[VECTORS], square[VECTORS], steep[VECTORS], linear[VECTORS], constant[VECTORS];
        some r[VECTORS], inverse[VECTORS];
        some_truths closed[VECTORS], all_closed;
        const int *n0 = cells + e, *n1 = n0 + count, *n2 = n1 + count, *n3 = n2 + count;
        OPAQUE(n0);
        OPAQUE(n1);
        OPAQUE(n2);
        OPAQUE(n3);
        FOR_VECTORS mean[v] = 0.25 * (FIND_SOME(phi, n0 + SOME * v) + FIND_SOME(phi, n1 + SOME * v) +
                                      FIND_SOME(phi, n2 + SOME * v) + FIND_SOME(phi, n3 + SOME * v));
        FOR_VECTORS {
            const some weight = mu2 + mean[v];
            drive[v] = mean[v] * (c * mean[v] - bend);
            square[v] = weight * weight;
            steep[v] = mu1 * weight;
            linear[v] = pace * square[v] + steep[v] * drive[v];
            constant[v] = square[v] * (gamma * drive[v] - rate * OF_VECTOR(r_before));
            r[v] = OF_VECTOR(recovery);
        }
        long converged = 0;
        for (int k = 0; k < MOST_LOCAL_ITERATIONS && !converged; ++k) {
            FOR_VECTORS {
                const some product = steep[v] * r[v];
                inverse[v] = 1 / (2 * product + linear[v]);
                const some change = ((product + linear[v]) * r[v] + constant[v]) * inverse[v];
                r[v] -= change;
                closed[v] = ABSOLUTE(change) <= 1e-13 + 1e-13 * ABSOLUTE(r[v]);
                all_closed = v ? all_closed & closed[v] : closed[v];
            }
            converged = -1;
            for (int lane = 0; lane < SOME; ++lane) converged &= all_closed[lane];
        }
        FOR_VECTORS {
            const some speed = gamma * square[v] + steep[v] * r[v];
            const some slope = (mu1 * r[v] * (r[v] + drive[v]) - speed * (2 * c * mean[v] - bend)) * inverse[v];
            const some rising = lift - c * mean[v], source = mean[v] * rising - loss - r[v]; /* over phi */
            const some derivative = source + mean[v] * (rising - c * mean[v] - slope);
            const some volume = OF_VECTOR(volumes), moved = mean[v] - OF_VECTOR(mean_before);
            STORE_SOME(recovery + e + SOME * v, r[v]);
            STORE_SOME(factors + e + SOME * v, volume * (rate - derivative) * 0.0625);
            STORE_SOME(factors + count + 1 + e + SOME * v, volume * (moved * rate - mean[v] * source) * 0.25);
        }
        if (!converged)
            FOR_VECTORS for (int lane = 0; lane < SOME; ++lane)
                if (!closed[v][lane]) ATOMIC_ADD_GLOBAL(&report[FAILED], 1.0);
    }
    for (; e < past; ++e) {
        const double mean = 0.25 * (phi[cells[e]] + phi[cells[count + e]] + phi[cells[2 * count + e]] + phi[cells[3 * count + e]]);
        double r = recovery[e], slope, derivative;
        if (!recover(mean, r_before[e], b, c, gamma, mu1, mu2, rate, &r, &slope)) ATOMIC_ADD_GLOBAL(&report[FAILED], 1.0);
        const double flow = source(mean, r, slope, alpha, c, &derivative);
        recovery[e] = r;
        factors[e] = volumes[e] * (rate - derivative) * 0.0625;
        factors[count + 1 + e] = volumes[e] * ((mean - mean_before[e]) * rate - flow) * 0.25;
    }
}
