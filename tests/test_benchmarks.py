"""asv's benchmarks: every family of kernels has some, the quick set names ones that exist, and each class works."""

import importlib
import itertools
import pkgutil
import re
from pathlib import Path
from types import SimpleNamespace

import matplotlib.colors
import pytest

import benchmarks

ROOT = Path(__file__).resolve().parents[1]
NOT_FOLLOWED = {"device", "stream"}  # what launches kernels, and the probes of the machine's ceilings


def classes():
    for found in pkgutil.iter_modules(benchmarks.__path__):
        module = importlib.import_module(f"benchmarks.{found.name}")
        for name, value in vars(module).items():
            if isinstance(value, type) and value.__module__ == module.__name__ and hasattr(value, "params"):
                yield f"{found.name}.{name}", value


CLASSES = dict(classes())


def combinations(made):
    """Of a class, by asv's own names."""
    parameters = made.params if isinstance(made.params[0], tuple | list) else (made.params,)
    return list(itertools.product(*parameters))


def names():
    for name, made in CLASSES.items():
        for method in filter(lambda method: method.startswith("track_"), dir(made)):
            for combination in combinations(made):
                yield f"{name}.{method}({', '.join(map(repr, combination))})"


def test_the_quick_set_exists_and_is_quick():
    known = list(names())
    counts = {pattern: sum(bool(re.search(pattern, name)) for name in known) for pattern in benchmarks.QUICK}
    assert min(counts.values()) > 0, counts
    assert sum(counts.values()) < 100, counts  # a few seconds each, the third on CUDA often not there


def test_every_family_of_kernels_is_followed():
    families = {path.parent.name for path in (ROOT / "kernels").glob("*/__init__.py")} - NOT_FOLLOWED
    imported = set()
    for path in (ROOT / "benchmarks").glob("*.py"):
        imported |= set(re.findall(r"kernels(?:\.| import )(\w+)", path.read_text()))
    # Conjugate gradients are what the solvers solve with, and `amg` comes by way of the experiments' own class.
    assert not families - imported - {"krylov", "amg"} and "solvers.Multigrid" in CLASSES


@pytest.mark.parametrize("name", CLASSES)
def test_a_benchmark_of_each_class_works(name, repro_cache, monkeypatch):
    """The first combination that this machine has, on the smallest data: times are samples, all else is a number."""
    made = CLASSES[name]
    for module in {importlib.import_module(each.__module__) for each in CLASSES.values()}:
        for setting, least in {"SECONDS": 0.01, "SCALE": "smoke"}.items():
            if hasattr(module, setting):
                monkeypatch.setattr(module, setting, least)
    for combination in combinations(made):
        if "cuda" in combination or "hypre" in str(combination[0]):
            continue
        benchmark = made()
        try:
            benchmark.setup(*combination)
        except NotImplementedError:
            continue
        for method in filter(lambda method: method.startswith("track_"), dir(made)):
            found = getattr(benchmark, method)(*combination)
            values = found["samples"] if isinstance(found, dict) else [found]
            assert values and not any(value < 0 for value in values), (method, found)  # NaN: a method without lists
            assert not isinstance(found, dict) or getattr(made, method).unit == "seconds", method
        getattr(benchmark, "teardown", lambda *_: None)(*combination)
        return
    pytest.fail("no combination of its parameters can be run here")


@pytest.mark.parametrize(
    ("own", "there", "told"), [(16, 64, ", 2 threads on 16 of 64 cores, "), (16, 16, ", 2 threads, ")]
)
def test_a_heading_says_when_a_part_of_the_cores_is_used(own, there, told, monkeypatch):
    from benchmarks import spmv

    monkeypatch.setattr(spmv.machine, "cores", lambda: own)
    monkeypatch.setattr(spmv.os, "cpu_count", lambda: there)
    assert f"one{told}" in spmv.heading(SimpleNamespace(name="one", compute_units=2))


@pytest.mark.parametrize(("what", "entries", "across"), [("sell", 27, 26), ("sell-7", 7, 2 * 23**2)])
def test_a_matrix_that_is_streamed_has_short_rows_or_longer_ones(what, entries, across, monkeypatch):
    from benchmarks import spmv

    kept, pack = [], spmv.spmv.pack
    monkeypatch.setattr(spmv.spmv, "pack", lambda form, opened, csr: kept.append(csr) or pack(form, opened, csr))
    launch, moved = spmv.streaming(spmv.device("openmp"), what, 1 << 20)
    (csr,) = kept
    lengths = csr.indptr[1:] - csr.indptr[:-1]
    middle = csr.shape[0] // 2
    columns = csr.indices[csr.indptr[middle] : csr.indptr[middle + 1]]
    assert lengths.max() == lengths[middle] == entries and columns.max() - columns.min() == across
    assert moved == pytest.approx((12 * entries + 16) * csr.shape[0], rel=0.1) and 12 * csr.nnz <= 1 << 20
    launch()


def test_scaling_says_where_the_read_is_saturated_and_draws_it(tmp_path, monkeypatch, capsys):
    from benchmarks import scaling

    rows = [(what, count, rate, 0.9 * rate, rate) for what in scaling.WHATS
            for count, rate in ((1, 10.0), (2, 19.5), (4, 20.0))]  # fmt: skip
    assert scaling.saturation(rows) == (2, 20.0)
    monkeypatch.setattr(scaling, "measured", lambda opened, size_bytes: iter(rows))
    scaling.main(tmp_path)
    first = capsys.readouterr().out.splitlines()[0]
    assert first.startswith(scaling.spmv.heading(scaling.spmv.device("openmp"))) and "OMP_PLACES " in first
    assert "sell-7" in scaling.WHATS
    assert (tmp_path / "scaling.png").stat().st_size > 10_000
    assert (tmp_path / "scaling.csv").read_text().splitlines()[2] == "read,2,19.5,17.55,19.5"
    (axes,) = scaling.drawn(rows, "").axes
    bars = {bar.get_label(): bar for bar in axes.containers}
    assert list(bars) == ["read", "csr_vector", "sell", "csr_vector, 7 diagonals", "sell, 7 diagonals"]
    for line, _, (reach,) in bars.values():  # a bar has its line's colour, which a picture of few colours keeps
        assert (reach.get_colors()[0] == matplotlib.colors.to_rgba(line.get_color())).all()
        assert reach.get_segments()[1][:, 1].tolist() == [17.55, 19.5]
