/* The operator of stiffness.c on FP64 tensor cores, in 64 bits: same arguments, same layout, same test.
 *
 * A warp owns 8 × 8 pencils along ζ of one element, a lane two of them, at (j, i) and (j, i + 1), as the instruction m8n8k4 hands out
 * its results; TILES × TILES warps make an element, and those past its edge compute zeros. Per slab, derivatives along ξ and η are
 * products of the slab with D, its divergence products of the fluxes with E, and each lane loads four values for two nodes where a
 * thread of stiffness.c loads 4 Q: shared memory, which binds there, no longer does. Derivatives along ζ stay in registers. */

#include "output.h"
#include "stages.h"
#include "trilinear.h"

#define Q2 (Q * Q)
#define LANES (ELEMENTS * Q2)
#define TILES ((Q + 7) / 8)
#define STEPS ((Q + 3) / 4)
#define WIDTH (4 * STEPS)                         /* of a slab in shared memory, its edge filled with zeros */
#define PITCH (WIDTH + 4 * (WIDTH / 16))          /* lanes of half a warp then meet no bank twice */
#define STORED 0
#define TRILINEAR 1
#define AFFINE 2
/* Whether compute-sanitizer watches. Lanes past the edge read what others copied, be it there yet or not, and drop it: to spare them the
 * loads takes longer, so that they are spared only then. Its racecheck takes copies of 16 bytes for
 * races even with the lane that made them, so that pairs are then copied in two. */
#ifdef SANITIZED
#define IS_WATCHED true
#else
#define IS_WATCHED false
#endif
static_assert(TILES == 1 || ELEMENTS == 1, "warps of one element meet at the block's barrier");
static_assert(BLOCK == 32 * TILES * TILES * ELEMENTS, "a warp a tile");

__device__ __forceinline__ void meet() { if constexpr (TILES == 1) __syncwarp(); else __syncthreads(); }

/* c += A B of a row of A, (lane / 4, lane % 4), and a column of B, (lane % 4, lane / 4); c is (lane / 4, 2 (lane % 4) + 0, 1). */
__device__ __forceinline__ void multiply_add(double (&c)[2], const double a, const double b)
{
    asm("mma.sync.aligned.m8n8k4.row.col.f64.f64.f64.f64 {%0, %1}, {%2}, {%3}, {%0, %1};" : "+d"(c[0]), "+d"(c[1]) : "d"(a), "d"(b));
}

/* Two neighbours, as one word where they are aligned; zero where they are not there. */
__device__ __forceinline__ void load_pair(double (&out)[2], const double *p, const bool first, const bool second)
{
    out[0] = out[1] = 0;
    if constexpr (Q % 2 == 0) {
        if (first) {
            const double2 pair = __ldg(reinterpret_cast<const double2 *>(p));
            out[0] = pair.x;
            out[1] = pair.y;
        }
    } else {
        if (first) out[0] = __ldg(p);
        if (second) out[1] = __ldg(p + 1);
    }
}

KERNEL stiffness(GLOBAL const int *RESTRICT table, GLOBAL const real *RESTRICT geometry, GLOBAL const real *RESTRICT rule,
                 GLOBAL const real *RESTRICT x, GLOBAL real *RESTRICT parts, GLOBAL real *RESTRICT y)
{
    OUTER(group);
    SHARED_POOL(real, pool, ELEMENTS * (Q + 4) * WIDTH * PITCH + STAGES * 6 * ELEMENTS * Q * Q);
    const double derivative[Q * Q] = {DERIVATIVE}, weight[Q] = {WEIGHTS};
    const int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
    const int e = warp / (TILES * TILES), tile = warp % (TILES * TILES);
    const int row = lane / 4, c = lane % 4;
    const int j = 8 * (tile / TILES) + row, i = 8 * (tile % TILES) + 2 * c, across = 8 * (tile % TILES) + row;
    const bool first = j < Q && i < Q, second = j < Q && i + 1 < Q, is_kept = j < WIDTH && i < WIDTH;
    const int from_j = j < WIDTH ? j : 0, from_i = across < WIDTH ? across : 0; /* a row, a column that lies in the slab */
    const int place = e * Q2 + (first ? j * Q + i : 0);
    auto slab = reinterpret_cast<double(*)[WIDTH][PITCH]>(pool + e * (Q + 4) * WIDTH * PITCH);
#if GEOMETRY == STORED
    const double *factors = geometry + group * (Q * COMPONENTS * LANES) + place;
#endif
#if STAGES
    double *staged = pool + ELEMENTS * (Q + 4) * WIDTH * PITCH + place;
    const auto copy_slab = [&](const int k) {
#pragma unroll
        for (int component = 0; component < 6 && k < Q; ++component) {
            double *to = staged + (k % STAGES * 6 + component) * LANES;
            const double *from = factors + (k * COMPONENTS + component) * LANES;
            if constexpr (Q % 2 == 0 && !IS_WATCHED) {
                if (first) copy_ahead<16>(to, from);
            } else {
                if (first) copy_ahead(to, from);
                if (second) copy_ahead(to + 1, from + 1);
            }
        }
        end_of_stage();
    };
#pragma unroll
    for (int k = 0; k < STAGES; ++k) copy_slab(k);
#endif
    double u[2][Q]; /* then ∂u/∂ζ, then its flux */
#pragma unroll
    for (int k = 0; k < Q; ++k) {
        const int *node = table + group * (Q * LANES) + k * LANES + place;
        int n[2] = {-1, -1};
        if constexpr (Q % 2 == 0) {
            if (first) {
                const int2 pair = __ldg(reinterpret_cast<const int2 *>(node));
                n[0] = pair.x;
                n[1] = pair.y;
            }
        } else {
            if (first) n[0] = __ldg(node);
            if (second) n[1] = __ldg(node + 1);
        }
        for (int r = 0; r < 2; ++r) u[r][k] = n[r] < 0 ? 0.0 : x[n[r]];
    }
    double d_j[STEPS], d_i[STEPS]; /* rows j and `across` of D */
#pragma unroll
    for (int s = 0; s < STEPS; ++s) {
        const int m = 4 * s + c;
        d_j[s] = m < Q && j < Q ? rule[m * Q + j] : 0.0;
        d_i[s] = TILES == 1 ? d_j[s] : m < Q && across < Q ? rule[m * Q + across] : 0.0;
    }
#pragma unroll
    for (int k = 0; k < Q; ++k)
        if (is_kept) *reinterpret_cast<double2 *>(&slab[k][j][i]) = make_double2(u[0][k], u[1][k]);
#if GEOMETRY != STORED
    __shared__ double all_constants[ELEMENTS][CONSTANTS];
    auto &constants = all_constants[e];
    if (tile == 0 && lane < CONSTANTS) constants[lane] = geometry[(group * ELEMENTS + e) * CONSTANTS + lane];
#endif
    meet();
#pragma unroll
    for (int r = 0; r < 2; ++r) {
        double own[Q];
#pragma unroll
        for (int k = 0; k < Q; ++k) own[k] = u[r][k];
#pragma unroll
        for (int k = 0; k < Q; ++k) {
            u[r][k] = 0;
#pragma unroll
            for (int m = 0; m < Q; ++m) u[r][k] += derivative[k * Q + m] * own[m];
        }
    }
    const double *rho = rule + Q2;
    const double product[2] = {first ? rho[j] * rho[i] : 0.0, second ? rho[j] * rho[i + 1] : 0.0};
#if GEOMETRY == TRILINEAR
    const double point[Q] = {POINTS}, *t = rule + Q2 + Q;
    const double eta = t[j < Q ? j : 0];
    const struct pencil along[2] = {pencil_of(constants, t[i < Q ? i : 0], eta), pencil_of(constants, t[i + 1 < Q ? i + 1 : 0], eta)};
#endif
#pragma unroll
    for (int k = 0; k < Q; ++k) {
        double u_i[2] = {0, 0}, u_j[2] = {0, 0}, f_i[2], f_j[2], sum[2] = {0, 0};
        auto flux = slab + Q + 2 * (k % 2);
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            multiply_add(u_i, slab[k][from_j][4 * s + c], d_i[s]);
            multiply_add(u_j, d_j[s], slab[k][4 * s + c][from_i]);
        }
#if HAS_MASS
        double mass[2];
        const double2 own = is_kept ? *reinterpret_cast<double2 *>(&slab[k][j][i]) : make_double2(0, 0);
#endif
#if GEOMETRY == STORED
        double g[COMPONENTS][2];
#if STAGES
        wait_for_stage();
#pragma unroll
        for (int component = 0; component < 6; ++component) {
            const double *from = staged + (k % STAGES * 6 + component) * LANES;
            if constexpr (IS_WATCHED) {
                g[component][0] = first ? arrived(from) : 0.0;
                g[component][1] = second ? arrived(from + 1) : 0.0;
            } else {
                g[component][0] = arrived(from);
                g[component][1] = arrived(second ? from + 1 : from);
            }
        }
#endif
#pragma unroll
        for (int component = STAGES ? 6 : 0; component < COMPONENTS; ++component)
            load_pair(g[component], factors + (k * COMPONENTS + component) * LANES, first, second);
#endif
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#if GEOMETRY == TRILINEAR
            double f[3];
            const double volume = pencil_flux(&along[r], point[k], constants[21], u_i[r], u_j[r], u[r][k], f);
            f_i[r] = f[0];
            f_j[r] = f[1];
            u[r][k] = f[2];
#if HAS_MASS
            mass[r] = constants[22] * volume;
#endif
#else
#if GEOMETRY == STORED
            const double g11 = g[0][r], g12 = g[1][r], g13 = g[2][r], g22 = g[3][r], g23 = g[4][r], g33 = g[5][r];
#else
            const double *g = constants, g11 = g[0], g12 = g[1], g13 = g[2], g22 = g[3], g23 = g[4], g33 = g[5];
#endif
            const double u_k = u[r][k];
            f_i[r] = g11 * u_i[r] + g12 * u_j[r] + g13 * u_k;
            f_j[r] = g12 * u_i[r] + g22 * u_j[r] + g23 * u_k;
            u[r][k] = g13 * u_i[r] + g23 * u_j[r] + g33 * u_k;
#if HAS_MASS && GEOMETRY == STORED
            mass[r] = g[6][r];
#elif HAS_MASS
            mass[r] = g[6];
#endif
#endif
            const bool is_there = r == 0 ? first : second;
            f_i[r] = is_there ? f_i[r] : 0.0;
            f_j[r] = is_there ? f_j[r] : 0.0;
        }
        if (is_kept) {
            *reinterpret_cast<double2 *>(&flux[0][j][i]) = make_double2(f_i[0], f_i[1]);
            *reinterpret_cast<double2 *>(&flux[1][j][i]) = make_double2(f_j[0], f_j[1]);
        }
#if STAGES
        copy_slab(k + STAGES);
#endif
        meet();
#pragma unroll
        for (int s = 0; s < STEPS; ++s) {
            const int m = 4 * s + c;
            multiply_add(sum, flux[0][from_j][m], m == across ? -d_i[s] : d_i[s]);
            multiply_add(sum, m == j ? -d_j[s] : d_j[s], flux[1][m][from_i]);
        }
#if HAS_MASS
        sum[0] -= mass[0] * own.x;
        sum[1] -= mass[1] * own.y;
#endif
        /* No lane reads the slab again: it keeps what the fluxes along ζ are still to be added to. */
        if (is_kept) *reinterpret_cast<double2 *>(&slab[k][j][i]) = make_double2(sum[0], sum[1]);
    }
#pragma unroll
    for (int k = 0; k < Q; ++k) {
        const long at = group * (Q * LANES) + k * LANES + place;
        const double2 partial = is_kept ? *reinterpret_cast<double2 *>(&slab[k][j][i]) : make_double2(0, 0);
        double result[2] = {partial.x, partial.y};
#pragma unroll
        for (int r = 0; r < 2; ++r) {
#pragma unroll
            for (int m = 0; m < Q; ++m) result[r] += (m == k ? -derivative[k * Q + m] : derivative[k * Q + m]) * u[r][m];
            result[r] *= -product[r] * weight[k];
        }
#if OUTPUT != TO_PARTS
#pragma unroll
        for (int r = 0; r < 2; ++r) {
            if (!(r == 0 ? first : second)) continue;
            DELIVER(table[at + r], group * ELEMENTS + e, k, j, i + r, parts, y, result[r]);
        }
#else
        if constexpr (Q % 2 == 0) {
            if (first) *reinterpret_cast<double2 *>(parts + at) = make_double2(result[0], result[1]);
        } else {
            if (first) parts[at] = result[0];
            if (second) parts[at + 1] = result[1];
        }
#endif
    }
}
