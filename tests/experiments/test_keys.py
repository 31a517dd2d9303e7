"""The keys of real cells: another row of a table is no part of a cell's, and the order of cells is no part of any."""

from pathlib import Path

import pytest

from experiments.fu2014 import table2_assembly, table5_solve, table6_iteration
from experiments.geveler2011 import table3_circle
from experiments.methods import Methods, declares
from experiments.remacle2016 import table2_opencl
from experiments.wong2015 import figure3_tasks
from experiments.zhang2013 import table2_storage
from repro.cache import code
from repro.cache.keys import before, measured
from repro.run import tracing
from repro.run.context import Run

ROOT = Path(__file__).parents[2]
TABLE2, TABLE5, SOLVERS, PRODUCTS = (
    f"experiments/fu2014/{name}.py" for name in ("table2_assembly", "table5_solve", "solvers", "products")
)
BP, SLAB, STORAGE, SOLVES = (
    f"experiments/{name}.py"
    for name in ("remacle2016/bp5", "wong2015/slab", "zhang2013/table2_storage", "geveler2011/solves")
)
CHOSEN = (
    (table5_solve, "fu2014-table5", "blobs", ("cg", "numba-cg")),
    (table2_assembly, "fu2014-table2", "regular", ("atomic", "serial", "threaded")),
    (table6_iteration, "fu2014-table5", "blobs", ("product-assembled",)),  # which Table 5 measures
    (table6_iteration, "fu2014-table6", "blobs", ("patches-k2",)),
    (table2_opencl, "remacle2016-table2", "bp1-n3-8", ("bp1",)),
    (table2_opencl, "remacle2016-table2", "bp3-n3-8", ("bp3",)),
    (figure3_tasks, "wong2015-figure3", "slab-500", ("benchmark",)),
    (table2_storage, "zhang2013-table2", "tri", ("csr_vector", "sbell", "sell")),
    (table3_circle, "geveler2011-table3", "circle-l4", ("q1-xyz-spai",)),
)


@pytest.fixture(scope="module")
def every():
    """Of cells of both kinds, of which the first two are measured again last."""
    found = []
    for artefact, name, case, methods in CHOSEN:
        cells = [each for each in artefact.cells("smoke") if each.method in methods and each.case == case
                 and each.backend in ("openmp", "host")]  # fmt: skip
        assert [each.method for each in cells] == [*methods]
        found += [(name, artefact, cell) for cell in cells]
    return [(cell, _key(*each, cell)) for *each, cell in [*found, *found[:2]]]


def _key(name, artefact, cell):
    run = Run(cell, name, "smoke")
    with tracing.traced() as ran:
        artefact.measure(cell, run)
    return measured(before({}, {}, 0, {}), ran)


@pytest.fixture(scope="module")
def keys(every):
    return [(cell, key) for cell, key in every if cell.method in ("cg", "numba-cg")]


def test_a_cell_has_the_same_key_first_and_last(every):
    assert [key for _, key in every[:2]] == [key for _, key in every[-2:]]


def test_a_cell_depends_on_its_own_kernels_and_on_no_rival(keys):
    for cell, key in keys:
        rivals = {name for name in key["code"] if name.startswith("baselines/solvers/")}
        assert "baselines/solvers/petsc.py" not in rivals and code.EDITED not in key["code"].values()
        assert bool(key["kernels"]) is (cell.backend == "openmp")
        assert bool(rivals) is ("baselines/solvers/numba_cg.py" in rivals) is (cell.backend == "host")
        assert ("kernels/krylov/conjugate_gradient.c" in str(key["kernels"])) is (cell.backend == "openmp")
        shown = {name for entry in key["code"].values() if isinstance(entry, dict) for name in entry["names"]}
        assert "measure" in shown and not shown & {"tables", "plot"}


def more(method, methods="LOOPS"):
    return f'@{methods}("another")\ndef _another(run, problem):\n    pass\n\n\n@{methods}("{method}")'


@pytest.mark.parametrize(
    ("file", "old", "new", "void"),
    [
        # One more row voids nothing.
        (TABLE2, '@LOOPS("serial")', more("serial"), ()),
        (TABLE2, '    "serial": ', '    "another": "",\n    "serial": ', ()),
        (TABLE5, '"numba-cg"), (', '"numba-cg", "another"), (', ()),
        ("baselines/solvers/names.py", '"numba-cg"', '"numba-cg", "another"', ()),
        (SOLVERS, '    "jacobi-tuned": TUNED,', '    "other": JACOBI, "jacobi-tuned": TUNED,', ()),
        (PRODUCTS, '@METHODS("product-local")', '@METHODS("product-third")', ()),
        (SOLVERS, '"patches-k2": {', '"patches-k3": {"patch_radius": 3, "smoothing": 2},\n    "patches-k2": {', ()),
        (BP, '@PROBLEMS("bp1")', more("bp1", "PROBLEMS"), ()),
        (BP, '"bp1", "bp3")', '"bp1", "bp3", "another")', ()),
        (SLAB, '"benchmark-nodes")', '"benchmark-nodes", "benchmark-more-nodes")', ()),
        (STORAGE, '@OPTIONS("sell")', more("sell", "OPTIONS"), ()),
        (SOLVES, 'declares(VARIANTS, "cusparse-spai")', 'declares(VARIANTS, "another")', ()),
        (SOLVES, '{"pack": "cusparse_csr", "smoother": "spai"}', "{}", ()),
        # Code that a row runs voids its own cells.
        (BP, '"stiffness", *given', '"mass", *given', ("bp3",)),
        (SLAB, 'or "one point"', 'or "nodes"', ("benchmark",)),
        (STORAGE, '"window": rows}  #', '"window": 64}  #', ("sell",)),
        (STORAGE, '"window": rows, "size"', '"window": 64, "size"', ("sbell",)),
        (TABLE2, "mapped.prepare, threads=threads_there()", "mapped.prepare, threads=2", ("threaded",)),
        (TABLE2, '@LOOPS("threaded")', '@LOOPS("another")', ("threaded",)),
        ("baselines/assembly/mapped.py", "2.0 if k == m", "3.0 if k == m", ("threaded",)),
        ("baselines/solvers/numba_cg.py", "total = 0.0", "total = 1.0", ("numba-cg",)),
        (PRODUCTS, "csr_matrix(matrix))", "csr_matrix(matrix), block=9)", ("product-assembled",)),
        (SOLVES, '"spai": {"format": "sell",', '"spai": {"format": "csr_vector",', ("q1-xyz-spai",)),
        # Code that several run voids them all.
        (TABLE2, 'run.value("threads", threads, ', 'run.value("threads", 2, ', ("serial", "threaded")),
        (TABLE2, "run.device  # noqa", "pass  # noqa", ("atomic", "serial", "threaded")),
    ],
)  # fmt: skip
def test_a_row_voids_its_own_cells_and_no_others(every, tmp_path, file, old, new, void):
    found = {cell.method for cell, key in every if _is_void(key, tmp_path / cell.method, file, old, new)}
    assert found == {*void}


def _is_void(key, folder, file, old, new):
    """Return whether an edit changes what a key has of a copy of its code."""
    copy, text = folder / file, (ROOT / file).read_text()
    assert old in text
    stored = {name: entry for name, entry in key["code"].items() if name == file}
    copy.parent.mkdir(parents=True, exist_ok=True)  # a cell may be there twice
    copy.write_text(text)
    assert code.now(stored, folder) == stored
    copy.write_text(text.replace(old, new))
    return code.now(stored, folder) != stored


def test_a_method_has_one_function():
    methods = Methods()

    @methods("first")
    def first():
        return 1

    assert methods["first"] is first and first() == 1
    with pytest.raises(ValueError, match="'first' is declared twice"):
        methods("first")(first)


def test_settings_are_asked_of_their_function_by_who_looks():
    rows, asked = {"other": {}}, []

    @declares(rows, "first")
    def first():
        asked.append(first)
        return {"smoother": "spai"}

    assert list(rows) == ["other", "first"] and not asked
    assert "smoother" in rows["first"] and dict(rows["first"]) == {"smoother": "spai"} and len(rows["first"]) == 1
    assert asked
    with pytest.raises(ValueError, match="'first' is declared twice"):
        declares(rows, "first")(first)
