/* Memory traffic and arithmetic at the hardware's rate, for ceilings.
 *
 * Memory moves in packs of WIDTH numbers, the widest access of the device. A block has ROUNDS * LOADS * BLOCK packs,
 * which divide the array; a thread has LOADS of them in flight, side by side with its neighbours'. */

#if WIDTH == 1
typedef real pack;
#elif defined(__CUDACC__)
struct alignas(sizeof(real) * WIDTH) pack {
    real lane[WIDTH];
};
DEVICE_FUNCTION pack operator+(pack a, const pack b)
{
    UNROLL for (int l = 0; l < WIDTH; ++l) a.lane[l] += b.lane[l];
    return a;
}
DEVICE_FUNCTION pack operator+(pack a, const real b)
{
    UNROLL for (int l = 0; l < WIDTH; ++l) a.lane[l] += b;
    return a;
}
DEVICE_FUNCTION pack operator*(pack a, const real b)
{
    UNROLL for (int l = 0; l < WIDTH; ++l) a.lane[l] *= b;
    return a;
}
#elif defined(__OPENCL_VERSION__)
#define JOIN(type, width) type##width
#define VECTOR(type, width) JOIN(type, width)
typedef VECTOR(real, WIDTH) pack __attribute__((aligned(sizeof(real))));
#else
typedef real pack __attribute__((vector_size(sizeof(real) * WIDTH), aligned(sizeof(real))));
#endif

#ifdef __OPENCL_VERSION__
#define ZERO ((pack)(0))
#else
#define ZERO {0}
#endif
#define FOR_LOADS UNROLL for (int load = 0; load < LOADS; ++load)
#define PLACE (((block * ROUNDS + round) * LOADS + load) * BLOCK + t)

KERNEL copy(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT y)
{
    OUTER(block);
    INNER(t) {
        GLOBAL const pack *source = (GLOBAL const pack *)x;
        GLOBAL pack *target = (GLOBAL pack *)y;
        for (int round = 0; round < ROUNDS; ++round) {
            pack held[LOADS];
            FOR_LOADS held[load] = source[PLACE];
            FOR_LOADS target[PLACE] = held[load];
        }
    }
}

/* z = x + alpha y */
KERNEL triad(const real alpha, GLOBAL const real *RESTRICT x, GLOBAL const real *RESTRICT y, GLOBAL real *RESTRICT z)
{
    OUTER(block);
    INNER(t) {
        GLOBAL const pack *first = (GLOBAL const pack *)x, *second = (GLOBAL const pack *)y;
        GLOBAL pack *target = (GLOBAL pack *)z;
        for (int round = 0; round < ROUNDS; ++round) {
            pack added[LOADS], scaled[LOADS];
            FOR_LOADS added[load] = first[PLACE];
            FOR_LOADS scaled[load] = second[PLACE];
            FOR_LOADS target[PLACE] = added[load] + scaled[load] * alpha;
        }
    }
}

/* Sums each block's numbers, lane by lane, into WIDTH entries of total. BLOCK is a power of two. */
KERNEL read(GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT total)
{
    OUTER(block);
    SHARED pack partial[BLOCK];
    INNER(t) {
        GLOBAL const pack *source = (GLOBAL const pack *)x;
        const pack zero = ZERO;
        pack sum[LOADS];
        FOR_LOADS sum[load] = zero;
        for (int round = 0; round < ROUNDS; ++round)
            FOR_LOADS sum[load] = sum[load] + source[PLACE];
        for (int load = 1; load < LOADS; ++load)
            sum[0] = sum[0] + sum[load];
        partial[t] = sum[0];
    }
    BARRIER;
    for (int width = BLOCK / 2; width > 0; width /= 2) {
        INNER(t) {
            if (t < width) partial[t] = partial[t] + partial[t + width];
        }
        BARRIER;
    }
    INNER(t) {
        if (t == 0) ((GLOBAL pack *)total)[block] = partial[0];
    }
}

/* ROUNDS * steps dependent multiply-adds in each of LOADS chains of packs: two flops each a lane. A chain starts at its
 * number plus the thread's, so that result, the sum of a thread's chains, tells whether each was followed. */
KERNEL multiply_add(const int steps, const real factor, const real addend, GLOBAL real *RESTRICT result)
{
    OUTER(block);
    INNER(t) {
        const pack zero = ZERO;
        const pack added = zero + addend;
        pack chain[LOADS];
        FOR_LOADS chain[load] = zero + (real)(load + t);
        for (int step = 0; step < steps; ++step) {
            UNROLL
            for (int round = 0; round < ROUNDS; ++round)
                FOR_LOADS chain[load] = chain[load] * factor + added;
        }
        pack sum = zero;
        FOR_LOADS sum = sum + chain[load];
        ((GLOBAL pack *)result)[block * BLOCK + t] = sum;
    }
}
