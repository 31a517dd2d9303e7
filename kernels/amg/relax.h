/* Shared by prerelaxation and post-relaxation: a patch's rows in registers and shared memory, and the product with A_I.
 *
 * A block has a patch and a thread one of its rows: order[t] of it where rows are in slices, else row t. A thread keeps
 * WIDTH of its entries in registers; with TAIL it reads further ones again for each product. Registers bound how many
 * patches a multiprocessor works on at a time, so what can is left in shared memory. */

#include "patch_format.h"

#ifndef SOME_ROWS /* relax.cpu.c has it */
#define SOME_ROWS 0
#endif

#define LOW(word) ((word) & 65535u)
#define HIGH(word) ((word) >> 16)

/* Shared memory has of each row, in the order of the threads, u and inner over the diagonal. In the order of memory it
 * has the right-hand side, which becomes the residual, and what comes and goes, or with SYMCOO A_I u. Behind them are
 * the slots of HALF, or the entries of CSR. */
#define SHARED_ARRAYS                                                                                                \
    SHARED_POINTER real *u = pool, *rhs = pool + BLOCK, *weight = pool + 2 * BLOCK, *other = pool + 3 * BLOCK;       \
    SHARED_POINTER real *more = pool + 4 * BLOCK;                                                                    \
    GLOBAL const int *header = headers + HEADER * patch;                                                             \
    const int first = header[FIRST], rows = header[ROWS];

#if INSIDE == SYMCOO
#define BROUGHT u
#else
#define BROUGHT other
#endif

#if INSIDE == ELL
#define COLUMN_WORDS ((WIDTH + 1) / 2)
#else
#define COLUMN_WORDS WIDTH
#endif
#define PRIVATE_ARRAYS                                                                                               \
    PRIVATE(int, row);                                                                                               \
    PRIVATE(real, mine);                                                                                             \
    PRIVATE(real, sum);                                                                                              \
    PRIVATE(int, at);                                                                                                \
    PRIVATE(int, step);                                                                                              \
    PRIVATE(int, width);                                                                                             \
    PRIVATE(int, slot);                                                                                              \
    PRIVATE(int, received);                                                                                          \
    PRIVATE_ARRAY(real, value, WIDTH);                                                                               \
    PRIVATE_ARRAY(uint, column, COLUMN_WORDS);

/* Loads a thread's entries: AT is the first, STEP from one to the next, WIDTH how many. */
#if INSIDE == ELL
#define KEEP_COLUMN(k, c) P(column)[(k) / 2] = (k) % 2 ? P(column)[(k) / 2] | (uint)(c) << 16 : (c)
#define KEPT_COLUMN(k) ((k) % 2 ? HIGH(P(column)[(k) / 2]) : LOW(P(column)[(k) / 2]))
#else
#define KEEP_COLUMN(k, c) P(column)[k] = c
#define KEPT_COLUMN(k) P(column)[k]
#endif
#define LOAD_ENTRIES                                                                                                 \
    UNROLL                                                                                                           \
    for (int k = 0; k < WIDTH; ++k) {                                                                                \
        if (k < P(width)) {                                                                                          \
            P(value)[k] = values[P(at) + k * P(step)];                                                               \
            KEEP_COLUMN(k, columns[P(at) + k * P(step)]);                                                            \
        }                                                                                                            \
    }

/* DO, a macro, for each of a thread's entries, with its value and column. (OpenCL has no macros of any number.) */
#define FOR_EACH_ENTRY(DO)                                                                                           \
    UNROLL                                                                                                           \
    for (int k = 0; k < WIDTH; ++k) {                                                                                \
        if (k < P(width)) {                                                                                          \
            const real v = P(value)[k];                                                                              \
            const uint c = KEPT_COLUMN(k);                                                                           \
            DO(v, c);                                                                                                \
        }                                                                                                            \
    }                                                                                                                \
    if (TAIL) {                                                                                                      \
        for (int k = WIDTH; k < P(width); ++k) {                                                                     \
            const real v = values[P(at) + k * P(step)];                                                              \
            const uint c = columns[P(at) + k * P(step)];                                                             \
            DO(v, c);                                                                                                \
        }                                                                                                            \
    }

#if INSIDE == SYMCOO

#define ADD_BOTH(v, c)                                                                                               \
    ATOMIC_ADD_SHARED(&other[LOW(c)], v * u[HIGH(c)]);                                                               \
    ATOMIC_ADD_SHARED(&other[HIGH(c)], v * u[LOW(c)])
#define LOAD_ROW(t)                                                                                                  \
    P(row) = t;                                                                                                      \
    P(at) = header[FIRST_ENTRY] + t;                                                                                 \
    P(step) = BLOCK;                                                                                                 \
    P(width) = t < header[ENTRIES] ? (header[ENTRIES] - t - 1) / BLOCK + 1 : 0;                                      \
    other[t] = 0;                                                                                                    \
    LOAD_ENTRIES
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        FOR_EACH_ENTRY(ADD_BOTH)                                                                                     \
        (void)t;                                                                                                     \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)                                                                                                  \
    P(sum) = other[t];                                                                                               \
    other[t] = 0

#elif INSIDE == CSR

#define LOCAL_COLUMNS ((SHARED_POINTER ushort *)(more + MOST_ENTRIES))
#define LOAD_ROW(t)                                                                                                  \
    P(row) = t;                                                                                                      \
    P(at) = t < rows ? order[first + t] : 0;                                                                         \
    P(width) = t >= rows ? 0 : (t + 1 < rows ? order[first + t + 1] : header[ENTRIES]) - P(at);                      \
    for (int e = t; e < header[ENTRIES]; e += BLOCK) {                                                               \
        more[e] = values[header[FIRST_ENTRY] + e];                                                                   \
        LOCAL_COLUMNS[e] = columns[header[FIRST_ENTRY] + e];                                                         \
    }
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        for (int e = P(at); e < P(at) + P(width); ++e) sum += more[e] * u[LOCAL_COLUMNS[e]];                         \
        P(sum) = sum;                                                                                                \
        (void)t;                                                                                                     \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)

#else /* in slices */

#define LOAD_SLICED(t)                                                                                               \
    P(row) = t < rows ? order[first + t] : 0;                                                                        \
    {                                                                                                                \
        GLOBAL const int *slice = slices + SLICE_NUMBERS * (patch * (BLOCK / SLICE) + (t) / SLICE);                  \
        const int left = rows - SLICE * ((t) / SLICE);                                                               \
        P(step) = left < SLICE ? left : SLICE;                                                                       \
        P(width) = t < rows ? slice[1] : 0;                                                                          \
        P(at) = t < rows ? slice[0] + (t) % SLICE : 0;                                                               \
        P(slot) = t < rows ? slice[2] + (t) % SLICE : 0;                                                             \
    }                                                                                                                \
    LOAD_ENTRIES

#if SOME_ROWS

#define LOAD_ROW(t) P(row) = t < rows ? order[first + t] : 0;
#define GATHER                                                                                                       \
    for (int s = 0; s < (rows + SLICE - 1) / SLICE; ++s)                                                             \
        sums_of_slice(slices + SLICE_NUMBERS * (patch * (BLOCK / SLICE) + s), rows - SLICE * s, values, columns, u,  \
                      sum_private + SLICE * s);
#define TAKE_SUM(t)

#define ADD_ROWS(part) parts[part] += LOAD_SOME(values + SOME * part) * FIND_SOME(u, columns + SOME * part);

/* The products of a slice's rows, of which `left` are there. See relax.cpu.c. */
DEVICE_FUNCTION void sums_of_slice(const int *slice, const int left, const real *values, const index *columns, const real *u,
                                   real *sums)
{
    const int step = left < SLICE ? left : SLICE, width = slice[1];
    values += slice[0];
    columns += slice[0];
    if (step == SLICE) {
        some parts[SLICE / SOME] = {0};
        for (int k = 0; k < width; ++k, values += SLICE, columns += SLICE) {
            EACH_PART(ADD_ROWS)
        }
        for (int part = 0; part < SLICE / SOME; ++part) STORE_SOME(sums + SOME * part, parts[part]);
    } else
        for (int lane = 0; lane < step; ++lane) {
            real sum = 0;
            for (int k = 0; k < width; ++k) sum += values[k * step + lane] * u[columns[k * step + lane]];
            sums[lane] = sum;
        }
}

#elif INSIDE == ELL

#define ADD_PRODUCT(v, c) sum += v * u[c]
#define LOAD_ROW(t) LOAD_SLICED(t)
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        FOR_EACH_ENTRY(ADD_PRODUCT)                                                                                  \
        P(sum) = sum;                                                                                                \
        (void)t;                                                                                                     \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)

#else

#define ADD_AND_PASS_ON(v, c)                                                                                        \
    sum += v * u[LOW(c)];                                                                                            \
    more[HIGH(c)] = v * P(mine)
#define LOAD_ROW(t)                                                                                                  \
    P(received) = t < rows ? incoming[first + t] : 0;                                                                \
    LOAD_SLICED(t)
#define GATHER                                                                                                       \
    INNER(t) {                                                                                                       \
        real sum = 0;                                                                                                \
        FOR_EACH_ENTRY(ADD_AND_PASS_ON)                                                                              \
        P(sum) = sum;                                                                                                \
        (void)t;                                                                                                     \
    }                                                                                                                \
    BARRIER;
#define TAKE_SUM(t)                                                                                                  \
    UNROLL                                                                                                           \
    for (int k = 0; k < WIDTH; ++k)                                                                                  \
        if (k < P(received)) P(sum) += more[P(slot) + SLICE * k];                                                    \
    for (int k = WIDTH; k < P(received); ++k) P(sum) += more[P(slot) + SLICE * k]

#endif
#endif
