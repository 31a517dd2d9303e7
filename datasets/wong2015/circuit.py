"""Circuit of wong2015, a simulated circuit: a symmetric graph of short rows between neighbours and some long nets.

Sorting it saves Table 6's share of the padding, which says how much rows resemble those beside them.
"""

from datasets.wong2015 import _lengths, _nets

KIND = "matrix"
TITLE = "Circuit"
COLLECTION = "Hamm/scircuit"
STAND_IN_FOR = "Hamm/scircuit of the SuiteSparse collection"
FIDELITY = "resembles"
COUNTS = {"rows": 170_998, "nonzeros": 958_936, "row_length_min": 1, "row_length_max": 353}
SPREAD = 4.39  # chosen: the standard deviation of row lengths
# Factors by which rows are fewer.
SCALES = {"smoke": 64, "small": 8, "paper": 1}


def build(scale):
    """Return the matrix."""
    fewer = SCALES[scale]
    rows, nonzeros, low, high = (COUNTS[name] for name in ("rows", "nonzeros", "row_length_min", "row_length_max"))
    rows, nonzeros = rows // fewer, nonzeros // fewer
    lengths = _lengths.lognormal(rows, nonzeros - (nonzeros - rows) % 2, low, high, SPREAD)
    return _nets.matrix(lengths, stretch=64, own=1.0, near=0.8, band=60, seed=1)
