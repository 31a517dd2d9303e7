/* Assembly and update of the monodomain equations on linear tetrahedra with one integration point (wong2015, sections 2 and 4), but for
 * the elements' own part (elements.c). `real` is the precision of the linear solves. */

#define FAILED 6 /* place in `report` */

/* Sums the rows of contributions, a thread a row. Rows are the edges, whose sums go to two entries of the matrix, the nodes'
 * diagonal entries, and the nodes' residuals; slices of SLICE of them are stored by columns, in `order`. */
KERNEL sums(const long slots, const long edges, const long nodes, GLOBAL const long *RESTRICT slice_offsets,
            GLOBAL const int *RESTRICT order, GLOBAL const double *RESTRICT contributions,
            GLOBAL const int *RESTRICT upper, GLOBAL const int *RESTRICT lower, GLOBAL const int *RESTRICT diagonal,
            GLOBAL real *RESTRICT values, GLOBAL real *RESTRICT inverse_diagonal, GLOBAL real *RESTRICT residual)
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
KERNEL correct(const long nodes, GLOBAL const real *RESTRICT change, GLOBAL double *RESTRICT phi)
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
              GLOBAL real *RESTRICT values)
{
    OUTER(block);
    INNER(t) {
        const long k = block * BLOCK + t;
        if (k < count) values[places[k]] = entries[k];
    }
}

/* The inverse of the diagonal of a packed format. */
KERNEL invert(const long nodes, GLOBAL const int *RESTRICT diagonal, GLOBAL const real *RESTRICT values,
              GLOBAL real *RESTRICT inverse_diagonal)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < nodes) inverse_diagonal[i] = 1 / values[diagonal[i]];
    }
}
