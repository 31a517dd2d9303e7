/* The induced graph, see induced.c: a group after the other. */

#include "row.h"

KERNEL induced(const int groups, const int fill, GLOBAL const int *RESTRICT member_offsets,
               GLOBAL const int *RESTRICT members, GLOBAL const int *RESTRICT labels,
               GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
               GLOBAL const int *RESTRICT adjacency, GLOBAL int *RESTRICT counts,
               GLOBAL const int *RESTRICT new_offsets, GLOBAL int *RESTRICT new_columns,
               GLOBAL int *RESTRICT new_adjacency, GLOBAL int *RESTRICT overflow)
{
    OUTER(group);
    row_t found;
    int sums[TABLE];
    begin_rows(&found);
    for (int m = member_offsets[group]; m < member_offsets[group + 1]; ++m) {
        const int node = members[m];
        for (int e = offsets[node]; e < offsets[node + 1]; ++e) {
            const int other = labels[columns[e]];
            if (other == group) continue;
            const int known = found.count, place = place_of(&found, other), term = adjacency ? adjacency[e] : 1;
            if (place < 0)
                STORE_GLOBAL(&overflow[0], 1);
            else
                sums[place] = place == known ? term : sums[place] + term;
        }
    }
    if (!fill)
        counts[group] = found.count;
    else {
        pad(found.columns, found.count);
        for (int k = 0; k < found.count; ++k) {
            const int place = new_offsets[group] + smaller(found.columns, found.count, found.columns[k]);
            new_columns[place] = found.columns[k];
            new_adjacency[place] = sums[k];
        }
    }
}
