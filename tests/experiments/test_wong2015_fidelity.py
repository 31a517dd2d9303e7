"""Nearness of wong2015's matrices to the paper's: facts by hand, and verdicts on what is known of the public ones."""

from types import SimpleNamespace

import numpy as np
import pytest
import scipy.sparse

import datasets
from datasets import matrices_catalogue
from experiments.wong2015 import fidelity, matrices

KNOWN = {
    "rows": 525_825.0, "nonzeros": 2_100_225.0, "row_length_min": 2.0, "row_length_max": 4.0, "empty_rows": 0.0,
    "row_length_deviation": 0.08, "single_rows": 0.0, "pattern_symmetry": 0.0, "padding_saved": 0.1445,
}  # fmt: skip


def test_facts_of_a_matrix_that_can_be_counted_by_hand():
    matrix = scipy.sparse.lil_array((64, 64))
    matrix[0, 5], matrix[5, 0], matrix[40, :4], matrix[63, 63] = 1, 1, 1, 1
    found = fidelity.facts(scipy.sparse.csr_array(matrix))
    assert (found["nonzeros"], found["row_length_min"], found["row_length_max"], found["empty_rows"]) == (7, 1, 4, 60)
    assert found["pattern_symmetry"] == pytest.approx(2 / 6) and found["bandwidth"] == 40 and found["single_rows"] == 3
    assert found["profile"] == pytest.approx((0 + 5 + 40 + 0) / 64)
    # A warp of one and one of four entries, against both of four and of none: sorting saves one of five columns.
    assert found["padding_saved"] == pytest.approx(20)
    assert fidelity.facts(scipy.sparse.csr_array(np.eye(32)))["pattern_symmetry"] == 1


def test_a_matrix_is_exact_only_where_all_that_is_known_holds():
    assert fidelity.verdict("epidemiology", KNOWN) == fidelity.EXACT
    assert fidelity.misses("epidemiology", KNOWN | {"padding_saved": 0.096}) == ["padding_saved"]
    assert fidelity.verdict("epidemiology", KNOWN | {"nonzeros": 2_100_224.0}) == fidelity.UNLIKE


def test_where_nothing_is_known_of_neighbours_a_matrix_does_not_resemble():
    table = fidelity.known("webbase")
    assert fidelity.verdict("webbase", table | {"padding_saved": 90.0}) == fidelity.UNLIKE
    circuit = fidelity.known("circuit")
    assert fidelity.verdict("circuit", circuit | {"empty_rows": 0.0}) == fidelity.RESEMBLES
    assert fidelity.verdict("circuit", circuit | {"padding_saved": 85.9}) == fidelity.UNLIKE


def test_an_anatomy_is_held_to_the_heart_of_its_size():
    assert fidelity.known("anatomy-30k") == fidelity.known("heart-30k")


def test_a_matrix_that_was_downloaded_is_called_by_its_name_in_the_collection(monkeypatch):
    results = SimpleNamespace(overrides={}, scale="paper", cases=["circuit"], done={"case": ["circuit"]})
    assert matrices.named(results) == {"circuit": "Circuit*"}
    monkeypatch.setattr(matrices_catalogue.MatrixEntry, "is_public", lambda self, scale: True)
    assert matrices.named(results) == {"circuit": "Circuit (Hamm/scircuit)"} and not matrices.marks(results)


def test_beside_the_matrix_itself_its_stand_in_is_held_to_it():
    lengths = scipy.sparse.csr_array(np.tril(np.ones((64, 64))))
    itself, rows = fidelity.facts(lengths), []
    values = itself | {f"{fidelity.BESIDE}{name}": value for name, value in itself.items()}
    results = SimpleNamespace(overrides={}, scale="paper", cases=["circuit"], done={"case": ["circuit"]},
                              value=lambda case, method, fact: values.get(fact))  # fmt: skip
    for changed, said in (({}, fidelity.RESEMBLES), ({"empty_rows": 3.0, "profile": 1.0}, fidelity.UNLIKE)):
        values |= {fidelity.BESIDE + name: value for name, value in changed.items()}
        rows = fidelity.table(results)[0].frame.to_dict("records")
        assert [row["Verdict"] for row in rows] == [fidelity.ITSELF, said]
    assert rows[1]["Why not"] == "empty rows"


def test_an_anatomy_that_was_downloaded_stands_for_itself(monkeypatch):
    (name,) = matrices.data("anatomy-30k")
    monkeypatch.setattr(type(datasets.entry(name)), "is_public", lambda entry, scale: True)
    run = SimpleNamespace(cell=SimpleNamespace(data=(name,)), overrides={}, scale="paper")
    assert matrices.stand_in(run) is None
