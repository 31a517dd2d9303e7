"""Webbase of wong2015, links of the web: rows by a power law, to pages nearby and to popular ones anywhere."""

from datasets.wong2015 import _irregular

KIND = "matrix"
TITLE = "Webbase"
COLLECTION = "Williams/webbase-1M"
STAND_IN_FOR = "Williams/webbase-1M of the SuiteSparse collection"
FIDELITY = "does not"
COUNTS = {"rows": 1_000_005, "nonzeros": 3_105_536, "row_length_min": 1, "row_length_max": 4700}
# Factors by which rows are fewer.
SCALES = {"smoke": 64, "small": 8, "paper": 1}


def build(scale):
    """Return the matrix."""
    fewer = SCALES[scale]
    rows, nonzeros, low, high = (COUNTS[name] for name in ("rows", "nonzeros", "row_length_min", "row_length_max"))
    return _irregular.matrix(
        rows // fewer, nonzeros // fewer, low, high, shift=0.0, near=0.6, band=300, skew=4.0, seed=3
    )  # fmt: skip
