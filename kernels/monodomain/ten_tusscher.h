/* Ten Tusscher and Panfilov's model of a human epicardial cell (2006): millivolts, milliseconds, millimoles a litre, and currents over
 * the membrane's capacitance, pA/pF. Gates are solved for exactly over a step at its potential (Rush and Larsen), concentrations by
 * forward Euler. */

#define EACH_STATE(DO)                                                                                               \
    DO(0, xr1) DO(1, xr2) DO(2, xs) DO(3, m) DO(4, h) DO(5, j) DO(6, d) DO(7, f) DO(8, f2) DO(9, fcass) DO(10, s)    \
    DO(11, r) DO(12, release) DO(13, ca) DO(14, ca_sr) DO(15, ca_ss) DO(16, na) DO(17, k)
#define MEMBER(number, name) double name;
typedef struct { EACH_STATE(MEMBER) } cell_state;

/* Currents that change each ion inside, whose sum is all that crosses the membrane; the last is the conductance in it. */
typedef struct { double na, k, ca, ca_ss, slope; } cell_currents;

#define RT_F (8314.472 * 310 / 96485.3415) /* RT / F */
#define FARADAY 96.4853415
#define NA_OUT 140.0
#define K_OUT 5.4
#define CA_OUT 2.0
#define CELL_VOLUME 16404.0
#define STORE_VOLUME 1094.0
#define CLEFT_VOLUME 54.68
#define CAPACITANCE 185.0

/* 1 / (1 + exp((v - middle) / width)) */
DEVICE_FUNCTION double falls(const double v, const double middle, const double width)
{
    return 1 / (1 + exp((v - middle) / width));
}

DEVICE_FUNCTION double bell(const double v, const double middle, const double width)
{
    return exp(-(v - middle) * (v - middle) / width);
}

DEVICE_FUNCTION cell_currents currents(const double v, const cell_state c)
{
    cell_currents all;
    const double e_na = RT_F * log(NA_OUT / c.na), e_k = RT_F * log(K_OUT / c.k), e_ca = 0.5 * RT_F * log(CA_OUT / c.ca);
    const double e_ks = RT_F * log((K_OUT + 0.03 * NA_OUT) / (c.k + 0.03 * c.na));
    const double above = v - e_k;

    const double opens = 0.1 / (1 + exp(0.06 * (above - 200)));
    const double closes = (3 * exp(0.0002 * (above + 100)) + exp(0.1 * (above - 10))) / (1 + exp(-0.5 * above));
    const double g_k = 5.405 * opens / (opens + closes)       /* inward rectifier */
                       + 0.153 * c.xr1 * c.xr2                /* rapid delayed rectifier */
                       + 0.294 * c.r * c.s                    /* transient outward */
                       + 0.0146 / (1 + exp((25 - v) / 5.98)); /* pump */
    const double g_ks = 0.392 * c.xs * c.xs, g_na = 14.838 * c.m * c.m * c.m * c.h * c.j + 0.00029;

    const double drive = 2 * (v - 15) / RT_F, grown = exp(drive);
    const double share = fabs(drive) < 1e-7 ? 1 : drive / (grown - 1);
    all.ca_ss = 0.0398 * c.d * c.f * c.f2 * c.fcass * 2 * FARADAY * share * (0.25 * c.ca_ss * grown - CA_OUT);

    const double pump = 2.724 * K_OUT / (K_OUT + 1) * c.na / (c.na + 40) /
                        (1 + 0.1245 * exp(-0.1 * v / RT_F) + 0.0353 * exp(-v / RT_F));
    const double inwards = exp((0.35 - 1) * v / RT_F);
    const double exchange = 1000 * (exp(0.35 * v / RT_F) * c.na * c.na * c.na * CA_OUT -
                                    inwards * NA_OUT * NA_OUT * NA_OUT * c.ca * 2.5) /
                            ((87.5 * 87.5 * 87.5 + NA_OUT * NA_OUT * NA_OUT) * (1.38 + CA_OUT) * (1 + 0.1 * inwards));

    all.na = g_na * (v - e_na) + 3 * pump + 3 * exchange;
    all.k = g_k * above + g_ks * (v - e_ks) - 2 * pump;
    all.ca = 0.000592 * (v - e_ca) + 0.1238 * c.ca / (c.ca + 0.0005) - 2 * exchange;
    all.slope = g_na + g_k + g_ks + 0.000592;
    return all;
}

/* A gate's value after dt, where its target and time constant stay as they are. */
DEVICE_FUNCTION double gate(const double now, const double target, const double tau, const double dt)
{
    return target + (now - target) * exp(-dt / tau);
}

DEVICE_FUNCTION cell_state advanced(const double v, const cell_state c, const double dt)
{
    cell_state to;
    const double na_gate = falls(v, -71.55, 7.43), opening = 1 / (1 + exp((-56.86 - v) / 9.03));
    double h_rate, j_rate;
    if (v < -40) {
        h_rate = 0.057 * exp(-(v + 80) / 6.8) + 2.7 * exp(0.079 * v) + 310000 * exp(0.3485 * v);
        j_rate = (-25428 * exp(0.2444 * v) - 6.948e-6 * exp(-0.04391 * v)) * (v + 37.78) / (1 + exp(0.311 * (v + 79.23))) +
                 0.02424 * exp(-0.01052 * v) / (1 + exp(-0.1378 * (v + 40.14)));
    } else {
        h_rate = 0.77 / (0.13 * (1 + exp(-(v + 10.66) / 11.1)));
        j_rate = 0.6 * exp(0.057 * v) / (1 + exp(-0.1 * (v + 32)));
    }
    to.m = gate(c.m, opening * opening, 1 / (1 + exp((-60 - v) / 5)) * (0.1 * falls(v, -35, 5) + 0.1 * falls(v, 50, 200)), dt);
    to.h = gate(c.h, na_gate * na_gate, 1 / h_rate, dt);
    to.j = gate(c.j, na_gate * na_gate, 1 / j_rate, dt);
    to.xr1 = gate(c.xr1, falls(-v, 26, 7), 450 * falls(-v, 45, 10) * 6 * falls(v, -30, 11.5), dt);
    to.xr2 = gate(c.xr2, falls(v, -88, 24), 3 * falls(-v, 60, 20) * 1.12 * falls(v, 60, 20), dt);
    to.xs = gate(c.xs, falls(-v, 5, 14), 1400 / sqrt(1 + exp((5 - v) / 6)) * falls(v, 35, 15) + 80, dt);
    to.d = gate(c.d, falls(-v, 8, 7.5), (1.4 * falls(-v, 35, 13) + 0.25) * 1.4 * falls(v, -5, 5) + falls(-v, -50, 20), dt);
    to.f = gate(c.f, falls(v, -20, 7),
                1102.5 * bell(v, -27, 225) + 200 * falls(-v, -13, 10) + 180 * falls(v, -30, 10) + 20, dt);
    to.f2 = gate(c.f2, 0.67 * falls(v, -35, 7) + 0.33,
                 562 * bell(v, -27, 240) + 31 * falls(-v, -25, 10) + 80 * falls(v, -30, 10), dt);
    const double near = 1 / (1 + c.ca_ss * c.ca_ss / 0.0025);
    to.fcass = gate(c.fcass, 0.6 * near + 0.4, 80 * near + 2, dt);
    to.s = gate(c.s, falls(v, -20, 5), 85 * bell(v, -45, 320) + 5 * falls(v, 20, 5) + 3, dt);
    to.r = gate(c.r, falls(-v, -20, 6), 9.5 * bell(v, -40, 1800) + 0.8, dt);

    /* calcium: the store's release, uptake and leak, and what goes from the cleft into the cell */
    const double empty = 1.5 / c.ca_sr, throttle = 2.5 - 1.5 / (1 + empty * empty);
    const double shut = 0.045 * throttle * c.ca_ss + 0.005, bound = 0.15 / throttle * c.ca_ss * c.ca_ss;
    to.release = gate(c.release, 0.005 / shut, 1 / shut, dt);
    const double out = 0.102 * bound * c.release / (0.06 + bound) * (c.ca_sr - c.ca_ss);
    const double up = 0.006375 * c.ca * c.ca / (c.ca * c.ca + 0.00025 * 0.00025), leak = 0.00036 * (c.ca_sr - c.ca);
    const double across = 0.0038 * (c.ca_ss - c.ca);
    const double free_ca = 1 / (1 + 0.2 * 0.001 / ((c.ca + 0.001) * (c.ca + 0.001)));
    const double free_sr = 1 / (1 + 10 * 0.3 / ((c.ca_sr + 0.3) * (c.ca_sr + 0.3)));
    const double free_ss = 1 / (1 + 0.4 * 0.00025 / ((c.ca_ss + 0.00025) * (c.ca_ss + 0.00025)));
    const cell_currents through = currents(v, c);
    const double amount = CAPACITANCE / (CELL_VOLUME * FARADAY);
    to.ca = c.ca + dt * free_ca * ((leak - up) * STORE_VOLUME / CELL_VOLUME + across - 0.5 * amount * through.ca);
    to.ca_sr = c.ca_sr + dt * free_sr * (up - out - leak);
    to.ca_ss = c.ca_ss + dt * free_ss * (out * STORE_VOLUME / CLEFT_VOLUME - across * CELL_VOLUME / CLEFT_VOLUME -
                                         0.5 * CAPACITANCE / (CLEFT_VOLUME * FARADAY) * through.ca_ss);
    to.na = c.na - dt * amount * through.na;
    to.k = c.k - dt * amount * through.k;
    return to;
}
