// The sums of 32 rows, or rows of SIZE x SIZE blocks, in slices of SLICE of them, by the gathers of AVX-512. Their masks
// leave out padding, so that no step looks for it first. AMD's gathers take longer than loads one by one: SSE4A is AMD's.
// BITS, FAR and `index` are as in block_columns.h.
#if defined(__AVX512VL__) && defined(__AVX512BW__) && !defined(__SSE4A__)
#define GATHERS 1
#include <immintrin.h>
#define BEYOND (64 << 20) // bytes of a matrix that is taken to lie beyond caches

#if BYTES_OF(real) == 8
typedef __m512d gathered;
#define GATHER(from, at, is_entry) _mm512_mask_i32gather_pd(_mm512_setzero_pd(), is_entry, at, from, 8)
#else
typedef __m256 gathered;
#define GATHER(from, at, is_entry) _mm256_mmask_i32gather_ps(_mm256_setzero_ps(), is_entry, at, from, 4)
#endif

// Columns of eight rows in 32 bits, and which of them are no padding.
DEVICE_FUNCTION __m256i columns_of(const int *columns, __mmask8 *is_entry)
{
    const __m256i found = _mm256_loadu_si256((const __m256i *)columns);
    *is_entry = _mm256_cmpge_epi32_mask(found, _mm256_setzero_si256());
    return _mm256_mullo_epi32(found, _mm256_set1_epi32(SIZE));
}

#if BITS == 16
DEVICE_FUNCTION __m256i short_columns_of(const ushort *columns, __mmask8 *is_entry)
{
    const __m128i found = _mm_loadu_si128((const __m128i *)columns);
    *is_entry = _mm_cmpneq_epi16_mask(found, _mm_set1_epi16(-1));
    return _mm256_mullo_epi32(_mm256_cvtepu16_epi32(found), _mm256_set1_epi32(SIZE));
}
#if FAR
#define FIND_COLUMNS(place, is_entry)                                                                                \
    (distant ? columns_of(distant + (place) - begin, is_entry) : short_columns_of(columns + (place), is_entry))
#else
#define FIND_COLUMNS(place, is_entry) short_columns_of(columns + (place), is_entry)
#endif
#else
#define FIND_COLUMNS(place, is_entry) columns_of(columns + (place), is_entry)
#endif

// Rows and columns of a block by their number and not by a loop's, so that all sums stay in registers.
#define FIND_PART(part)                                                                                              \
    __mmask8 is_entry##part;                                                                                         \
    const __m256i at##part = FIND_COLUMNS(first + lane + SOME * part, &is_entry##part);
#define ADD_BLOCK(r, c, part)                                                                                        \
    parts[r][part] += LOAD_SOME(block_values + (r * SIZE + c) * SLICE + SOME * part) * factors;
#if SIZE == 1
#define ADD_ROWS(c, part) ADD_BLOCK(0, c, part)
#define ADD_COLUMNS(part) ADD_COLUMN(0, part)
#elif SIZE == 2
#define ADD_ROWS(c, part) ADD_BLOCK(0, c, part) ADD_BLOCK(1, c, part)
#define ADD_COLUMNS(part) ADD_COLUMN(0, part) ADD_COLUMN(1, part)
#else
#define ADD_ROWS(c, part) ADD_BLOCK(0, c, part) ADD_BLOCK(1, c, part) ADD_BLOCK(2, c, part)
#define ADD_COLUMNS(part) ADD_COLUMN(0, part) ADD_COLUMN(1, part) ADD_COLUMN(2, part)
#endif
#define ADD_COLUMN(c, part)                                                                                          \
    {                                                                                                                \
        const some factors = (some)GATHER(x + c, at##part, is_entry##part);                                          \
        ADD_ROWS(c, part)                                                                                            \
    }

// sums = the products of the entries from `begin` to `end` of 32 rows from `lane` of their slice on. Entries are asked for
// ahead where the matrix `is_beyond` caches: of a matrix in caches a product takes longer by that.
DEVICE_FUNCTION void add_gathered(const index *RESTRICT columns, const int *RESTRICT distant, const real *RESTRICT values,
                                  const real *RESTRICT x, const long begin, const long end, const int lane,
                                  const int is_beyond, real (*sums)[TOGETHER])
{
    some parts[SIZE][TOGETHER / SOME] = {0};
    for (long first = begin; first < end; first += SLICE) {
        const real *const block_values = values + first * (SIZE * SIZE) + lane;
        if (is_beyond) {
            for (int k = 0; k < TOGETHER; k += 64 / (int)sizeof(index))
                __builtin_prefetch(columns + first + lane + AHEAD + k);
            for (int block = 0; block < SIZE * SIZE; ++block)
                for (int k = 0; k < TOGETHER; k += 64 / (int)sizeof(real))
                    __builtin_prefetch(block_values + AHEAD + block * SLICE + k);
        }
        EACH_PART(FIND_PART)
        EACH_PART(ADD_COLUMNS)
    }
    for (int r = 0; r < SIZE; ++r)
        for (int part = 0; part < TOGETHER / SOME; ++part)
            *(some_anywhere *)(sums[r] + SOME * part) = parts[r][part];
}
#endif
