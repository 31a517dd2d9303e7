/* The operator of stiffness.c on FP64 tensor cores along all three axes, in 64 bits and with recomputed factors: same arguments, same
 * layout, same test.
 *
 * The sums over an axis of an element are a product of D, filled up to 16 rows, with the Q rows and Q² columns that its nodes are along
 * that axis. Columns go to the warps in eights, as the instruction m16n8k4 takes them, across the edges of slabs: of tensor.cu's tiles a
 * third and more is filled up with zeros where 8 does not divide Q, and so are its threads. A lane loads each value once an axis.
 * Between derivatives and divergence threads own parts of pencils along ζ. Everything goes by way of shared memory: five barriers. */

#include "output.h"
#include "trilinear.h"

#define Q2 (Q * Q)
#define LANES (ELEMENTS * Q2)
#define STEPS ((Q + 3) / 4)
#define TILES ((Q2 + 7) / 8)
#define WARPS (BLOCK / 32)
#define FIELD (Q * SLAB) /* rows lie PITCH apart, and slabs SLAB: 4 or 12 more than a multiple of 16 */
#define TRILINEAR 1
#define AFFINE 2
#define TASKS (Q2 * CHUNKS) /* parts of pencils, HEIGHT nodes each */
#define HEIGHT (Q / CHUNKS)
static_assert(ELEMENTS == 1 && Q <= 16, "an element a block");

/* c += A B: of 16 rows of A a lane has two, lane / 4 and 8 below, at column lane % 4; of B row lane % 4 and column lane / 4. */
__device__ __forceinline__ void multiply_add(double (&c)[4], const double (&a)[2], const double b)
{
#if __CUDA_ARCH__ < 900 /* two of half as many rows */
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a[0]), "d"(b));
    if constexpr (Q > 8)
        asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c[2]), "+d"(c[3]) : "d"(a[1]), "d"(b));
#else
    asm("mma.sync.aligned.m16n8k4.row.col.f64.f64.f64.f64 {%0, %1, %2, %3}, {%4, %5}, {%6}, {%0, %1, %2, %3};"
        : "+d"(c[0]), "+d"(c[1]), "+d"(c[2]), "+d"(c[3]) : "d"(a[0]), "d"(a[1]), "d"(b));
#endif
}

/* Where column p along an axis begins in a field, and how far its numbers lie apart: 0 ξ, 1 η, 2 ζ. */
template <int axis> __device__ __forceinline__ int column(const int p)
{
    const int slow = p / Q, fast = p % Q;
    return axis == 0 ? slow * SLAB + fast * PITCH : axis == 1 ? slow * SLAB + fast : slow * PITCH + fast;
}
constexpr int APART[3] = {1, PITCH, SLAB};

/* The same in all lanes, as the compiler does not know of threadIdx.x / 32: without it each product is guarded by a barrier. */
__device__ __forceinline__ int warp_index() { return __shfl_sync(0xffffffff, threadIdx.x / 32, 0); }

/* Which of eight columns the instruction takes for its c-th: in this order lanes meet no bank twice, neither where they read four rows of
 * columns 0 to 3 or 4 to 7 of its own, nor where they write four rows of its even or its odd ones. */
__device__ __forceinline__ int ordered(const int c) { return c % 2 ? (c / 2 ^ 2) + 4 : c / 2; }

/* What a lane has of a product with eight columns: rows lane / 4 and 8 below, of two columns. What lies past the edge is read from a
 * place that is there, meets zeros of D or is not kept. */
template <int axis> struct Place {
    int from, to[4];
    bool is_kept[4];

    __device__ __forceinline__ Place(const int tile)
    {
        const int lane = threadIdx.x % 32, m = lane % 4, p = 8 * tile + ordered(lane / 4);
        from = column<axis>(Q2 % 8 == 0 || p < Q2 ? p : Q2 - 1) + m * APART[axis];
#pragma unroll
        for (int l = 0; l < 4; ++l) {
            const int row = lane / 4 + 8 * (l / 2), own = 8 * tile + ordered(2 * m + l % 2);
            is_kept[l] = row < Q && own < Q2;
            to[l] = column<axis>(Q2 % 8 == 0 || own < Q2 ? own : Q2 - 1) + (row < Q ? row : lane / 4 % Q) * APART[axis];
        }
    }
};

/* c += a times eight columns of a field */
template <int axis>
__device__ __forceinline__ void sum_along(double (&c)[4], const double (&a)[STEPS][2], const double *field, const Place<axis> &place)
{
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const int there = Q % 4 == 0 || s + 1 < STEPS || 4 * s + threadIdx.x % 4 < Q ? 4 * s : 0;
        multiply_add(c, a[s], field[place.from + there * APART[axis]]);
    }
}

template <int axis> __device__ __forceinline__ void differentiate(double *to, const double (&a)[STEPS][2], const double *from, const int warp)
{
#pragma unroll 2
    for (int tile = (warp + axis * (TILES % WARPS)) % WARPS; tile < TILES; tile += WARPS) {
        const Place<axis> place(tile);
        double c[4] = {};
        sum_along<axis>(c, a, from, place);
#pragma unroll
        for (int l = 0; l < 4; ++l)
            if (place.is_kept[l]) to[place.to[l]] = c[l];
    }
}

/* sum += the divergence along an axis; `first` where there is nothing yet. */
template <int axis, bool first>
__device__ __forceinline__ void diverge(double *sum, const double (&a)[STEPS][2], const double *flux, const int warp)
{
#pragma unroll 2
    for (int tile = warp; tile < TILES; tile += WARPS) {
        const Place<axis> place(tile);
        double c[4] = {};
#pragma unroll
        for (int l = 0; l < 4 && !first; ++l) c[l] = sum[place.to[l]];
        sum_along<axis>(c, a, flux, place);
#pragma unroll
        for (int l = 0; l < 4; ++l)
            if (place.is_kept[l]) sum[place.to[l]] = c[l];
    }
}

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(element);
    SHARED_POOL(real, pool, (3 + HAS_MASS) * FIELD + CONSTANTS);
    /* The mass wants the values to the end; else what is taken along ξ stands in their place, as a column is one warp's alone. */
    double *const u = pool, *const f_j = pool + FIELD, *const f_k = pool + 2 * FIELD, *const f_i = HAS_MASS ? pool + 3 * FIELD : u;
    const int *nodes = table + element * (Q * Q2);
    const int lane = threadIdx.x % 32, warp = warp_index();
    double d[STEPS][2];
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const int m = 4 * s + lane % 4, row = lane / 4;
        d[s][0] = m < Q && row < Q ? rule[m * Q + row] : 0.0;
        d[s][1] = m < Q && row + 8 < Q ? rule[m * Q + row + 8] : 0.0;
    }
    double *constants = pool + (3 + HAS_MASS) * FIELD;
    for (int c = threadIdx.x; c < CONSTANTS; c += BLOCK) constants[c] = geometry[element * CONSTANTS + c];
#pragma unroll 8
    for (int n = threadIdx.x; n < Q * Q2; n += BLOCK) {
        const int node = __ldg(nodes + n);
        u[n / Q2 * SLAB + n % Q2 / Q * PITCH + n % Q] = node < 0 ? 0.0 : x[node];
    }
    __syncthreads();
    differentiate<1>(f_j, d, u, warp);
    differentiate<2>(f_k, d, u, warp);
    if constexpr (!HAS_MASS) __syncthreads();
    differentiate<0>(f_i, d, u, warp);
    __syncthreads();
#if GEOMETRY == TRILINEAR
    const double point[Q] = {POINTS}, *t = rule + Q2 + Q;
#endif
    for (int task = threadIdx.x; task < TASKS; task += BLOCK) {
        const int j = task % Q2 / Q, i = task % Q, begin = task / Q2 * HEIGHT;
#if GEOMETRY == TRILINEAR
        const struct pencil along = pencil_of(constants, t[i], t[j]);
#endif
#pragma unroll
        for (int r = 0; r < HEIGHT; ++r) {
            const int k = begin + r, at = k * SLAB + j * PITCH + i;
            const double u_i = f_i[at], u_j = f_j[at], u_k = f_k[at];
#if GEOMETRY == TRILINEAR
            double f[3];
            const double mass = pencil_flux(&along, CHUNKS == 1 ? point[r] : t[k], constants[21], u_i, u_j, u_k, f);
            f_i[at] = f[0];
            f_j[at] = f[1];
            f_k[at] = f[2];
#if HAS_MASS
            u[at] *= -constants[22] * mass;
#endif
#else
            const double *g = constants;
            f_i[at] = g[0] * u_i + g[1] * u_j + g[2] * u_k;
            f_j[at] = g[1] * u_i + g[3] * u_j + g[4] * u_k;
            f_k[at] = g[2] * u_i + g[4] * u_j + g[5] * u_k;
#if HAS_MASS
            u[at] *= -g[6];
#endif
#endif
        }
    }
#pragma unroll
    for (int s = 0; s < STEPS; ++s) { /* from D to E */
        d[s][0] = 4 * s + lane % 4 == lane / 4 ? -d[s][0] : d[s][0];
        d[s][1] = 4 * s + lane % 4 == lane / 4 + 8 ? -d[s][1] : d[s][1];
    }
    __syncthreads();
    diverge<0, !HAS_MASS>(u, d, f_i, warp);
    __syncthreads();
    diverge<1, false>(u, d, f_j, warp);
    __syncthreads();
    const double *rho = rule + Q2;
#pragma unroll 2
    for (int tile = warp; tile < TILES; tile += WARPS) {
        const Place<2> place(tile);
        double c[4];
#pragma unroll
        for (int l = 0; l < 4; ++l) c[l] = u[place.to[l]];
        sum_along<2>(c, d, f_k, place);
#pragma unroll
        for (int l = 0; l < 4; ++l) {
            if (!place.is_kept[l]) continue;
            const int row = lane / 4 + 8 * (l / 2), p = 8 * tile + ordered(2 * (lane % 4) + l % 2);
            const double result = -rho[row] * rho[p / Q] * rho[p % Q] * c[l];
#if OUTPUT == TO_PARTS
            parts[(element * Q + row) * Q2 + p] = result;
#else
            DELIVER(nodes[row * Q2 + p], element, row, p / Q, p % Q, parts, y, result);
#endif
        }
    }
}
