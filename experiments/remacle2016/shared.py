"""Parts that cells of one mesh and order share: numbers of nodes, subdomains, and the hierarchy of the coarse space.

No time of set-up is measured here, so that none is of what was there already. The last mesh's is kept, since its cells
follow one another; each part is made by the first cell that takes it, with what it needs alone.
"""

from __future__ import annotations

from experiments.remacle2016 import products
from kernels.sem.common import Common
from repro.keeping import kept

COARSEST = 100  # rows: no method's cycles go further down


def common(run, mesh, order: int, **needed):
    """Return what a cell's solver shares, when there is memory for its set-up: `needed` goes to `products.need`."""
    of_mesh = _of(mesh, order, run.device)
    products.need(run, run.device, mesh, order, there=of_mesh.bytes(), **needed)
    return of_mesh.common()


@kept(lambda mesh, order, device: (mesh.digest(), order, device.backend))
def _of(mesh, order, device):
    return _Mesh(mesh, order, device)


class _Mesh:
    """A mesh, its order and device: when memory is asked for, nothing of it is made yet, and the one before is gone."""

    def __init__(self, mesh, order: int, device):
        self._of = device, mesh.points, mesh.cells, order

    @kept()
    def common(self):
        return _Kept(*self._of)

    def bytes(self) -> int:
        """Return what is kept, in bytes of the device's namespace."""
        device = self._of[0]
        return _bytes(vars(self).get("_kept_common"), device.xp.ndarray, {id(device)})


class _Kept(Common):
    subdomains = kept()(Common.subdomains)

    @kept()
    def levels(self, coarsest: int):
        return super().levels(coarsest)

    @kept(lambda device, dtype, coarsest: (device.backend, dtype), most=2)  # on the card and on the host
    def hierarchy(self, device, dtype: str, coarsest: int):
        return super().hierarchy(device, dtype, COARSEST)


def _bytes(value, kind: type, seen: set) -> int:
    """Return the bytes of all arrays of a kind that a value leads to, each once, but for what was seen."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, kind):
        return int(value.nbytes)
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list | tuple) else ()
    inner = inner or (vars(value).values() if hasattr(value, "__dict__") and not callable(value) else ())
    return sum(_bytes(each, kind, seen) for each in inner)
