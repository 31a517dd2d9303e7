"""Assembly of P1 tetrahedral Helmholtz matrices in CSR: fu2014's patches, rings around edges, global atomics.

Each method is a module with ``prepare(device, problem, ...) -> Assembler``, found by its name. Systems with several
unknowns a node are in `kernels.assembly.elasticity`.
"""

from __future__ import annotations

import importlib

METHODS = ("patch", "ring", "atomic")


def prepare(method: str, device, problem, **options):
    """Prepare the assembly of `problem` by one of `METHODS` on a device; see its module for the options."""
    if method not in METHODS:
        raise ValueError(f"method {method!r} is none of {', '.join(METHODS)}")
    return importlib.import_module(f"kernels.assembly.{method}").prepare(device, problem, **options)
