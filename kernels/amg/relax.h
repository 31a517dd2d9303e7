/* What prerelaxation and post-relaxation share: a patch's rows in registers and shared memory, and the product with A_I.
 *
 * A block has a patch and a thread one of its rows: ORDER[t] of it where rows are in slices, else row t. Of its entries
 * a thread keeps WIDTH in registers and reads the others again for each product. */

#define SYMCOO 0
#define HALF 1
#define ELL 2
#define CSR 3
#define SLICE 32

#define FIRST 0
#define ROWS 1
#define FIRST_ENTRY 2
#define ENTRIES 3
#define FIRST_SLICE 4
#define BOUNDARY_ROWS 6
#define HEADER 8
#define SLICE_NUMBERS 4

#define LOW(word) ((word) & 65535u)
#define HIGH(word) ((word) >> 16)

/* In shared memory: u of the patch; its right-hand side, and last its residual; its diagonal, which SYMCOO overwrites with
 * A_I u; and behind it the slots of HALF or the entries of CSR. */
#define SHARED_ARRAYS                                                                                                \
    SHARED_POINTER real *u = pool, *rhs = pool + BLOCK, *pivot = pool + 2 * BLOCK, *more = pool + 3 * BLOCK;         \
    GLOBAL const int *header = headers + HEADER * patch;                                                             \
    const int first = header[FIRST], rows = header[ROWS];                                                            \
    const int first_entry = header[FIRST_ENTRY], entries = header[ENTRIES];

#define PRIVATE_ARRAYS                                                                                               \
    PRIVATE(int, row);                                                                                               \
    PRIVATE(real, load);                                                                                             \
    PRIVATE(real, diagonal);                                                                                         \
    PRIVATE(real, mine);                                                                                             \
    PRIVATE(real, sum);                                                                                              \
    PRIVATE(int, at);                                                                                                \
    PRIVATE(int, width);                                                                                             \
    PRIVATE(int, step);                                                                                              \
    PRIVATE(int, slot);                                                                                              \
    PRIVATE(int, received);                                                                                          \
    PRIVATE_ARRAY(real, value, WIDTH);                                                                               \
    PRIVATE_ARRAY(uint, column, WIDTH);

/* Loads a thread's entries: AT is the first, STEP from one to the next, WIDTH how many. */
#define LOAD_ENTRIES                                                                                                 \
    UNROLL                                                                                                           \
    for (int k = 0; k < WIDTH; ++k) {                                                                                \
        if (k < P(width)) {                                                                                          \
            P(value)[k] = values[P(at) + k * P(step)];                                                               \
            P(column)[k] = columns[P(at) + k * P(step)];                                                             \
        }                                                                                                            \
    }

/* `statement` for each of a thread's entries, with its value v and column c. */
#define FOR_EACH_ENTRY(statement)                                                                                    \
    UNROLL                                                                                                           \
    for (int k = 0; k < WIDTH; ++k) {                                                                                \
        if (k < P(width)) {                                                                                          \
            const real v = P(value)[k];                                                                              \
            const uint c = P(column)[k];                                                                             \
            statement;                                                                                               \
        }                                                                                                            \
    }                                                                                                                \
    for (int k = WIDTH; k < P(width); ++k) {                                                                         \
        const real v = values[P(at) + k * P(step)];                                                                  \
        const uint c = columns[P(at) + k * P(step)];                                                                 \
        statement;                                                                                                   \
    }

#if INSIDE == SYMCOO

#define LOAD_ROW(t)                                                                                                  \
    P(row) = t;                                                                                                      \
    P(at) = first_entry + t;                                                                                         \
    P(step) = BLOCK;                                                                                                 \
    P(width) = t < entries ? (entries - t - 1) / BLOCK + 1 : 0;                                                      \
    LOAD_ENTRIES

/* The diagonal is in registers by now: its place takes A_I u. */
#define CLEAR(t) pivot[t] = 0
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        FOR_EACH_ENTRY({                                                                                             \
            ATOMIC_ADD_SHARED(&pivot[LOW(c)], v * u[HIGH(c)]);                                                       \
            ATOMIC_ADD_SHARED(&pivot[HIGH(c)], v * u[LOW(c)]);                                                       \
        })                                                                                                           \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)                                                                                                  \
    P(sum) = pivot[t];                                                                                               \
    pivot[t] = 0

#elif INSIDE == CSR

#define LOCAL_COLUMNS ((SHARED_POINTER ushort *)(more + MOST_ENTRIES))
#define LOAD_ROW(t)                                                                                                  \
    P(row) = t;                                                                                                      \
    P(at) = t < rows ? order[first + t] : 0;                                                                         \
    P(width) = t >= rows ? 0 : (t + 1 < rows ? order[first + t + 1] : entries) - P(at);                              \
    for (int e = t; e < entries; e += BLOCK) {                                                                       \
        more[e] = values[first_entry + e];                                                                           \
        LOCAL_COLUMNS[e] = columns[first_entry + e];                                                                 \
    }
#define CLEAR(t)
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        for (int e = P(at); e < P(at) + P(width); ++e) sum += more[e] * u[LOCAL_COLUMNS[e]];                         \
        P(sum) = sum;                                                                                                \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)

#else /* in slices */

#define LOAD_SLICED(t)                                                                                               \
    P(row) = t < rows ? order[first + t] : 0;                                                                        \
    {                                                                                                                \
        const int s = t / SLICE;                                                                                     \
        GLOBAL const int *slice = slices + SLICE_NUMBERS * (header[FIRST_SLICE] + s);                                \
        P(step) = rows - SLICE * s < SLICE ? rows - SLICE * s : SLICE;                                               \
        P(width) = t < rows ? slice[1] : 0;                                                                          \
        P(at) = t < rows ? slice[0] + t % SLICE : 0;                                                                 \
        P(slot) = t < rows ? slice[2] + t % SLICE : 0;                                                               \
    }                                                                                                                \
    LOAD_ENTRIES
#define CLEAR(t)

#if INSIDE == ELL

#define LOAD_ROW(t) LOAD_SLICED(t)
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        FOR_EACH_ENTRY(sum += v * u[c])                                                                              \
        P(sum) = sum;                                                                                                \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)

#else

#define LOAD_ROW(t)                                                                                                  \
    P(received) = t < rows ? incoming[first + t] : 0;                                                                \
    LOAD_SLICED(t)
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        FOR_EACH_ENTRY({                                                                                             \
            sum += v * u[LOW(c)];                                                                                    \
            more[HIGH(c)] = v * P(mine);                                                                             \
        })                                                                                                           \
        P(sum) = sum;                                                                                                \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)                                                                                                  \
    for (int k = 0; k < P(received); ++k) P(sum) += more[P(slot) + SLICE * k]

#endif
#endif
