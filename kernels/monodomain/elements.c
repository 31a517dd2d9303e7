/* The contributions of the elements of the monodomain equations, linear tetrahedra with one integration point (wong2015, section 4).
 *
 * Arrays of `elements` times something have the element as their fastest index. An element gives fourteen contributions: to the
 * matrix for its edges 01 02 03 12 13 23 and its nodes, to the residual for its nodes. Each is written where the sum that it
 * belongs to reads it. */

#include "reaction.h"

#define EDGE_COUNT 6
#define FAILED 6 /* place in `report` */

KERNEL elements(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT stiffness,
                GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                GLOBAL const double *RESTRICT mean_before, GLOBAL const double *RESTRICT r_before,
                GLOBAL double *RESTRICT recovery, const double alpha, const double b, const double c, const double gamma,
                const double mu1, const double mu2, const double rate, GLOBAL const int *RESTRICT places,
                GLOBAL double *RESTRICT contributions, GLOBAL double *RESTRICT report)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        const double p0 = phi[cells[e]], p1 = phi[cells[count + e]], p2 = phi[cells[2 * count + e]],
                     p3 = phi[cells[3 * count + e]];
        const double mean = 0.25 * (p0 + p1 + p2 + p3);
        double r = recovery[e], slope, derivative;
        const int converged = recover(mean, r_before[e], b, c, gamma, mu1, mu2, rate, &r, &slope);
        recovery[e] = r;
        if (!converged) ATOMIC_ADD_GLOBAL(&report[FAILED], 1.0);
        const double flow = source(mean, r, slope, alpha, c, &derivative);
        const double volume = READ_ONCE_LOAD(&volumes[e]);
        const double mass = volume * (rate - derivative) * 0.0625;
        const double load = volume * ((mean - mean_before[e]) * rate - flow) * 0.25;

        double s[EDGE_COUNT];
        UNROLL
        for (int k = 0; k < EDGE_COUNT; ++k) {
            s[k] = READ_ONCE_LOAD(&stiffness[k * count + e]);
            contributions[places[k * count + e]] = s[k] + mass;
        }
        /* a row of the stiffness sums to zero */
        contributions[places[6 * count + e]] = mass - s[0] - s[1] - s[2];
        contributions[places[7 * count + e]] = mass - s[0] - s[3] - s[4];
        contributions[places[8 * count + e]] = mass - s[1] - s[3] - s[5];
        contributions[places[9 * count + e]] = mass - s[2] - s[4] - s[5];
        contributions[places[10 * count + e]] = load + s[0] * (p1 - p0) + s[1] * (p2 - p0) + s[2] * (p3 - p0);
        contributions[places[11 * count + e]] = load + s[0] * (p0 - p1) + s[3] * (p2 - p1) + s[4] * (p3 - p1);
        contributions[places[12 * count + e]] = load + s[1] * (p0 - p2) + s[3] * (p1 - p2) + s[5] * (p3 - p2);
        contributions[places[13 * count + e]] = load + s[2] * (p0 - p3) + s[4] * (p1 - p3) + s[5] * (p2 - p3);
    }
}
