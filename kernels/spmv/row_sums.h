// Sums over rows whose entries lie `stride` apart, for CUDA. Columns are read through the caches and values past them:
// either alone is faster than both or neither. A padded column is -1, in 16 bits 65535, and reads no x, which may be
// NaN there.

DEVICE_FUNCTION int column_of(const int column) { return column; }
DEVICE_FUNCTION int column_of(const ushort column) { return column == 65535 ? -1 : column; }

#define LANES_AT_ONCE (LANES > 2 ? 1 : LANES)

#if LANES == 2 // of neighbouring rows a thread reads both entries at once
DEVICE_FUNCTION void load_pair(const int *from, int *to)
{
    const int2 both = __ldg(reinterpret_cast<const int2 *>(from));
    to[0] = both.x, to[1] = both.y;
}
DEVICE_FUNCTION void load_pair(const double *from, double *to)
{
    const double2 both = __ldcs(reinterpret_cast<const double2 *>(from));
    to[0] = both.x, to[1] = both.y;
}
DEVICE_FUNCTION void load_pair(const float *from, float *to)
{
    const float2 both = __ldcs(reinterpret_cast<const float2 *>(from));
    to[0] = both.x, to[1] = both.y;
}
#define LOAD_COLUMNS(from, to) load_pair(from, to)
#define LOAD_VALUES(from, to) load_pair(from, to)
#else
#define EACH_LANE _Pragma("unroll LANES_AT_ONCE") for (int lane = 0; lane < LANES; ++lane)
#define LOAD_COLUMNS(from, to) EACH_LANE(to)[lane] = column_of(__ldg(&(from)[lane]))
#define LOAD_VALUES(from, to) EACH_LANE(to)[lane] = __ldcs(&(from)[lane])
#endif

// sums[lane] += the products of `left` entries with x.
template <class Index>
DEVICE_FUNCTION void add_rows(int left, const long stride, const Index *columns, const real *values,
                              const real *RESTRICT x, real *sums)
{
#if SHORT // rows of a few entries: many threads at once hide the waiting, so registers are spared
#define DEPTH 5
#if X_TOGETHER
#pragma unroll 1 // two rounds at once take as many registers again
#endif
    for (; left > 0; left -= DEPTH, columns += DEPTH * stride, values += DEPTH * stride) {
        int column[DEPTH][LANES];
        real value[DEPTH][LANES];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            if (d < left) { // all loads before the first use
                LOAD_COLUMNS(columns + d * stride, column[d]);
                LOAD_VALUES(values + d * stride, value[d]);
            }
#if X_TOGETHER // all x before the first use, too: padding reads x[0], and drops it
            else
#pragma unroll LANES_AT_ONCE
                for (int lane = 0; lane < LANES; ++lane) column[d][lane] = -1, value[d][lane] = 0;
        real found[DEPTH][LANES];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
#pragma unroll LANES_AT_ONCE
            for (int lane = 0; lane < LANES; ++lane) found[d][lane] = x[column[d][lane] < 0 ? 0 : column[d][lane]];
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
#pragma unroll LANES_AT_ONCE
            for (int lane = 0; lane < LANES; ++lane)
                sums[lane] += value[d][lane] * (column[d][lane] < 0 ? 0 : found[d][lane]);
#else // a branch around each x, which waits for the one before
#pragma unroll
        for (int d = 0; d < DEPTH; ++d)
            if (d < left)
#pragma unroll LANES_AT_ONCE
                for (int lane = 0; lane < LANES; ++lane)
                    sums[lane] += value[d][lane] * (column[d][lane] < 0 ? 0 : x[column[d][lane]]);
#endif
    }
#else // longer ones: the compiler unrolls the first loop by four
#define ROUND 3
    for (; left >= ROUND; left -= ROUND, columns += ROUND * stride, values += ROUND * stride) {
        int column[ROUND][LANES];
        real value[ROUND][LANES];
#pragma unroll
        for (int d = 0; d < ROUND; ++d) {
            LOAD_COLUMNS(columns + d * stride, column[d]);
            LOAD_VALUES(values + d * stride, value[d]);
        }
#pragma unroll
        for (int d = 0; d < ROUND; ++d)
#pragma unroll LANES_AT_ONCE
            for (int lane = 0; lane < LANES; ++lane)
                sums[lane] += value[d][lane] * (column[d][lane] < 0 ? 0 : x[column[d][lane]]);
    }
#pragma unroll 1
    for (; left > 0; --left, columns += stride, values += stride) {
        int column[LANES];
        real value[LANES];
        LOAD_COLUMNS(columns, column);
        LOAD_VALUES(values, value);
#pragma unroll LANES_AT_ONCE
        for (int lane = 0; lane < LANES; ++lane)
            sums[lane] += value[lane] * (column[lane] < 0 ? 0 : x[column[lane]]);
    }
#endif
}
