/* The boundary's part of a residual or right-hand side: a warp a slice of 32 rows of A_B (patch_matrix.py).
 *
 * It is a kernel of its own, also before post-relaxation: there a block would wait for its columns and then for what they
 * point to, with nothing else to do, which took much of the time. */

#define SLICE 32
#define SLICE_NUMBERS 4
#define AHEAD 6 /* loads of a thread that are on their way together */

/* target -= A_B u. */
KERNEL compensate(const long slice_count, GLOBAL const ushort *RESTRICT boundary_order,
                  GLOBAL const int *RESTRICT boundary_slices, GLOBAL const real *RESTRICT boundary_values,
                  GLOBAL const int *RESTRICT boundary_columns, GLOBAL const real *RESTRICT u,
                  GLOBAL real *RESTRICT target)
{
    OUTER(block);
    INNER(t) {
        const long s = block * (BLOCK / SLICE) + t / SLICE;
        if (s >= slice_count) continue;
        GLOBAL const int *slice = boundary_slices + SLICE_NUMBERS * s;
        const int at = slice[0] + t % SLICE, width = slice[1], first = slice[2];
        const int place = slice[3] >> 6, step = slice[3] & 63;
        if (t % SLICE >= step || width == 0) continue;
        const int row = first + boundary_order[first + place + t % SLICE];
        real sum = 0;
        for (int k = 0; k < width; k += AHEAD) {
            int column[AHEAD];
            real value[AHEAD];
            UNROLL
            for (int l = 0; l < AHEAD; ++l) {
                const int within = k + l < width;
                column[l] = within ? boundary_columns[at + (k + l) * step] : row;
                value[l] = within ? boundary_values[at + (k + l) * step] : 0;
            }
            UNROLL
            for (int l = 0; l < AHEAD; ++l) sum += value[l] * u[column[l]];
        }
        target[row] -= sum;
    }
}
