/* The metric of a trilinear hexahedron along a pencil, from eight vertices.
 *
 * x(ξ, η, ζ) = c0 + c1 ξ + c2 η + c3 ζ + c4 ξη + c5 ξζ + c6 ηζ + c7 ξηζ. At a fixed (ξ, η) the columns of the Jacobian are
 * J_ξ = a + b ζ, J_η = c + d ζ and J_ζ, constant: so its cofactors J_η × J_ζ and J_ζ × J_ξ are linear in ζ, and J_ξ × J_η and the
 * determinant are quadratic, with coefficients that are computed once a pencil. */

struct pencil {
    real c1[2][3], c2[2][3], c3[3][3], volume[3];
};

#define CROSS(p, q, r)                                                                                               \
    (r)[0] = (p)[1] * (q)[2] - (p)[2] * (q)[1];                                                                      \
    (r)[1] = (p)[2] * (q)[0] - (p)[0] * (q)[2];                                                                      \
    (r)[2] = (p)[0] * (q)[1] - (p)[1] * (q)[0]

/* c: the coefficients c1 to c7, three coordinates each. */
DEVICE_FUNCTION struct pencil pencil_of(SHARED_POINTER const real *c, const real xi, const real eta)
{
    struct pencil out;
    real a[3], b[3], d[3], g[3], along[3], mixed[3];
    UNROLL
    for (int x = 0; x < 3; ++x) {
        a[x] = c[x] + eta * c[9 + x];
        b[x] = c[12 + x] + eta * c[18 + x];
        g[x] = c[3 + x] + xi * c[9 + x];
        d[x] = c[15 + x] + xi * c[18 + x];
        along[x] = c[6 + x] + eta * c[15 + x] + xi * b[x];
    }
    CROSS(g, along, out.c1[0]);
    CROSS(d, along, out.c1[1]);
    CROSS(along, a, out.c2[0]);
    CROSS(along, b, out.c2[1]);
    CROSS(a, g, out.c3[0]);
    CROSS(a, d, out.c3[1]);
    CROSS(b, g, mixed);
    CROSS(b, d, out.c3[2]);
    UNROLL
    for (int x = 0; x < 3; ++x) out.c3[1][x] += mixed[x];
    UNROLL
    for (int power = 0; power < 3; ++power)
        out.volume[power] = along[0] * out.c3[power][0] + along[1] * out.c3[power][1] + along[2] * out.c3[power][2];
    return out;
}

DEVICE_FUNCTION real pencil_volume(const struct pencil *p, const real zeta)
{
    return p->volume[0] + zeta * (p->volume[1] + zeta * p->volume[2]);
}

/* |J| J⁻¹ J⁻ᵀ of the gradient (u_i, u_j, u_k), through the gradient in space. */
DEVICE_FUNCTION void pencil_flux(const struct pencil *p, const real zeta, const real kappa, const real u_i, const real u_j,
                                 const real u_k, real *flux)
{
    const real scale = kappa * RECIPROCAL(pencil_volume(p, zeta));
    flux[0] = flux[1] = flux[2] = 0;
    UNROLL
    for (int x = 0; x < 3; ++x) {
        const real c1 = p->c1[0][x] + zeta * p->c1[1][x], c2 = p->c2[0][x] + zeta * p->c2[1][x];
        const real c3 = p->c3[0][x] + zeta * (p->c3[1][x] + zeta * p->c3[2][x]);
        const real gradient = scale * (c1 * u_i + c2 * u_j + c3 * u_k);
        flux[0] += c1 * gradient;
        flux[1] += c2 * gradient;
        flux[2] += c3 * gradient;
    }
}
