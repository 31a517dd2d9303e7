"""The search for parameters: what it tries, that its result is kept, and what it is kept by."""

import itertools

import numpy as np
import pytest

from kernels import spmv
from kernels.spmv import _tuning
from tests.kernels.spmv.conftest import MATRICES, with_lengths
from tests.kernels.spmv.test_formats import check


@pytest.fixture(autouse=True)
def kept_apart(tmp_path, monkeypatch):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))


@pytest.mark.parametrize("name", ["ellwarp", "ellwarp2", "csr_merge", "sell"])
@pytest.mark.parametrize("repeats", [1, 60])
def test_what_is_found_packs_the_matrix(name, device, repeats, monkeypatch):
    monkeypatch.setattr(_tuning, "LONGEST", {True: 0.001, False: 0.0002})
    matrix = MATRICES["ragged"]()
    options = spmv.tuned(name, device, matrix, repeats=repeats)
    found = {"ellwarp": {"block"}, "ellwarp2": {"block", "threshold"}, "csr_merge": {"items"}, "sell": {"walkers"}}
    assert set(options) == found[name]
    check(spmv.pack(name, device, matrix, **options), matrix)


def test_the_fastest_is_kept_by_matrix_and_device(device, monkeypatch):
    asked = []

    def seconds(device, packed, repeats):
        asked.append(packed.block)
        return abs(packed.block - 129)

    monkeypatch.setattr(_tuning, "_seconds", seconds)
    matrix = MATRICES["ragged"]()
    assert spmv.tuned("ellwarp", device, matrix, windows=(None, 64)) == {"block": 128}
    first = len(asked)
    assert first == 2 + 2 * (8 if device.is_gpu else 3), "both windows, then both with every block size"
    matrix.data = matrix.data + 1.0
    assert spmv.tuned("ellwarp", device, matrix, windows=(None, 64)) == {"block": 128}
    assert len(asked) == first, "new values in the same structure search nothing"
    other = with_lengths(np.diff(matrix.indptr), matrix.shape[1], seed=9)
    for given, options in ((other, {"windows": (None, 64)}), (matrix, {}), (matrix, {"dtype": "float32"}),
                           (matrix, {"repeats": 1})):  # fmt: skip
        before = len(asked)
        spmv.tuned("ellwarp", device, given, **options)
        assert len(asked) > before


def test_other_kernels_drivers_and_cores_are_searched_anew(device, monkeypatch):
    asked = []
    monkeypatch.setattr(_tuning, "_seconds", lambda device, packed, repeats: asked.append(packed.block) or 1.0)
    matrix = MATRICES["ragged"]()
    spmv.tuned("ellwarp", device, matrix)
    first = len(asked)
    spmv.tuned("ellwarp", device, matrix)
    assert len(asked) == first
    for owner, name, value in ((device, "details", {**device.details, "driver": "next year's"}),
                               (device, "compute_units", device.compute_units + 1),
                               (_tuning, "_sources", lambda: "a faster kernel")):  # fmt: skip
        monkeypatch.setattr(owner, name, value)
        before = len(asked)
        spmv.tuned("ellwarp", device, matrix)
        assert len(asked) == before + first


def test_the_digest_of_sources_follows_each_of_them(tmp_path, monkeypatch):
    (tmp_path / "_tuning.py").write_text("search")
    (tmp_path / "sell.cu").write_text("kernel")
    monkeypatch.setattr(_tuning, "__file__", str(tmp_path / "_tuning.py"))
    found = []
    for name, text in (("sell.cu", "kernel"), ("sell.cu", "faster"), ("_tuning.py", "more"), ("ell.c", "new")):
        (tmp_path / name).write_text(text)
        _tuning._sources.cache_clear()
        found.append(_tuning._sources())
    _tuning._sources.cache_clear()
    assert len(set(found)) == 4


def test_many_repeats_are_for_finalists(device, monkeypatch):
    asked = []
    monkeypatch.setattr(_tuning, "_seconds", lambda device, packed, repeats: asked.append(repeats) or len(asked))
    spmv.tuned("csr_merge", device, MATRICES["ragged"](), repeats=1200)
    tried = len(_tuning.ITEMS) if device.is_gpu else len(_tuning.ITEMS[::3])
    assert asked.count(1200) == min(_tuning.FINALISTS[device.is_gpu], tried) and asked.count(50) == tried
    asked.clear()
    spmv.tuned("csr_merge", device, MATRICES["ragged"](), repeats=1)
    assert asked.count(1) == min(_tuning.FINALISTS[device.is_gpu], tried) and asked.count(50) == 0, (
        "what was searched at 50 is kept"
    )


def test_thresholds_end_at_the_longest_row(device):
    for longest in (1, 2, 3, 24, 81, 4700):
        csr = spmv.canonical(device, with_lengths([longest, 1], longest))
        for ratio in (1.5, 2, 4):
            found = _tuning.thresholds(csr, ratio)
            assert found == sorted(set(found)) and found[0] == 1 and found[-1] == longest
            assert all(b <= max(a + 1, ratio * a + 1) for a, b in itertools.pairwise(found))
