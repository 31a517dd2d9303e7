"""What tests of tables and plots share: where a cell's row stands, and what is shown of results."""

import matplotlib.figure


def place(artefact, cell):
    """Return the columns that name a cell."""
    return {"artefact": artefact, "scale": "smoke", "case": cell.case, "method": cell.method, "backend": cell.backend}


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
