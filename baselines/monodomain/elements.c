/* Tangents and residuals of linear tetrahedra for the monodomain equations, an element after the other: what a program
 * that uses PETSc brings along. Compiled by the system's C compiler, called through ctypes. */
#include <math.h>

/* tangents (count, 16); residual (nodes) is overwritten. Returns whether every local Newton iteration has converged. */
int elements(long count, long nodes, const int *cells, const double *stiffness, const double *volumes,
             const double *phi, const double *mean_before, const double *r_before, double *recovery,
             const double *model, double rate, double *tangents, double *residual)
{
    const double alpha = model[0], b = model[1], c = model[2], gamma = model[3], mu1 = model[4], mu2 = model[5];
    int good = 1;
    for (long i = 0; i < nodes; ++i) residual[i] = 0;
    for (long e = 0; e < count; ++e) {
        const int *node = cells + 4 * e;
        const double *conduction = stiffness + 16 * e;
        double p[4], mean = 0;
        for (int i = 0; i < 4; ++i) {
            p[i] = phi[node[i]];
            mean += 0.25 * p[i];
        }
        const double pull = c * mean * (mean - b - 1), weight = 1 / (mu2 + mean);
        double r = recovery[e];
        int found = 0;
        for (int k = 0; k < 30 && !found; ++k) {
            const double speed = gamma + mu1 * r * weight;
            const double change =
                ((r - r_before[e]) * rate + speed * (r + pull)) / (rate + mu1 * weight * (r + pull) + speed);
            r -= change;
            found = fabs(change) <= 1e-13 * (1 + fabs(r));
        }
        good = good && found;
        recovery[e] = r;
        const double speed = gamma + mu1 * r * weight, tangent = rate + mu1 * weight * (r + pull) + speed;
        const double by_phi = speed * c * (2 * mean - b - 1) - mu1 * r * weight * weight * (r + pull);
        const double flow = c * mean * (mean - alpha) * (1 - mean) - r * mean;
        const double slope = c * (-3 * mean * mean + 2 * (1 + alpha) * mean - alpha) - r + mean * by_phi / tangent;
        const double mass = volumes[e] * (rate - slope) / 16;
        const double load = volumes[e] * ((mean - mean_before[e]) * rate - flow) / 4;
        for (int i = 0; i < 4; ++i) {
            double total = load;
            for (int j = 0; j < 4; ++j) {
                total += conduction[4 * i + j] * p[j];
                tangents[16 * e + 4 * i + j] = conduction[4 * i + j] + mass;
            }
            residual[node[i]] += total;
        }
    }
    return good;
}
