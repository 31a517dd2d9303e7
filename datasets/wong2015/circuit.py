"""Circuit of wong2015, a simulated circuit: mostly short rows between neighbours, some nets that reach everywhere."""

from datasets.wong2015 import _irregular

KIND = "matrix"
TITLE = "Circuit"
COLLECTION = "Hamm/scircuit"
STAND_IN_FOR = "Hamm/scircuit of the SuiteSparse collection"
COUNTS = {"rows": 170_998, "nonzeros": 958_936, "row_length_min": 1, "row_length_max": 353}
# How many times fewer rows.
SCALES = {"smoke": 64, "small": 8, "paper": 1}


def build(scale):
    """Return the matrix."""
    fewer = SCALES[scale]
    rows, nonzeros, low, high = (COUNTS[name] for name in ("rows", "nonzeros", "row_length_min", "row_length_max"))
    return _irregular.matrix(
        rows // fewer, nonzeros // fewer, low, high, shift=6.0, near=0.75, band=60, skew=2.0, seed=1
    )  # fmt: skip
