/* The metric of a trilinear hexahedron along a pencil, from its eight vertices (the paper computes it anew at every node).
 *
 * x(ξ, η, ζ) = c0 + c1 ξ + c2 η + c3 ζ + c4 ξη + c5 ξζ + c6 ηζ + c7 ξηζ. At a fixed (ξ, η) the columns of the Jacobian are
 * J_ξ = a + b ζ, J_η = g + d ζ, and J_ζ, which is constant; a and b depend on η alone, g and d on ξ alone. */

struct pencil {
    real a[3], b[3], g[3], d[3], j_zeta[3];
};

#define CROSS(p, q, r)                                                                                               \
    (r)[0] = (p)[1] * (q)[2] - (p)[2] * (q)[1];                                                                      \
    (r)[1] = (p)[2] * (q)[0] - (p)[0] * (q)[2];                                                                      \
    (r)[2] = (p)[0] * (q)[1] - (p)[1] * (q)[0]

/* c: the coefficients c1 to c7, three coordinates each. */
DEVICE_FUNCTION struct pencil pencil_of(SHARED_POINTER const real *c, const real xi, const real eta)
{
    struct pencil p;
    UNROLL
    for (int x = 0; x < 3; ++x) {
        p.a[x] = c[x] + eta * c[9 + x];
        p.b[x] = c[12 + x] + eta * c[18 + x];
        p.g[x] = c[3 + x] + xi * c[9 + x];
        p.d[x] = c[15 + x] + xi * c[18 + x];
        p.j_zeta[x] = c[6 + x] + eta * c[15 + x] + xi * p.b[x];
    }
    return p;
}

/* Flux |J| J⁻¹ J⁻ᵀ times the gradient (u_i, u_j, u_k) in the reference element, by way of the gradient in space; returns |J|. */
DEVICE_FUNCTION real pencil_flux(const struct pencil *p, const real zeta, const real kappa, const real u_i, const real u_j,
                                 const real u_k, real *flux)
{
    real j_xi[3], j_eta[3], r_i[3], r_j[3], r_k[3];
    UNROLL
    for (int x = 0; x < 3; ++x) {
        j_xi[x] = p->a[x] + zeta * p->b[x];
        j_eta[x] = p->g[x] + zeta * p->d[x];
    }
    CROSS(j_eta, p->j_zeta, r_i); /* |J| ∇ξ, and so on */
    CROSS(p->j_zeta, j_xi, r_j);
    CROSS(j_xi, j_eta, r_k);
    const real volume = r_i[0] * j_xi[0] + r_i[1] * j_xi[1] + r_i[2] * j_xi[2];
    const real scale = kappa * RECIPROCAL(volume);
    flux[0] = flux[1] = flux[2] = 0;
    UNROLL
    for (int x = 0; x < 3; ++x) {
        const real gradient = scale * (r_i[x] * u_i + r_j[x] * u_j + r_k[x] * u_k);
        flux[0] += r_i[x] * gradient;
        flux[1] += r_j[x] * gradient;
        flux[2] += r_k[x] * gradient;
    }
    return volume;
}

/* The same along a whole pencil: |J| ∇ξ and |J| ∇η are linear in ζ, |J| ∇ζ and |J| of degree two; their coefficients from the lowest. */
struct cofactors {
    real i[2][3], j[2][3], k[3][3], volume[3];
};

DEVICE_FUNCTION struct cofactors cofactors_of(const struct pencil *p)
{
    struct cofactors c;
    real other[3];
    CROSS(p->g, p->j_zeta, c.i[0]);
    CROSS(p->d, p->j_zeta, c.i[1]);
    CROSS(p->j_zeta, p->a, c.j[0]);
    CROSS(p->j_zeta, p->b, c.j[1]);
    CROSS(p->a, p->g, c.k[0]);
    CROSS(p->a, p->d, c.k[1]);
    CROSS(p->b, p->g, other);
    CROSS(p->b, p->d, c.k[2]);
    UNROLL
    for (int x = 0; x < 3; ++x) c.k[1][x] += other[x];
    UNROLL
    for (int n = 0; n < 3; ++n)
        c.volume[n] = c.k[n][0] * p->j_zeta[0] + c.k[n][1] * p->j_zeta[1] + c.k[n][2] * p->j_zeta[2];
    return c;
}

DEVICE_FUNCTION real cofactors_flux(const struct cofactors *c, const real zeta, const real kappa, const real u_i, const real u_j,
                                    const real u_k, real *flux)
{
    const real volume = c->volume[0] + zeta * (c->volume[1] + zeta * c->volume[2]), scale = kappa * RECIPROCAL(volume);
    flux[0] = flux[1] = flux[2] = 0;
    UNROLL
    for (int x = 0; x < 3; ++x) {
        const real i = c->i[0][x] + zeta * c->i[1][x], j = c->j[0][x] + zeta * c->j[1][x];
        const real k = c->k[0][x] + zeta * (c->k[1][x] + zeta * c->k[2][x]), gradient = scale * (i * u_i + j * u_j + k * u_k);
        flux[0] += i * gradient;
        flux[1] += j * gradient;
        flux[2] += k * gradient;
    }
    return volume;
}
