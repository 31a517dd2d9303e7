/* Rows of a sparse product X Y, of induced graphs and of transposes on a processor, each in one pass. A part is a run of rows. It has a
 * marker for each column: where the entry of that column is in the row in hand, when that is not before the row's first. Entries are written
 * in the order in which they come up, each part's apart from the others'; `sort` brings them to where they belong. The order of sums
 * is X's, however many parts there are: the same bits every time. `real` is what entries have. */

#define VECTOR 16 /* columns that are compared at once; behind the last row they are whatever is there */
#define LONG 1024 /* rows of more entries are sorted by a heap: counting smaller ones takes the square of the length */
#define AHEAD 16 /* entries that rows are asked for before they are read, in steps: where they begin, then what they hold */
#define ROWS_AHEAD 4 /* the same, of rows with few entries */
#define LINE 8 /* values of a cache line */
#define FIRST_ROW(part) (int)((long)rows * (part) / parts)

#define BEGIN_PART                                                                                                   \
    GLOBAL int *RESTRICT const marker = markers + part * width;                                                      \
    GLOBAL int *RESTRICT const found = columns + starts[part];                                                       \
    GLOBAL real *RESTRICT const sums = values + starts[part];                                                       \
    for (int column = 0; column < width; ++column) marker[column] = -1;                                              \
    int count = 0

#define ADD(column, term)                                                                                            \
    const int known = marker[column];                                                                                \
    if (known < first) {                                                                                             \
        marker[column] = count;                                                                                      \
        found[count] = column;                                                                                       \
        sums[count++] = term;                                                                                        \
    } else                                                                                                           \
        sums[known] += term

/* The most entries of each part: a row has no more than terms, nor than there are columns. */
KERNEL terms(const int rows, const int parts, const int width, GLOBAL const int *RESTRICT x_offsets,
             GLOBAL const int *RESTRICT x_columns, GLOBAL const int *RESTRICT y_offsets,
             GLOBAL const int *RESTRICT y_lengths, GLOBAL long *RESTRICT counts)
{
    OUTER(part);
    long count = 0;
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        long here = 0;
        for (int e = x_offsets[row]; e < x_offsets[row + 1]; ++e) {
            const int inner = x_columns[e];
            here += y_lengths ? y_lengths[inner] : y_offsets ? y_offsets[inner + 1] - y_offsets[inner] : 1;
        }
        count += here < width ? here : width;
    }
    counts[part] = count;
}

/* Y has offsets, or beginnings and lengths of rows that lie as they were found. Without either it has one entry a row, a one in column
 * y_columns[row]: the tentative prolongator. With `own`, what is kept is
 * own - weight diagonal⁻¹ X Y: the smoothed prolongator; a row that has the diagonal alone is not smoothed. */
KERNEL multiply(const int rows, const int parts, const int width, GLOBAL const int *RESTRICT x_offsets,
                GLOBAL const int *RESTRICT x_columns, GLOBAL const real *RESTRICT x_values,
                GLOBAL const int *RESTRICT y_offsets, GLOBAL const long *RESTRICT y_begins,
                GLOBAL const int *RESTRICT y_lengths, GLOBAL const int *RESTRICT y_columns,
                GLOBAL const real *RESTRICT y_values, GLOBAL const int *RESTRICT own, const double weight,
                GLOBAL const double *RESTRICT diagonal, GLOBAL const long *RESTRICT starts, GLOBAL int *RESTRICT markers,
                GLOBAL long *RESTRICT begins, GLOBAL int *RESTRICT lengths, GLOBAL int *RESTRICT columns, GLOBAL real *RESTRICT values)
{
    OUTER(part);
    BEGIN_PART;
    const int past = x_offsets[FIRST_ROW(part + 1)];
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int first = count;
        for (int e = x_offsets[row]; e < x_offsets[row + 1]; ++e) {
            const int inner = x_columns[e];
            const real x = x_values[e];
            if (y_values) {
                if (e + 2 * AHEAD < past) { /* rows of Y are anywhere */
                    const int next = x_columns[e + AHEAD], later = x_columns[e + 2 * AHEAD];
                    if (y_begins) {
                        PREFETCH(y_begins + later);
                        PREFETCH(y_lengths + later);
                    } else
                        PREFETCH(y_offsets + later);
                    const long at = y_begins ? y_begins[next] : y_offsets[next];
                    PREFETCH(y_columns + at);
                    PREFETCH(y_values + at);
                    PREFETCH(y_values + at + LINE - 1);
                }
                const long begin = y_begins ? y_begins[inner] : y_offsets[inner];
                GLOBAL const int *const inner_columns = y_columns + begin;
                GLOBAL const real *const inner_values = y_values + begin;
                const int length = y_begins ? y_lengths[inner] : y_offsets[inner + 1] - (int)begin;
                for (int f = 0; f < length; ++f) {
                    ADD(inner_columns[f], x * inner_values[f]);
                }
            } else {
                ADD(y_columns[inner], x);
            }
        }
        begins[row] = starts[part] + first;
        lengths[row] = count - first;
        if (!own) continue;
        const real smoothing = x_offsets[row + 1] - x_offsets[row] > 1 ? weight / diagonal[row] : 0;
        for (int k = first; k < count; ++k) sums[k] = (found[k] == own[row] ? 1 : 0) - smoothing * sums[k];
    }
}

/* The rows of the graph of groups: the edges of a group's members, or their weights, by the other end's group. */
KERNEL induce(const int rows, const int parts, GLOBAL const int *RESTRICT member_offsets,
              GLOBAL const int *RESTRICT members, GLOBAL const int *RESTRICT labels,
              GLOBAL const int *RESTRICT edge_offsets, GLOBAL const int *RESTRICT edges,
              GLOBAL const real *RESTRICT weights, GLOBAL const long *RESTRICT starts, GLOBAL int *RESTRICT markers,
              GLOBAL long *RESTRICT begins, GLOBAL int *RESTRICT lengths, GLOBAL int *RESTRICT columns, GLOBAL real *RESTRICT values)
{
    OUTER(part);
    const int width = rows;
    BEGIN_PART;
    const int past = member_offsets[FIRST_ROW(part + 1)];
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int first = count;
        for (int m = member_offsets[row]; m < member_offsets[row + 1]; ++m) {
            if (m + AHEAD < past) {
                const int next = members[m + AHEAD / 4], later = members[m + AHEAD / 2];
                PREFETCH(edge_offsets + members[m + AHEAD]);
                PREFETCH(edges + edge_offsets[later]);
                for (int e = edge_offsets[next]; e < edge_offsets[next + 1] && e < edge_offsets[next] + LINE; ++e)
                    PREFETCH(labels + edges[e]);
            }
            for (int e = edge_offsets[members[m]]; e < edge_offsets[members[m] + 1]; ++e) {
                const int other = labels[edges[e]];
                if (other == row) continue;
                ADD(other, weights ? weights[e] : 1);
            }
        }
        begins[row] = starts[part] + first;
        lengths[row] = count - first;
    }
}

/* Puts a row's entries in order where they are. */
DEVICE_FUNCTION void heap_sort(const int length, GLOBAL int *columns, GLOBAL real *values)
{
    for (int left = length, root = length / 2; left > 1;) {
        int from = root > 0 ? --root : --left;
        const int column = columns[from];
        const real value = values[from];
        if (root == 0 && from == left) { /* the largest goes behind the entries that are left */
            columns[left] = columns[0];
            values[left] = values[0];
            from = 0;
        }
        for (int child = 2 * from + 1; child < left; child = 2 * from + 1) {
            child += child + 1 < left && columns[child] < columns[child + 1];
            if (columns[child] <= column) break;
            columns[from] = columns[child];
            values[from] = values[child];
            from = child;
        }
        columns[from] = column;
        values[from] = value;
    }
}

/* Entries of each row to their places, by ascending columns. */
KERNEL sort(const int rows, const int parts, GLOBAL const long *RESTRICT begins, GLOBAL const int *RESTRICT offsets,
            GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values, GLOBAL int *RESTRICT new_columns,
            GLOBAL real *RESTRICT new_values)
{
    OUTER(part);
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int begin = offsets[row], length = offsets[row + 1] - begin;
        GLOBAL const int *const found = columns + begins[row];
        GLOBAL const real *const sums = values + begins[row];
        if (length > LONG) {
            for (int k = 0; k < length; ++k) {
                new_columns[begin + k] = found[k];
                new_values[begin + k] = sums[k];
            }
            heap_sort(length, new_columns + begin, new_values + begin);
            continue;
        }
        for (int k = 0; k < length; k += VECTOR) {
            int place[VECTOR];
            for (int lane = 0; lane < VECTOR; ++lane) place[lane] = begin;
            for (int other = 0; other < length; ++other)
                for (int lane = 0; lane < VECTOR; ++lane) place[lane] += found[other] < found[k + lane];
            for (int lane = 0; lane < VECTOR && k + lane < length; ++lane) {
                new_columns[place[lane]] = found[k + lane];
                new_values[place[lane]] = sums[k + lane];
            }
        }
    }
}

/* Where a row lies, in a matrix with offsets or as it was found. */
#define BEGIN_OF(row) (begins ? begins[row] : offsets[row])
#define LENGTH_OF(row) (begins ? lengths[row] : offsets[(row) + 1] - offsets[row])

/* Counts how often each column is in each part. */
KERNEL tally(const int rows, const int parts, const int width, GLOBAL const int *RESTRICT offsets,
             GLOBAL const long *RESTRICT begins, GLOBAL const int *RESTRICT lengths,
             GLOBAL const int *RESTRICT columns, GLOBAL int *RESTRICT markers)
{
    OUTER(part);
    GLOBAL int *const marker = markers + part * width;
    for (int column = 0; column < width; ++column) marker[column] = 0;
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row)
        for (long e = BEGIN_OF(row), end = e + LENGTH_OF(row); e < end; ++e) ++marker[columns[e]];
}

/* Of each column how often it is there, and in the place of its tallies how often before each part; the parts' columns are as their rows. */
KERNEL place(const int rows, const int parts, GLOBAL int *RESTRICT markers, GLOBAL int *RESTRICT counts)
{
    OUTER(part);
    for (int column = FIRST_ROW(part); column < FIRST_ROW(part + 1); ++column) {
        int count = 0;
        for (long other = 0; other < parts; ++other) {
            const int here = markers[other * rows + column];
            markers[other * rows + column] = count;
            count += here;
        }
        counts[column] = count;
    }
}

/* The rows of the transpose, each in order. */
KERNEL transpose(const int rows, const int parts, const int width, GLOBAL const int *RESTRICT offsets,
                 GLOBAL const long *RESTRICT begins, GLOBAL const int *RESTRICT lengths,
                 GLOBAL const int *RESTRICT columns, GLOBAL const real *RESTRICT values,
                 GLOBAL const int *RESTRICT new_offsets, GLOBAL int *RESTRICT markers, GLOBAL int *RESTRICT new_columns,
                 GLOBAL real *RESTRICT new_values)
{
    OUTER(part);
    GLOBAL int *const marker = markers + part * width;
    for (int row = FIRST_ROW(part); row < FIRST_ROW(part + 1); ++row) {
        const int next = row + ROWS_AHEAD;
        if (next < FIRST_ROW(part + 1))
            for (long e = BEGIN_OF(next), end = e + LENGTH_OF(next); e < end; ++e) {
                const int at = new_offsets[columns[e]] + marker[columns[e]];
                PREFETCH(new_columns + at);
                PREFETCH(new_values + at);
            }
        for (long e = BEGIN_OF(row), end = e + LENGTH_OF(row); e < end; ++e) {
            const int to = new_offsets[columns[e]] + marker[columns[e]]++;
            new_columns[to] = row;
            new_values[to] = values[e];
        }
    }
}
