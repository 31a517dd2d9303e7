"""Kernels under ThreadSanitizer, with the variable ``REPRO_SANITIZE=thread``: races between the blocks of a grid show.

The sanitizer must be in the process already; ``make races`` sees to it. Threads of a block are one loop on this back
end; races between them are what compute-sanitizer looks for on CUDA.
"""

from __future__ import annotations

import os

VARIABLE, FLAGS = "REPRO_SANITIZE", ("-O1", "-g", "-fsanitize=thread")


def wanted() -> bool:
    """Return whether kernels are to be built so."""
    return os.environ.get(VARIABLE) == "thread"
