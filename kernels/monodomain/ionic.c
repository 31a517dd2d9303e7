/* The heart with cells of ions at each element's integration point or at each node, as `at_nodes` says: the contributions, and the
 * states that go into the next step. `states` has the element or the node as its fastest index. A share of the mass is the nodes'
 * own, `nodes_rate` of 1 / dt, and `rate` is the rest. */

#include "contribute.h"
#include "ten_tusscher.h"

#define LOAD_STATE(number, name) cell.name = states[number * count + e];
#define STORE_STATE(number, name) states[number * count + e] = cell.name;

/* While clock[0] is before `until`, `stimulus` goes in, millivolts a millisecond. */
KERNEL elements(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT stiffness,
                GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                GLOBAL const double *RESTRICT phi_before, const long at_nodes, GLOBAL const double *RESTRICT states,
                GLOBAL const double *RESTRICT stimulus, GLOBAL const double *RESTRICT clock, const double until,
                const double rate, GLOBAL const int *RESTRICT places, GLOBAL double *RESTRICT contributions)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        const double p0 = phi[cells[e]], p1 = phi[cells[count + e]], p2 = phi[cells[2 * count + e]],
                     p3 = phi[cells[3 * count + e]];
        const double mean = 0.25 * (p0 + p1 + p2 + p3);
        const double mean_before = 0.25 * (phi_before[cells[e]] + phi_before[cells[count + e]] +
                                           phi_before[cells[2 * count + e]] + phi_before[cells[3 * count + e]]);
        double flow = clock[0] < until ? stimulus[e] : 0, slope = 0;
        if (!at_nodes) {
            cell_state cell;
            EACH_STATE(LOAD_STATE)
            const cell_currents through = currents(mean, cell);
            flow -= through.na + through.k + through.ca + through.ca_ss;
            slope = through.slope;
        }
        const double volume = READ_ONCE_LOAD(&volumes[e]);
        const double mass = volume * (rate + slope) * 0.0625;
        const double load = volume * ((mean - mean_before) * rate - flow) * 0.25;
        contribute(e, count, p0, p1, p2, p3, mass, load, stiffness, places, contributions);
    }
}

/* The states for the next step of dt, from the last step's states and the potential that it came to. */
KERNEL advance(const long count, const double dt, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT phi,
               GLOBAL double *RESTRICT states)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        const double mean = 0.25 * (phi[cells[e]] + phi[cells[count + e]] + phi[cells[2 * count + e]] +
                                    phi[cells[3 * count + e]]);
        cell_state cell;
        EACH_STATE(LOAD_STATE)
        cell = advanced(mean, cell, dt);
        EACH_STATE(STORE_STATE)
    }
}

/* All cells in the same states. */
KERNEL settle(const long count, GLOBAL const double *RESTRICT given, GLOBAL double *RESTRICT states)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
#define COPY_STATE(number, name) states[number * count + e] = given[number];
        EACH_STATE(COPY_STATE)
    }
}

/* To the sums: the nodes' own share of the mass, and their cells, on the volumes that are theirs. */
KERNEL add_nodes(const long count, GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                 GLOBAL const double *RESTRICT phi_before, const long at_nodes, GLOBAL const double *RESTRICT states,
                 const double nodes_rate, GLOBAL const int *RESTRICT diagonal, GLOBAL real *RESTRICT values,
                 GLOBAL real *RESTRICT inverse_diagonal, GLOBAL real *RESTRICT residual)
{
    OUTER(block);
    INNER(t) {
        const long e = block * BLOCK + t;
        if (e >= count) continue;
        double load = (phi[e] - phi_before[e]) * nodes_rate, mass = nodes_rate;
        if (at_nodes) {
            cell_state cell;
            EACH_STATE(LOAD_STATE)
            const cell_currents through = currents(phi[e], cell);
            load += through.na + through.k + through.ca + through.ca_ss;
            mass += through.slope;
        }
        const double sum = values[diagonal[e]] + volumes[e] * mass;
        values[diagonal[e]] = sum;
        inverse_diagonal[e] = 1 / sum;
        residual[e] += volumes[e] * load;
    }
}
