/* The power method's vectors on a processor, see power_method.c: a block has a run of rows, and eight sums of them. */

#define LANES 8
#define FIRST_ROW(block) ((long)n * (block) / grid)

/* For each row `i` of the block, what `value` is then; the squares' sum is the block's part. */
#define FOR_ROWS(...)                                                                                                \
    double sums[LANES] = {0};                                                                                        \
    long i = FIRST_ROW(block);                                                                                       \
    const long past = FIRST_ROW(block + 1);                                                                          \
    for (; i + LANES <= past; i += LANES)                                                                            \
        for (int lane = 0; lane < LANES; ++lane) {                                                                   \
            const long row = i + lane;                                                                               \
            __VA_ARGS__                                                                                              \
            sums[lane] += value * value;                                                                             \
        }                                                                                                            \
    for (long row = i; row < past; ++row) {                                                                          \
        __VA_ARGS__                                                                                                  \
        sums[0] += value * value;                                                                                    \
    }                                                                                                                \
    double sum = 0;                                                                                                  \
    for (int lane = 0; lane < LANES; ++lane) sum += sums[lane];                                                      \
    parts[block] = sum;

KERNEL start(const int n, const int grid, GLOBAL real *RESTRICT vector, GLOBAL real *RESTRICT rest,
             GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    FOR_ROWS({
        uint x = (uint)row;
        x = (x ^ (x >> 16)) * 0x7feb352du;
        x = (x ^ (x >> 15)) * 0x846ca68bu;
        vector[row] = (real)(x >> 8) / 8388608 - 1;
        rest[row] = 0;
    } const double value = vector[row];)
}

KERNEL subtract(const int n, const int grid, GLOBAL const result_real *RESTRICT moved, GLOBAL real *RESTRICT vector,
                GLOBAL real *RESTRICT rest, GLOBAL double *RESTRICT parts)
{
    OUTER(block);
    FOR_ROWS(const double value = ((double)vector[row] - moved[row]) / 2; vector[row] = (real)value; rest[row] = 0;)
}

KERNEL growth(const int count, GLOBAL const double *RESTRICT parts, GLOBAL const double *RESTRICT before,
              GLOBAL double *RESTRICT found, const int place)
{
    OUTER(block);
    double sum = 0, earlier = 0;
    for (long i = block; i < count; ++i) {
        sum += parts[i];
        earlier += before[i];
    }
    found[place] = 2 * sqrt(sum / earlier);
}
