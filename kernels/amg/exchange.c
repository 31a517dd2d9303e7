/* Exchange of aggregates between patches (fu2014, section 5.2.1): every patch above the limit gives up the aggregate whose move is most
 * desirable, one a round, so that sizes do not oscillate. */

#define LEAST_SCORE (-(1 << 28))

/* For each aggregate of a patch above the limit: where it had best go, and how desirable that is. A patch with room for it comes before
 * one that is merely lighter; then the adjacency gained counts. */
KERNEL propose(const int n, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
               GLOBAL const int *RESTRICT adjacency, GLOBAL const int *RESTRICT weights,
               GLOBAL const int *RESTRICT patch, GLOBAL const int *RESTRICT sizes, const int limit,
               GLOBAL int *RESTRICT target, GLOBAL int *RESTRICT score, GLOBAL int *RESTRICT best)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n) continue;
        const int own = patch[i], weight = weights[i];
        target[i] = -1;
        if (sizes[own] <= limit || sizes[own] == weight) continue;
        int loss = 0, highest = LEAST_SCORE, chosen = -1, previous = own;
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            if (patch[columns[e]] == own) loss += adjacency[e];
        }
        for (int e = offsets[i]; e < offsets[i + 1]; ++e) {
            const int other = patch[columns[e]];
            if (other == own || other == previous || sizes[other] + weight >= sizes[own]) continue;
            previous = other;
            int gain = sizes[other] + weight <= limit ? (1 << 27) - loss : -loss;
            for (int f = offsets[i]; f < offsets[i + 1]; ++f) {
                if (patch[columns[f]] == other) gain += adjacency[f];
            }
            if (gain > highest || (gain == highest && other < chosen)) {
                highest = gain;
                chosen = other;
            }
        }
        if (chosen < 0) continue;
        target[i] = chosen;
        score[i] = highest;
        ATOMIC_MAX_GLOBAL(&best[own], highest);
    }
}

KERNEL elect(const int n, GLOBAL const int *RESTRICT patch, GLOBAL const int *RESTRICT target,
             GLOBAL const int *RESTRICT score, GLOBAL const int *RESTRICT best, GLOBAL int *RESTRICT winner)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n && target[i] >= 0 && score[i] == best[patch[i]]) ATOMIC_MAX_GLOBAL(&winner[patch[i]], (int)i);
    }
}

/* Moves the winners, readies `best` and `winner` for the next round. */
KERNEL move(const int patches, GLOBAL const int *RESTRICT target, GLOBAL const int *RESTRICT weights,
            GLOBAL int *RESTRICT patch, GLOBAL int *RESTRICT sizes, GLOBAL int *RESTRICT best,
            GLOBAL int *RESTRICT winner)
{
    OUTER(block);
    INNER(t) {
        const long own = block * BLOCK + t;
        if (own >= patches) continue;
        const int moving = winner[own];
        best[own] = LEAST_SCORE;
        winner[own] = -1;
        if (moving < 0) continue;
        patch[moving] = target[moving];
        ATOMIC_ADD_GLOBAL(&sizes[own], -weights[moving]);
        ATOMIC_ADD_GLOBAL(&sizes[target[moving]], weights[moving]);
    }
}
