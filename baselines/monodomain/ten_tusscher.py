"""Ten Tusscher and Panfilov's epicardial cell (2006) in NumPy: what kernels of it are compared with.

The paper's equations as printed, each gate by its opening and closing; potentials in millivolts, times in milliseconds,
concentrations in millimoles a litre, currents in pA/pF.
"""

from __future__ import annotations

import numpy as np
from numpy import exp, log

R, T, F = 8314.472, 310.0, 96485.3415
E = R * T / F  # millivolts
VOLUME, STORE, CLEFT, CAPACITANCE = 0.016404, 0.001094, 0.00005468, 0.185
OUTSIDE = {"na": 140.0, "k": 5.4, "ca": 2.0}


def currents(v, y) -> dict:
    """Return the membrane's currents by name.

    Parameters
    ----------
    v : float or array
    y : mapping of str to float or array
        By the names of `kernels.monodomain.ionic.STATES`.
    """
    e_na, e_k = E * log(OUTSIDE["na"] / y["na"]), E * log(OUTSIDE["k"] / y["k"])
    e_ks = E * log((5.4 + 0.03 * 140) / (y["k"] + 0.03 * y["na"]))
    e_ca = E / 2 * log(OUTSIDE["ca"] / y["ca"])
    alpha = 0.1 / (1 + exp(0.06 * (v - e_k - 200)))
    beta = (3 * exp(0.0002 * (v - e_k + 100)) + exp(0.1 * (v - e_k - 10))) / (1 + exp(-0.5 * (v - e_k)))
    z = 2 * (v - 15) * F / (R * T)
    cube = OUTSIDE["na"] ** 3
    return {
        "Na": 14.838 * y["m"] ** 3 * y["h"] * y["j"] * (v - e_na),
        "K1": 5.405 * alpha / (alpha + beta) * (v - e_k),
        "to": 0.294 * y["r"] * y["s"] * (v - e_k),
        "Kr": 0.153 * y["xr1"] * y["xr2"] * (v - e_k),
        "Ks": 0.392 * y["xs"] ** 2 * (v - e_ks),
        "CaL": 3.980e-5 * y["d"] * y["f"] * y["f2"] * y["fcass"] * 4 * (v - 15) * F**2 / (R * T)
        * (0.25 * y["ca_ss"] * exp(z) - 2) / (exp(z) - 1),
        "NaK": 2.724 * 5.4 * y["na"] / ((5.4 + 1) * (y["na"] + 40) * (1 + 0.1245 * exp(-0.1 * v / E)
                                                                     + 0.0353 * exp(-v / E))),
        "NaCa": 1000 * (exp(0.35 * v / E) * y["na"] ** 3 * 2 - exp(-0.65 * v / E) * cube * y["ca"] * 2.5)
        / ((87.5**3 + cube) * (1.38 + 2) * (1 + 0.1 * exp(-0.65 * v / E))),
        "pCa": 0.1238 * y["ca"] / (0.0005 + y["ca"]),
        "pK": 0.0146 * (v - e_k) / (1 + exp((25 - v) / 5.98)),
        "bNa": 0.00029 * (v - e_na),
        "bCa": 0.000592 * (v - e_ca),
    }  # fmt: skip


def targets(v, y) -> dict:
    """Return where each gate goes, and the milliseconds that it takes, by its name."""
    fast = v < -40
    low, high = np.minimum(v, -40), np.maximum(v, -40)
    h = np.where(fast, 0.057 * exp(-(low + 80) / 6.8) + 2.7 * exp(0.079 * low) + 3.1e5 * exp(0.3485 * low),
                 0.77 / (0.13 * (1 + exp((high + 10.66) / -11.1))))  # fmt: skip
    j = np.where(fast, (-2.5428e4 * exp(0.2444 * low) - 6.948e-6 * exp(-0.04391 * low)) * (low + 37.78)
                 / (1 + exp(0.311 * (low + 79.23)))
                 + 0.02424 * exp(-0.01052 * low) / (1 + exp(-0.1378 * (low + 40.14))),
                 0.6 * exp(0.057 * high) / (1 + exp(-0.1 * (high + 32))))  # fmt: skip
    inactive, near = 1 / (1 + exp((v + 71.55) / 7.43)) ** 2, 1 + (y["ca_ss"] / 0.05) ** 2
    k = 2.5 - 1.5 / (1 + (1.5 / y["ca_sr"]) ** 2)
    shut = 0.045 * k * y["ca_ss"] + 0.005
    return {
        "xr1": (1 / (1 + exp((-26 - v) / 7)), 450 / (1 + exp((-45 - v) / 10)) * 6 / (1 + exp((v + 30) / 11.5))),
        "xr2": (1 / (1 + exp((v + 88) / 24)), 3 / (1 + exp((-60 - v) / 20)) * 1.12 / (1 + exp((v - 60) / 20))),
        "xs": (1 / (1 + exp((-5 - v) / 14)), 1400 / np.sqrt(1 + exp((5 - v) / 6)) / (1 + exp((v - 35) / 15)) + 80),
        "m": (1 / (1 + exp((-56.86 - v) / 9.03)) ** 2,
              1 / (1 + exp((-60 - v) / 5)) * (0.1 / (1 + exp((v + 35) / 5)) + 0.1 / (1 + exp((v - 50) / 200)))),
        "h": (inactive, 1 / h),
        "j": (inactive, 1 / j),
        "d": (1 / (1 + exp((-8 - v) / 7.5)), (1.4 / (1 + exp((-35 - v) / 13)) + 0.25) * 1.4 / (1 + exp((v + 5) / 5))
              + 1 / (1 + exp((50 - v) / 20))),
        "f": (1 / (1 + exp((v + 20) / 7)), 1102.5 * exp(-((v + 27) ** 2) / 225) + 200 / (1 + exp((13 - v) / 10))
              + 180 / (1 + exp((v + 30) / 10)) + 20),
        "f2": (0.67 / (1 + exp((v + 35) / 7)) + 0.33, 562 * exp(-((v + 27) ** 2) / 240)
               + 31 / (1 + exp((25 - v) / 10)) + 80 / (1 + exp((v + 30) / 10))),
        "fcass": (0.6 / near + 0.4, 80 / near + 2),
        "s": (1 / (1 + exp((v + 20) / 5)), 85 * exp(-((v + 45) ** 2) / 320) + 5 / (1 + exp((v - 20) / 5)) + 3),
        "r": (1 / (1 + exp((20 - v) / 6)), 9.5 * exp(-((v + 40) ** 2) / 1800) + 0.8),
        "release": (0.005 / shut, 1 / shut),
    }  # fmt: skip


def rates(v, y) -> tuple:
    """Return the derivatives by time of the potential and, by name, of the states of a cell without a stimulus."""
    i = currents(v, y)
    change = {name: (target - y[name]) / constant for name, (target, constant) in targets(v, y).items()}
    k = 2.5 - 1.5 / (1 + (1.5 / y["ca_sr"]) ** 2)
    k1 = 0.15 / k
    opened = k1 * y["ca_ss"] ** 2 * y["release"] / (0.06 + k1 * y["ca_ss"] ** 2)
    released = 0.102 * opened * (y["ca_sr"] - y["ca_ss"])
    taken, leaked = 0.006375 / (1 + (0.00025 / y["ca"]) ** 2), 0.00036 * (y["ca_sr"] - y["ca"])
    moved = 0.0038 * (y["ca_ss"] - y["ca"])
    change["ca"] = (-(i["bCa"] + i["pCa"] - 2 * i["NaCa"]) * CAPACITANCE / (2 * VOLUME * F)
                    + (leaked - taken) * STORE / VOLUME
                    + moved) / (1 + 0.2 * 0.001 / (y["ca"] + 0.001) ** 2)  # fmt: skip
    change["ca_sr"] = (taken - released - leaked) / (1 + 10 * 0.3 / (y["ca_sr"] + 0.3) ** 2)
    change["ca_ss"] = (-i["CaL"] * CAPACITANCE / (2 * CLEFT * F) + released * STORE / CLEFT
                       - moved * VOLUME / CLEFT) / (1 + 0.4 * 0.00025 / (y["ca_ss"] + 0.00025) ** 2)  # fmt: skip
    change["na"] = -(i["Na"] + i["bNa"] + 3 * i["NaK"] + 3 * i["NaCa"]) * CAPACITANCE / (VOLUME * F)
    change["k"] = -(i["K1"] + i["to"] + i["Kr"] + i["Ks"] + i["pK"] - 2 * i["NaK"]) * CAPACITANCE / (VOLUME * F)
    return -sum(i.values()), change
