/* The heart with a cell's ions at each element's integration point: its contributions, and what it brings to the next step. `states`
 * has the element as its fastest index. */

#include "contribute.h"
#include "ten_tusscher.h"

#define LOAD_STATE(number, name) cell.name = states[number * count + e];
#define STORE_STATE(number, name) states[number * count + e] = cell.name;

/* While clock[0] is before `until`, `stimulus` goes in, millivolts a millisecond. */
KERNEL elements(const long count, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT stiffness,
                GLOBAL const double *RESTRICT volumes, GLOBAL const double *RESTRICT phi,
                GLOBAL const double *RESTRICT mean_before, GLOBAL const double *RESTRICT states,
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
        cell_state cell;
        EACH_STATE(LOAD_STATE)
        const cell_currents through = currents(mean, cell);
        const double flow = (clock[0] < until ? stimulus[e] : 0) - (through.na + through.k + through.ca + through.ca_ss);
        const double volume = READ_ONCE_LOAD(&volumes[e]);
        const double mass = volume * (rate + through.slope) * 0.0625;
        const double load = volume * ((mean - mean_before[e]) * rate - flow) * 0.25;
        contribute(e, count, p0, p1, p2, p3, mass, load, stiffness, places, contributions);
    }
}

/* The states with which the next step of dt goes, from those of the last and the potential that it came to. */
KERNEL advance(const long count, const double dt, GLOBAL const int *RESTRICT cells, GLOBAL const double *RESTRICT phi,
               GLOBAL double *RESTRICT states, GLOBAL double *RESTRICT mean_before)
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
        mean_before[e] = mean;
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
