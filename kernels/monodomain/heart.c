/* Assembly and update of the monodomain equations on linear tetrahedra with one integration point (wong2015, sections 2 and 4).
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

/* Sums the rows of contributions, a thread a row. Rows are the edges, whose sums go to two entries of the matrix, the nodes'
 * diagonal entries, and the nodes' residuals; slices of SLICE of them are stored by columns, in `order`. */
KERNEL sums(const long slots, const long edges, const long nodes, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const double *RESTRICT contributions,
            GLOBAL const int *RESTRICT upper, GLOBAL const int *RESTRICT lower, GLOBAL const int *RESTRICT diagonal,
            GLOBAL double *RESTRICT values, GLOBAL double *RESTRICT inverse_diagonal, GLOBAL double *RESTRICT residual)
{
    OUTER(block);
    INNER(t) {
        const long slot = block * BLOCK + t;
        if (slot >= slots) continue;
        const long row = order[slot];
        if (row < 0) continue;
        const long slice = slot / SLICE, end = slice_offsets[slice + 1];
        double sum = 0; /* padding holds zeros */
        for (long place = slice_offsets[slice] + slot % SLICE; place < end; place += SLICE) sum += contributions[place];
        if (row < edges) {
            values[upper[row]] = sum;
            values[lower[row]] = sum;
        } else if (row < edges + nodes) {
            values[diagonal[row - edges]] = sum;
            inverse_diagonal[row - edges] = 1 / sum;
        } else {
            residual[row - edges - nodes] = sum;
        }
    }
}

/* phi -= change. */
KERNEL correct(const long nodes, GLOBAL const double *RESTRICT change, GLOBAL double *RESTRICT phi)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < nodes) phi[i] -= change[i];
    }
}

/* A step ends, at the integration points: what was found is where the next one starts. */
KERNEL accept_points(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT phi,
                     GLOBAL const double *RESTRICT recovery, GLOBAL double *RESTRICT mean_before,
                     GLOBAL double *RESTRICT r_before)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        mean_before[e] = 0.25 * (phi[cells[e]] + phi[cells[count + e]] + phi[cells[2 * count + e]] +
                                 phi[cells[3 * count + e]]);
        r_before[e] = recovery[e];
    }
}

/* The same at the nodes, and when each was excited: the first time at which phi rises through `threshold`, linear within a step.
 * A node that has not been is negative. clock[0] is the time at the step's end. */
KERNEL accept_nodes(const long nodes, const double dt, const double threshold, GLOBAL const double *RESTRICT clock,
                    GLOBAL const double *RESTRICT phi, GLOBAL double *RESTRICT phi_before,
                    GLOBAL double *RESTRICT activation)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= nodes) continue;
        const double now = phi[i], before = phi_before[i];
        if (activation[i] < 0 && now >= threshold) {
            const double share = before < threshold ? (now - threshold) / (now - before) : 1;
            activation[i] = clock[0] + dt * (1 - share);
        }
        phi_before[i] = now;
    }
}

/* clock[0] += dt. */
KERNEL tick(const double dt, GLOBAL double *RESTRICT clock)
{
    INNER(t) {
        if (t == 0) clock[0] += dt;
    }
}

/* Sets the nodes to a state: what is excited in it counts as excited now. */
KERNEL restore_nodes(const long nodes, const double time, const double threshold, GLOBAL const double *RESTRICT given,
                     GLOBAL double *RESTRICT phi, GLOBAL double *RESTRICT phi_before, GLOBAL double *RESTRICT activation,
                     GLOBAL double *RESTRICT clock, GLOBAL double *RESTRICT report)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i == 0) {
            clock[0] = time;
            report[FAILED] = 0;
        }
        if (i >= nodes) continue;
        const double value = given[i];
        phi[i] = value;
        phi_before[i] = value;
        activation[i] = value >= threshold ? time : -1;
    }
}

/* The same at the integration points. */
KERNEL restore_points(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT phi,
                      GLOBAL const double *RESTRICT given, GLOBAL double *RESTRICT recovery,
                      GLOBAL double *RESTRICT mean_before, GLOBAL double *RESTRICT r_before)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        mean_before[e] = 0.25 * (phi[cells[e]] + phi[cells[count + e]] + phi[cells[2 * count + e]] +
                                 phi[cells[3 * count + e]]);
        recovery[e] = given[e];
        r_before[e] = given[e];
    }
}

/* Values in the order of CSR into a packed format. */
KERNEL refill(const long count, GLOBAL const int *RESTRICT places, GLOBAL const double *RESTRICT entries,
              GLOBAL double *RESTRICT values)
{
    OUTER(block);
    INNER(t) {
        const long k = block * BLOCK + t;
        if (k < count) values[places[k]] = entries[k];
    }
}

/* The inverse of the diagonal of a packed format. */
KERNEL invert(const long nodes, GLOBAL const int *RESTRICT diagonal, GLOBAL const double *RESTRICT values,
              GLOBAL double *RESTRICT inverse_diagonal)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < nodes) inverse_diagonal[i] = 1 / values[diagonal[i]];
    }
}
