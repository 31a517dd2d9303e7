"""Every table and figure can be made up at every scale: its cells name data that there is at that scale."""

import pytest

import datasets
from repro import discovery
from repro.model import SCALES


@pytest.mark.parametrize("scale", SCALES)
def test_every_artefact_has_cells_and_their_data_at_every_scale(scale):
    lacking = []
    for artefact in discovery.find():
        cells = list(discovery.load(artefact).cells(scale))
        if not cells:
            lacking.append(artefact.id)
        for name in {name for cell in cells for name in cell.data}:
            try:
                datasets.key(name, scale)
            except datasets.MeshError as missing:
                lacking.append(f"{artefact.id}: {missing}")
    assert not lacking
