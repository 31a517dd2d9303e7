/* Aliev and Panfilov's source terms at one integration point over one step of backward Euler (wong2015, equations 4, 5 and 7). */

#define MOST_LOCAL_ITERATIONS 30

/* Solves (r - r_before) / dt = f_r(phi, r) by Newton's method; r comes in as the first guess and goes out as the solution.
 * Returns whether that took fewer than MOST_LOCAL_ITERATIONS steps, and d r / d phi.
 *
 * f_r = (gamma + mu1 r / (mu2 + phi)) (-r - c phi (phi - b - 1)). */
DEVICE_FUNCTION int recover(const double phi, const double before, const double b, const double c, const double gamma,
                            const double mu1, const double mu2, const double rate, double *r, double *slope)
{
    const double weight = 1 / (mu2 + phi), drive = c * phi * (phi - b - 1);
    double now = *r, tangent = rate;
    int converged = 0;
    for (int k = 0; k < MOST_LOCAL_ITERATIONS && !converged; ++k) {
        const double speed = gamma + mu1 * now * weight;
        const double residual = (now - before) * rate + speed * (now + drive);
        tangent = rate + mu1 * weight * (now + drive) + speed;
        const double change = residual / tangent;
        now -= change;
        converged = fabs(change) <= 1e-13 * (1 + fabs(now));
    }
    const double speed = gamma + mu1 * now * weight;
    tangent = rate + mu1 * weight * (now + drive) + speed;
    const double by_potential = speed * c * (2 * phi - b - 1) - mu1 * now * weight * weight * (now + drive);
    *r = now;
    *slope = -by_potential / tangent;
    return converged;
}

/* f_phi = c phi (phi - alpha) (1 - phi) - r phi, and its total derivative by phi when r follows phi with that slope. */
DEVICE_FUNCTION double source(const double phi, const double r, const double slope, const double alpha, const double c,
                              double *derivative)
{
    *derivative = c * ((2 * (1 + alpha) - 3 * phi) * phi - alpha) - r - phi * slope;
    return phi * (c * (phi - alpha) * (1 - phi) - r);
}
