"""The names of the rivals, in a file that none of them needs: one more voids no measurement of the others."""

METHODS = (
    "hypre-pcgamg", "hypre-pcgamg-all", "hypre-extended", "hypre-cg", "pyamg-rs", "pyamg-sa", "amgcl", "numba-cg",
)  # fmt: skip
AMGX = (
    "amgx-pmis", "amgx-aggressive", "amgx-aggregation",
    "amgx-shipped", "amgx-shipped-v", "amgx-shipped-f", "amgx-shipped-aggregation",
)  # fmt: skip
ON_GPU = (*AMGX, "cudss")
