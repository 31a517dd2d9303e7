/* Element matrix of -div(sigma grad u) + lambda u on a P1 tetrahedron (fu2014, equations 3 and 4).
 *
 * The gradient of the barycentric coordinate opposite a face is that face's normal over six volumes, so all entries follow from three cross
 * products. Off-diagonal entries in the order of the edges 01 02 03 12 13 23; a row of the stiffness sums to zero, which gives the
 * diagonal. About 90 additions and multiplications, and one division. A body that takes elements side by side defines NUMBER. */

#define EDGE_COUNT 6
#ifndef NUMBER
#define NUMBER real
#endif

/* x[3 * node + axis] -> entry[edge] = sigma grad(i).grad(j) V + lambda V / 20; returns the volume V. */
DEVICE_FUNCTION NUMBER tetrahedron_edges(const NUMBER *x, const NUMBER sigma, const real lambda, NUMBER *entry)
{
    const NUMBER ux = x[3] - x[0], uy = x[4] - x[1], uz = x[5] - x[2];
    const NUMBER vx = x[6] - x[0], vy = x[7] - x[1], vz = x[8] - x[2];
    const NUMBER wx = x[9] - x[0], wy = x[10] - x[1], wz = x[11] - x[2];
    /* six volumes times the gradients of nodes 1, 2, 3; node 0 balances them */
    const NUMBER g1x = vy * wz - vz * wy, g1y = vz * wx - vx * wz, g1z = vx * wy - vy * wx;
    const NUMBER g2x = wy * uz - wz * uy, g2y = wz * ux - wx * uz, g2z = wx * uy - wy * ux;
    const NUMBER g3x = uy * vz - uz * vy, g3y = uz * vx - ux * vz, g3z = ux * vy - uy * vx;
    const NUMBER volume6 = ux * g1x + uy * g1y + uz * g1z;
    const NUMBER scale = sigma * RECIPROCAL((real)6 * volume6);
    const NUMBER mass = lambda * volume6 * ((real)1 / 120);
    const NUMBER s12 = g1x * g2x + g1y * g2y + g1z * g2z;
    const NUMBER s13 = g1x * g3x + g1y * g3y + g1z * g3z;
    const NUMBER s23 = g2x * g3x + g2y * g3y + g2z * g3z;
    const NUMBER s11 = g1x * g1x + g1y * g1y + g1z * g1z;
    const NUMBER s22 = g2x * g2x + g2y * g2y + g2z * g2z;
    const NUMBER s33 = g3x * g3x + g3y * g3y + g3z * g3z;
    entry[0] = mass - scale * (s11 + s12 + s13);
    entry[1] = mass - scale * (s12 + s22 + s23);
    entry[2] = mass - scale * (s13 + s23 + s33);
    entry[3] = mass + scale * s12;
    entry[4] = mass + scale * s13;
    entry[5] = mass + scale * s23;
    return volume6 * ((real)1 / 6);
}
