// The sums of 32 rows as in slices.h, of entries whose columns are counted from `x` in 16 bits; a padded one is 65535.
#define ADD_SHORT(part) parts[part] += LOAD_SOME(values + place + SOME * part) * FIND_SOME(x, here + SOME * part);
#define ADD_SHORT_ENTRIES(part)                                                                                      \
    for (int lane = 0; lane < SOME; ++lane)                                                                          \
        if (here[SOME * part + lane] != 65535)                                                                       \
            parts[part][lane] += values[place + SOME * part + lane] * x[here[SOME * part + lane]];

DEVICE_FUNCTION void add_short(const ushort *RESTRICT columns, const real *RESTRICT values, const real *RESTRICT x,
                               long place, const long end, const long stride, real *sums)
{
    some parts[TOGETHER / SOME] = {0};
    for (; place < end; place += stride) {
        const ushort *here = columns + place;
        int is_padded = 0;
        for (int lane = 0; lane < TOGETHER; ++lane) is_padded |= here[lane] == 65535;
        __builtin_prefetch(here + AHEAD);
        for (int k = 0; k < TOGETHER; k += 64 / (int)sizeof(real)) __builtin_prefetch(values + place + AHEAD + k);
        if (!is_padded) {
            OPAQUE(here);
            EACH_PART(ADD_SHORT)
        } else {
            EACH_PART(ADD_SHORT_ENTRIES)
        }
    }
    for (int part = 0; part < TOGETHER / SOME; ++part) *(some_anywhere *)(sums + SOME * part) = parts[part];
}
