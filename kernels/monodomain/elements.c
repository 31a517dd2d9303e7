/* The contributions of the elements of the monodomain equations, linear tetrahedra with one integration point (wong2015, section 4).
 *
 * Arrays of `elements` times something have the element as their fastest index. */

#include "contribute.h"
#include "reaction.h"

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
        contribute(e, count, p0, p1, p2, p3, mass, load, stiffness, places, contributions);
    }
}
