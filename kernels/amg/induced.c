/* The induced graph: aggregates are its nodes, an edge's weight is the number (or weight) of the edges between two aggregates.
 *
 * A block gathers the row of one aggregate in a hash table; adds of integers, so their order does not matter. */

#include "table.h"

#define TEAM 16 /* threads that share a node's row */
#define TEAMS (BLOCK / TEAM)

KERNEL induced(const int groups, const int fill, GLOBAL const int *RESTRICT member_offsets,
               GLOBAL const int *RESTRICT members, GLOBAL const int *RESTRICT labels,
               GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
               GLOBAL const int *RESTRICT adjacency, GLOBAL int *RESTRICT counts,
               GLOBAL const int *RESTRICT new_offsets, GLOBAL int *RESTRICT new_columns,
               GLOBAL int *RESTRICT new_adjacency, GLOBAL int *RESTRICT overflow)
{
    OUTER(group);
    SHARED int table[TABLE];
    SHARED int sums[TABLE];
    SHARED int list[TABLE];
    SHARED int found[1];
    const int first = member_offsets[group], last = member_offsets[group + 1];
    INNER_FOR(i, TABLE) {
        table[i] = EMPTY;
        sums[i] = 0;
    }
    INNER(t) {
        if (t == 0) found[0] = 0;
    }
    BARRIER;
    INNER(t) {
        for (int m = first + t / TEAM; m < last; m += TEAMS) {
            const int node = members[m];
            for (int e = offsets[node] + t % TEAM; e < offsets[node + 1]; e += TEAM) {
                const int other = labels[columns[e]];
                if (other == group) continue;
                const int slot = find_slot(table, other);
                if (slot < 0) {
                    STORE_GLOBAL(&overflow[0], 1);
                    continue;
                }
                ATOMIC_ADD_SHARED(&sums[slot], adjacency ? adjacency[e] : 1);
            }
        }
    }
    BARRIER;
    INNER_FOR(i, TABLE) {
        if (table[i] != EMPTY) list[FETCH_ADD_SHARED(&found[0], 1)] = i;
    }
    BARRIER;
    INNER(t) {
        if (t == 0 && !fill) counts[group] = found[0];
    }
    if (fill) {
        INNER_FOR(k, found[0]) {
            const int slot = list[k], column = table[slot];
            int place = new_offsets[group];
            for (int other = 0; other < found[0]; ++other) place += table[list[other]] < column;
            new_columns[place] = column;
            new_adjacency[place] = sums[slot];
        }
    }
}
