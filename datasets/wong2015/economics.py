"""Economics of wong2015, a macroeconomic model: sectors that trade with those near them and with some far away."""

from datasets.wong2015 import _irregular

KIND = "matrix"
TITLE = "Economics"
COLLECTION = "Williams/mac_econ_fwd500"
STAND_IN_FOR = "Williams/mac_econ_fwd500 of the SuiteSparse collection"
COUNTS = {"rows": 206_500, "nonzeros": 1_273_389, "row_length_min": 1, "row_length_max": 44}
# How many times fewer rows.
SCALES = {"smoke": 64, "small": 8, "paper": 1}


def build(scale):
    """Return the matrix."""
    fewer = SCALES[scale]
    rows, nonzeros, low, high = (COUNTS[name] for name in ("rows", "nonzeros", "row_length_min", "row_length_max"))
    return _irregular.matrix(
        rows // fewer, nonzeros // fewer, low, high, shift=3.0, near=0.6, band=500, skew=1.0, seed=2
    )  # fmt: skip
