/* Building blocks of the set-up: exclusive sums, lists of the members of groups. A chunk of a sum is ITEMS values a thread. */

#define CHUNK (BLOCK * ITEMS)
#define ROWS (BLOCK / LANES)

DEVICE_FUNCTION long items_sum(const int n, const long start, GLOBAL const int *counts)
{
    long sum = 0;
    for (int k = 0; k < ITEMS; ++k) {
        if (start + k < n) sum += counts[start + k];
    }
    return sum;
}

KERNEL chunk_sums(const int n, GLOBAL const int *RESTRICT counts, GLOBAL long *RESTRICT sums)
{
    OUTER(chunk);
    SHARED long part[BLOCK];
    INNER(t) { part[t] = items_sum(n, chunk * CHUNK + (long)t * ITEMS, counts); }
    for (int span = BLOCK / 2; span > 0; span /= 2) {
        BARRIER;
        INNER(t) {
            if (t < span) part[t] += part[t + span];
        }
    }
    BARRIER;
    INNER(t) {
        if (t == 0) sums[chunk] = part[0];
    }
}

/* Sets totals[place] to the total, or to -1 where 32 bits do not hold it. */
#define TELL(total)                                                                                                  \
    if (totals) totals[place] = (total) > 0x7fffffff ? -1 : (int)(total)

/* One block: exclusive sums of the chunks' sums, in place. */
KERNEL scan_sums(const int chunks, GLOBAL long *RESTRICT sums, GLOBAL int *RESTRICT totals, const int place)
{
    OUTER(block);
    SHARED long part[BLOCK + 1];
    const int share = (chunks + BLOCK - 1) / BLOCK;
    INNER(t) {
        long sum = 0;
        for (int k = 0; k < share; ++k) {
            if (t * share + k < chunks) sum += sums[t * share + k];
        }
        part[t + 1] = sum;
    }
    BARRIER;
    INNER(t) {
        if (t > 0) continue;
        part[0] = block;
        for (int k = 0; k < BLOCK; ++k) part[k + 1] += part[k];
        TELL(part[BLOCK]);
    }
    BARRIER;
    INNER(t) {
        long sum = part[t];
        for (int k = 0; k < share; ++k) {
            const int i = t * share + k;
            if (i >= chunks) break;
            const long own = sums[i];
            sums[i] = sum;
            sum += own;
        }
    }
}

/* With `alone` there is one chunk, and its sum is found here. */
KERNEL scan_chunks(const int n, const int alone, GLOBAL const int *RESTRICT counts, GLOBAL const long *RESTRICT sums,
                   GLOBAL int *RESTRICT offsets, GLOBAL int *RESTRICT cursors, GLOBAL int *RESTRICT totals,
                   const int place)
{
    OUTER(chunk);
    SHARED long part[2][BLOCK];
    INNER(t) { part[0][t] = items_sum(n, chunk * CHUNK + (long)t * ITEMS, counts); }
    int side = 0;
    for (int reach = 1; reach < BLOCK; reach *= 2) {
        BARRIER;
        INNER(t) { part[1 - side][t] = part[side][t] + (t >= reach ? part[side][t - reach] : 0); }
        side = 1 - side;
    }
    BARRIER;
    INNER(t) {
        if (alone && t == 0) TELL(part[side][BLOCK - 1]);
        long sum = (alone ? 0 : sums[chunk]) + (t > 0 ? part[side][t - 1] : 0);
        for (int k = 0; k < ITEMS; ++k) {
            const long i = chunk * CHUNK + (long)t * ITEMS + k;
            if (i > n) break;
            offsets[i] = (int)sum;
            if (i == n) break;
            if (cursors) cursors[i] = (int)sum;
            sum += counts[i];
        }
    }
}

KERNEL count_labels(const int n, GLOBAL const int *RESTRICT labels, GLOBAL const int *RESTRICT weights,
                    GLOBAL int *RESTRICT counts)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n || labels[i] < 0) continue;
        ATOMIC_ADD_GLOBAL(&counts[labels[i]], weights ? weights[i] : 1);
    }
}

KERNEL fill_members(const int n, GLOBAL const int *RESTRICT labels, GLOBAL int *RESTRICT cursors,
                    GLOBAL int *RESTRICT members)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= n || labels[i] < 0) continue;
        members[FETCH_ADD_GLOBAL(&cursors[labels[i]], 1)] = (int)i;
    }
}

/* Entries of a matrix into the rows of its transpose, in no set order; `rearrange` sorts them. */
KERNEL fill_transpose(const int rows, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
                      GLOBAL const double *RESTRICT values, GLOBAL int *RESTRICT cursors,
                      GLOBAL int *RESTRICT new_columns, GLOBAL double *RESTRICT new_values)
{
    OUTER(block);
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        if (row >= rows) continue;
        for (int e = offsets[row] + t % LANES; e < offsets[row + 1]; e += LANES) {
            const int place = FETCH_ADD_GLOBAL(&cursors[columns[e]], 1);
            new_columns[place] = (int)row;
            new_values[place] = values[e];
        }
    }
}

KERNEL row_lengths(const int rows, GLOBAL const int *RESTRICT order, GLOBAL const int *RESTRICT offsets,
                   GLOBAL int *RESTRICT lengths)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i >= rows) continue;
        const int row = order ? order[i] : (int)i;
        lengths[i] = offsets[row + 1] - offsets[row];
    }
}

KERNEL invert(const int n, GLOBAL const int *RESTRICT order, GLOBAL int *RESTRICT rank)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) rank[order[i]] = (int)i;
    }
}

KERNEL gather(const int n, GLOBAL const int *RESTRICT places, GLOBAL const int *RESTRICT values,
              GLOBAL int *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n) result[i] = values[places[i]];
    }
}

/* most[0] = the largest of the values, where that is more: few threads get as far as the addition. */
KERNEL largest(const int n, GLOBAL const int *RESTRICT values, GLOBAL int *RESTRICT most)
{
    OUTER(block);
    INNER(t) {
        const long i = block * BLOCK + t;
        if (i < n && values[i] > LOAD_GLOBAL(&most[0])) ATOMIC_MAX_GLOBAL(&most[0], values[i]);
    }
}

/* The entries of a matrix into a dense one of zeros. */
KERNEL spread(const int rows, GLOBAL const int *RESTRICT offsets, GLOBAL const int *RESTRICT columns,
              GLOBAL const double *RESTRICT values, GLOBAL double *RESTRICT dense)
{
    OUTER(block);
    INNER(t) {
        const long row = block * ROWS + t / LANES;
        if (row >= rows) continue;
        for (int e = offsets[row] + t % LANES; e < offsets[row + 1]; e += LANES) dense[row * rows + columns[e]] = values[e];
    }
}
