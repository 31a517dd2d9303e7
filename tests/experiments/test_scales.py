"""Every table and figure can be made up at every scale: its cells name data that there is at that scale."""

import pytest

import datasets
from experiments.remacle2016 import poisson
from repro import discovery
from repro.cache import hashing
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


def test_methods_with_a_part_on_the_processor_are_named_so():
    """By their names cells on a GPU are known to depend on the cores."""
    cells = [cell for artefact in discovery.find() for cell in discovery.load(artefact).cells("paper")]
    asked = {cell.method for cell in cells if cell.backend != "host" and "host" in cell.parameters.values()}
    asked |= {method for method, options in poisson.METHODS.items() if "host" in options.values()}
    assert len(asked) > 1 and all(hashing.ON_PROCESSOR.intersection(method.split("-")) for method in asked)
