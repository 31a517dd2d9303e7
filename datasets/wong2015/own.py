"""A matrix of the user's own, which joins the matrices of wong2015: ``--matrix wong2015/own=FILE.mtx``."""

KIND = "matrix"
TITLE = "Own"
SCALES = {}
