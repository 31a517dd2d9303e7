"""Helpers of tests of tables and plots: where a cell's row stands, and what is shown of results."""

import matplotlib.figure

from repro.judge.roofs import Roofs
from repro.model import DONE, Row

DEVICE = {"device": "a device", "bandwidths": {"copy": [[1e9, 1e9]]}, "cold": {}, "rates": {}}
ROOFS = Roofs({"a device": {"gpu": True, "ceilings": DEVICE}})  # a byte takes a nanosecond


def place(artefact, cell):
    """Return the columns that name a cell."""
    return {"artefact": artefact, "scale": "smoke", "case": cell.case, "method": cell.method, "backend": cell.backend}


def rows_of(artefact, cells, status_of, made):
    """Return a row for each cell that went wrong on purpose, and for a cell that is done the rows that `made` tells."""
    rows = []
    for cell in cells:
        status, where = status_of(cell), place(artefact, cell)
        if status == DONE:
            rows += [Row(**where, device="a device", ci_low=each["value"], ci_high=each["value"], **each)
                     for each in made(cell)]  # fmt: skip
        elif status is not None:
            rows.append(Row(**where, status=status, reason=f"{status} on purpose"))
    return rows


def marks(figure):
    """Count what is drawn of ours: bars, filled marks, and the points of lines that are no published values."""
    bars = sum(patch.get_height() > 0 for axes in figure.axes for patch in axes.patches)
    points = sum(len(line.get_xdata()) for axes in figure.axes for line in axes.lines
                 if line.get_linestyle() in ("-", "None") and line.get_marker() not in ("", "None", None, "_")
                 and line.get_markerfacecolor() not in ("white", "none"))  # fmt: skip
    return bars + points


def shown(module, results, may_draw_nothing=False):
    """Return an artefact's tables as one Markdown text, and its figure, an empty one where it may draw none."""
    figure = module.plot(results)
    if figure is None and may_draw_nothing:
        figure = matplotlib.figure.Figure()
    assert isinstance(figure, matplotlib.figure.Figure)
    figure.draw_without_rendering()  # what cannot be drawn fails here
    tables = module.tables(results)
    for table in tables:
        table.to_rich()
    return "\n".join(table.to_markdown() for table in tables), figure
