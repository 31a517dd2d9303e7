"""Figures drawn again from stored results, without measuring anything."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence
from pathlib import Path

from repro import discovery
from repro.discovery import Artefact
from repro.measurements import Measurement
from repro.store import write_atomically


def redraw(artefact: Artefact, stored: Measurement, formats: Sequence[str], folder: Path | None = None) -> list[Path]:
    """Draw the figure of an artefact's stored results.

    Parameters
    ----------
    artefact : Artefact
    stored : Measurement
    formats : sequence of str
        Of ``repro.plots.FORMATS``.
    folder : Path, optional
        Where to write, in ``<machine>/<paper>``; by default beside the results.

    Returns
    -------
    list of Path
        The files written; none where nothing is done or the artefact has no figure.

    Raises
    ------
    ReproError
        When the artefact's module cannot be imported.
    """
    from repro import plots

    figure = discovery.load(artefact).plot(stored.results()) if stored.done else None
    if figure is None:
        return []
    target = folder / stored.machine / artefact.paper if folder else stored.csv.parent
    name = stored.csv.name.removesuffix(".csv")
    written = []
    with tempfile.TemporaryDirectory(prefix="repro-figure-") as temporary:
        for drawn in plots.save(figure, Path(temporary) / name, formats):
            written.append(target / drawn.name)
            write_atomically(written[-1], drawn.read_bytes())
    return written
