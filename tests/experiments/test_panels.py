"""Panels of one quantity, as the figures of stored results have them."""

from pathlib import Path

import pytest

from repro import discovery
from repro.show.measurements import measurements

RESULTS = Path(__file__).resolve().parents[2] / "results"


@pytest.mark.parametrize(
    ("name", "quantity", "panels"),
    [
        ("geveler2011-table2", "Rate on", 2), ("geveler2011-table3", "Time to solve", 2),
        ("remacle2016-table1", "Iterations", 3), ("wong2015-table6", "Time saved", 2),
    ],
)  # fmt: skip
def test_panels_of_one_quantity_have_one_axis(name, quantity, panels):
    (artefact,) = discovery.select([name])
    (stored,) = (each for each in measurements([RESULTS], [name]) if (each.machine, each.scale) == ("h200", "paper"))
    drawn = discovery.load(artefact).plot(stored.results()).axes
    alike = [axes for axes in drawn if axes.get_ylabel().startswith(quantity)]
    assert len(alike) == panels and len({(axes.get_yscale(), axes.get_ylim()) for axes in alike}) == 1
