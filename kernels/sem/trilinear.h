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
