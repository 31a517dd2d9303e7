/* Allocation of nodes to aggregates, and the removal of small ones (fu2014, section 5.2.1, steps 2 to 5). -1 is unallocated. */

#define CANDIDATES 64 /* a node considers the aggregates of its first so many neighbours: rows of a mesh are shorter */

/* Nodes without neighbours are no roots: they are put together by their order. found[1] counts them. */
KERNEL find_isolated(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                     GLOBAL int *RESTRICT roots, GLOBAL int *RESTRICT isolated, GLOBAL int *RESTRICT found)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        int alone = roots[i];
        for (int e = offsets[i]; alone && e < offsets[i + 1]; ++e) alone = columns[e] == i;
        isolated[i] = alone;
        if (alone) {
            roots[i] = 0;
            ATOMIC_ADD_GLOBAL(&found[1], 1);
        }
    }
}

KERNEL number_isolated(const int n, GLOBAL const int *RESTRICT isolated, GLOBAL const int *RESTRICT numbers,
                       const int first, const int together, GLOBAL int *RESTRICT labels)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n && isolated[i]) labels[i] = first + numbers[i] / together;
    }
}

KERNEL number_roots(const int n, GLOBAL const int *RESTRICT flags, GLOBAL const int *RESTRICT numbers,
                    GLOBAL int *RESTRICT labels)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) labels[i] = flags[i] ? numbers[i] : -1;
    }
}

/* An unallocated node joins the neighbouring aggregate of highest adjacency, the first of equal ones. left[1] counts the rest. */
KERNEL allocate(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                GLOBAL const int *RESTRICT adjacency, GLOBAL const int *RESTRICT labels, GLOBAL int *RESTRICT result,
                GLOBAL int *RESTRICT left)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        int best = labels[i];
        if (best < 0) {
            const int begin = offsets[i], end = offsets[i + 1];
            const int last = end - begin < CANDIDATES ? end : begin + CANDIDATES;
            int highest = 0, previous = -1;
            for (int e = begin; e < end; ++e) {
                if (e >= last && best >= 0) break;
                const int label = labels[columns[e]];
                if (label < 0 || label == previous || label == best) continue;
                int sum = 0;
                for (int f = begin; f < end; ++f) {
                    if (labels[columns[f]] == label) sum += adjacency ? adjacency[f] : 1;
                }
                if (sum > highest || (sum == highest && label < best)) {
                    highest = sum;
                    best = label;
                }
                previous = label;
            }
            if (best < 0 && left) ATOMIC_ADD_GLOBAL(&left[1], 1);
        }
        result[i] = best;
    }
}

/* A small aggregate goes when one beside it is greater by (size, index); so one of every component stays. */
KERNEL mark_small(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                  GLOBAL const int *RESTRICT labels, GLOBAL const int *RESTRICT sizes, const int least,
                  GLOBAL int *RESTRICT stays)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        const int own = labels[i], size = sizes[own];
        if (size >= least) continue;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            const int other = labels[columns[e]];
            if (other == own) continue;
            if (sizes[other] > size || (sizes[other] == size && other > own)) {
                STORE_GLOBAL(&stays[own], 0);
                break;
            }
        }
    }
}

KERNEL renumber(const int n, GLOBAL const int *RESTRICT labels, GLOBAL const int *RESTRICT stays,
                GLOBAL const int *RESTRICT numbers, GLOBAL int *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) result[i] = stays[labels[i]] ? numbers[labels[i]] : -1;
    }
}

/* Groups above the limit are cut: members, in order, into as few pieces of about equal weight as hold the limit. */
KERNEL count_pieces(const int groups, GLOBAL const int *RESTRICT group_offsets, GLOBAL const int *RESTRICT members,
                    GLOBAL const int *RESTRICT weights, GLOBAL const int *RESTRICT sizes, const int limit,
                    GLOBAL int *RESTRICT piece, GLOBAL int *RESTRICT pieces)
{
    OUTER(block);
    INNER(t) {
        const long group = block * BLOCK + t;
        if (group >= groups) continue;
        const int share = sizes[group] / ((sizes[group] + limit - 1) / limit);
        int here = 0, number = 0;
        if (sizes[group] > limit) {
            for (int k = group_offsets[group]; k < group_offsets[group + 1]; ++k) {
                const int weight = weights ? weights[members[k]] : 1;
                if (here > 0 && (here > share || here + weight > limit)) {
                    here = 0;
                    ++number;
                }
                piece[members[k]] = number;
                here += weight;
            }
        }
        pieces[group] = number + 1;
    }
}

KERNEL number_pieces(const int n, GLOBAL const int *RESTRICT first, GLOBAL const int *RESTRICT piece,
                     GLOBAL int *RESTRICT labels)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) labels[i] = first[labels[i]] + piece[i];
    }
}
