"""Every table and figure can be made up at every scale: its cells name data that there is at that scale."""

import pytest

import datasets
from experiments.remacle2016 import poisson
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


@pytest.mark.parametrize("scale", SCALES)
def test_every_artefact_runs_kernels_without_a_gpu_at_every_scale(scale):
    cells = {artefact.id: discovery.load(artefact).cells(scale) for artefact in discovery.find()}
    assert len(cells) == 52 and [name for name, of in cells.items() if "openmp" not in {c.backend for c in of}] == []


def test_cells_on_a_gpu_with_a_part_on_the_processor_depend_on_its_cores():
    cells = [cell for artefact in discovery.find() for cell in discovery.load(artefact).cells("paper")]
    on_host = {method for method, options in poisson.METHODS.items() if "host" in options.values()}
    asked = [
        cell
        for cell in cells
        if cell.backend == "cuda" and (cell.method in on_host or "host" in cell.parameters.values())
    ]
    assert len({cell.method for cell in asked}) > 1 and all("cores" in cell.uses for cell in asked)
