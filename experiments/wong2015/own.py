"""Products with a user's own matrix in the formats that wong2015 has not, the user's own among them."""

from __future__ import annotations

from experiments.wong2015.matrices import OWN
from experiments.wong2015.products import BACKENDS, METHODS, SEARCHED, product_cell
from kernels import spmv

FORMATS = tuple(form for form in spmv.FORMATS if form not in (*METHODS, *SEARCHED.values()))


def own_cells():
    """Return the cells of the user's own matrix in these formats."""
    return [product_cell(OWN, form, backend) for form in FORMATS for backend in BACKENDS]
