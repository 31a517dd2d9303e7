"""wong2015's products: tables and figures of whole and of empty results, and runs of a few matrices."""

import csv
import dataclasses
import importlib
import io
import math
import re
import tarfile
from pathlib import Path

import matplotlib.figure
import numpy as np
import pandas
import pytest

import datasets.download
from datasets import matrices_catalogue
from experiments.wong2015 import figure12_bandwidth, products, variants
from experiments.wong2015.matrices import ANATOMY, MATRICES, OWN
from kernels import spmv
from kernels.spmv import _tuning
from repro.cli import main
from repro.model import DONE, SKIPPED, Row
from repro.rows import asked, frame
from repro.show.tables import Results, with_lines

FOLDER = Path(figure12_bandwidth.__file__).parent
MODULES = sorted(path.stem for path in FOLDER.glob("*_*.py")
                 if re.fullmatch(r"(table(2|3|4|6|7|8|9)|figure(4|1[23478]|19|2[012]))_.*", path.stem))  # fmt: skip
# Non-zeros a nanosecond: of K1 in windows, which processors alone have, more than a GPU's, to tell where it counts.
SPEED = {"k1": 3.0, "k1-window": 9.0, "k2": 4.0, "k2-window": 5.0, "cusparse_csr": 2.0, "csr_merge": 3.5}
NONZEROS = 1_000_000
UNDRAWN = re.compile(r"figure(4|14|18|19|2[012])_|table[26]_")  # where nothing was measured


def value_of(cell, metric):
    """A value of a metric such that tables can be counted by hand."""
    speed = SPEED.get(cell.method, 1.0)
    if metric.endswith("_cold"):
        speed /= 2
    if metric.startswith("spmv"):
        return NONZEROS / speed * 1e-9
    if metric == "bandwidth":
        return 20.0 * speed
    fixed = {"nonzeros": NONZEROS, "padding": 1.5, "stored": 1.5 * NONZEROS, "least_bytes": 14.0 * NONZEROS}
    return fixed.get(metric, 64.0)


PLACES = ("gpu", "cpu")


def metrics_of(cell, module):
    if module.startswith("table2"):
        return {"nonzeros": "count", "rows": "count", "bytes": "B", "row_length_min": "count",
                "row_length_max": "count", "row_length_mean": "count"}  # fmt: skip
    if module.startswith("figure4"):
        return {"rows_of_length[length=5]": "count", "rows_of_length[length=7]": "count", "rows": "count",
                **{f"row_length_{each}": "count" for each in ("min", "max", "median", "mean")}}  # fmt: skip
    if module.startswith(("table4", "figure13")):
        times = dict.fromkeys(
            ("packing", *(f"reorder[where={place}]" for place in PLACES), "product", "csr_product"), "s"
        )
        return (
            times
            | {f"break_even[where={place}]": "" for place in PLACES}
            | {f"reordering_factor[where={place}]": "x" for place in PLACES}
        )
    counts = (50,) if cell.parameters.get("variant") else (1, 50, 1200)
    found = {"nonzeros": "count", "padding": "x", "stored": "count", "least_bytes": "B"}
    for count in counts:
        found |= {f"spmv[repeats={count}]": "s", f"bandwidth[repeats={count}]": "GB/s"}
        for metric in ("block_size", "threshold", "values_per_thread", "window"):
            if "search" in cell.parameters and not cell.parameters.get("variant"):
                found[f"{metric}[repeats={count}]"] = "count"
    return found | {f"spmv_cold[repeats={counts[0]}]": "s"}


def results_of(name, status):
    module = importlib.import_module(f"experiments.wong2015.{name}")
    artefact = f"wong2015-{name.partition('_')[0]}"
    rows = []
    for cell in module.cells("paper"):
        place = {"artefact": artefact, "scale": "paper", "case": cell.case, "method": cell.method,
                 "backend": cell.backend}  # fmt: skip
        if status == SKIPPED or cell.case == OWN:
            rows.append(Row(**place, status=SKIPPED, reason="skipped on purpose"))
            continue
        for text, unit in metrics_of(cell, name).items():
            metric, own = asked(text)
            value = math.inf if (text, cell.case) == ("break_even[where=gpu]", "webbase") else value_of(cell, metric)
            rows.append(Row(**place, device="a device", metric=metric, value=value, unit=unit, parameters=own))
    return module, Results(frame([vars(row) for row in rows]), "paper", "m", artefact)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("status", [DONE, SKIPPED])
def test_tables_and_plots(name, status):
    module, results = results_of(name, status)
    tables = module.tables(results)
    text = "\n".join(table.to_markdown() for table in tables)
    drawn = module.plot(results)
    if status == SKIPPED and UNDRAWN.match(name):
        assert drawn is None, "of what nobody measured there is no picture"
    else:
        assert isinstance(drawn, matplotlib.figure.Figure)
    for table in tables:
        table.to_rich()
    if status == DONE:
        assert "Heart 3K*" in text and "stand-in for" in text, "stand-ins are said"


def test_who_is_fastest():
    module, results = results_of("figure12_bandwidth", DONE)
    tables = {table.title: table for table in module.tables(results)}
    for title in ("50 repeats", "1200 repeats", "one repeat, warm"):
        table = tables[f"K1 or K2 and the best rival, {title}"]
        assert len(table.frame) == len(MATRICES) + 1  # and an anatomy
        assert set(table.frame["Ours"]) == {"K2, sorted in windows"}
        assert set(table.frame["Best rival"]) == {"merge-path CSR"}
        assert set(table.frame["Its time over ours"]) == {"1.4"}  # 5 over 3.5
        assert table.notes[0].startswith(
            "Of 16 matrices that a library ran ours is faster than the best library on 16, and slower on 0. "
        )
        (published,) = [note for note in table.notes if note.startswith("Published: ")]
        assert published.endswith(
            " they take the least time on 15 of 15 by the medians. The intervals show it of 0."
        )  # without samples
    (cold,) = [table for title, table in tables.items() if title.startswith("K1 or K2") and "evicted" in title]
    assert not any(note.startswith("Published: ") for note in cold.notes), "the paper has no such times"
    every = tables["Every product"].frame
    row = every[(every["Method"] == "K1") & (every["Back end"] == "cuda")].iloc[0]
    assert row["20 bytes a non-zero [GB/s]"] == pytest.approx(60) and row["Least bytes [GB/s]"] == pytest.approx(42)


def test_a_processors_kernels_in_windows_count_where_no_gpu_ran():
    module, results = results_of("figure12_bandwidth", DONE)
    told = "\n".join(table.to_markdown() for table in module.tables(results))
    assert "K1, sorted in windows" not in told + module.plot(results).get_supxlabel()
    on_cores = dataclasses.replace(results, frame=results.frame[results.frame["backend"].isin(["openmp", "host"])])
    tables = {table.title: table for table in module.tables(on_cores)}
    assert set(tables["K1 or K2 and the best rival, 50 repeats"].frame["Ours"]) == {"K1, sorted in windows"}
    names = {"K1, sorted in windows", "K2, sorted in windows"}
    assert names < set(tables["Figure 12: effective bandwidth [GB/s]"].frame)
    assert products.ON_CORES in tables["Figure 12: effective bandwidth [GB/s]"].notes and products.ON_CORES not in told
    every = tables["Every product"].frame
    assert set(every[every["Method"].str.contains("windows")]["Back end"]) == {"openmp"}
    drawn = module.plot(on_cores)
    texts = [text.get_text() for axes in drawn.axes if axes.get_legend() for text in axes.get_legend().get_texts()]
    texts += [text.get_text() for legend in drawn.legends for text in legend.get_texts()]
    assert "K2, sorted in windows" in texts and "K1, sorted in windows" not in texts
    assert "in the table alone: merge-path CSR; K1, sorted in windows" in " ".join(drawn.get_supxlabel().split())


def test_windows_are_searched_for_on_cuda_and_through_c():
    cells = [cell for cell in figure12_bandwidth.cells("paper") if cell.method.endswith("-window")]
    found = {(cell.method, cell.backend, cell.parameters["form"]) for cell in cells}
    assert found == {("k1-window", "openmp", "ellwarp"), ("k2-window", "openmp", "ellwarp2"),
                     ("k2-window", "cuda", "ellwarp2")}  # fmt: skip
    assert all(cell.parameters["windows"] is True and cell.parameters["search"] == cell.parameters["form"]
               for cell in cells) and len({*cells}) == len(cells) == 3 * (len(MATRICES) + 2)  # fmt: skip


def test_a_victory_over_kernels_of_our_own_is_not_one_over_a_library():
    module, results = results_of("figure12_bandwidth", DONE)
    every = results.frame
    is_gone = (every["case"] == "qcd") & every["method"].isin(module.LIBRARIES)
    some = dataclasses.replace(results, frame=every[~is_gone])
    titled = {each.title: each.notes for each in module.tables(some)}
    notes = titled["K1 or K2 and the best rival, 50 repeats"]
    assert "Of 15 matrices that a library ran" in notes[0] and notes[1].startswith("No library ran 1 of them here")
    own = dataclasses.replace(results, frame=every[every["case"].isin(ANATOMY)])
    titled = {each.title: each.notes for each in module.tables(own)}
    assert (
        "Published: K1 or K2 is the fastest for 10 of 15 matrices." in titled["K1 or K2 and the best rival, 50 repeats"]
    )


def test_the_figure_has_each_rival_that_is_the_best_somewhere():
    module, results = results_of("figure12_bandwidth", DONE)
    drawn = module.plot(results)
    texts = [text.get_text() for legend in drawn.legends + [a.get_legend() for a in drawn.axes if a.get_legend()]
             for text in legend.get_texts()]  # fmt: skip
    assert "CSR, threads a row searched for" in texts and not any("not drawn" in text for text in texts)


@pytest.mark.parametrize("name", ["figure14_coalescing", "figure18_k1r", "figure19_k2r"])
def test_one_side_alone_is_no_comparison(name):
    module, results = results_of(name, DONE)
    methods = results.frame["method"].str.removesuffix("-uncached")
    base = dataclasses.replace(results, frame=results.frame[methods == module.METHODS[0]])
    assert module.plot(base) is None and not with_lines(module.tables(base))


def test_tables_of_dashes_alone_are_left_out():
    """As where a kernel counts and the host does not."""
    for name, wanted in (("table2_matrices", "Table 2"), ("figure4_row_lengths", "In short")):
        module, results = results_of(name, DONE)
        assert any(table.title.startswith(wanted) for table in module.tables(results))
        place = f"wong2015-{name.partition('_')[0]}", "paper", "heart-3k", "matrix", "cuda", "a device"
        rows = [Row(*place, "product", 1e-6, "s"), Row(*place, "counted", 5.0, "count")]
        counted = dataclasses.replace(results, frame=frame([row.as_dict() for row in rows]))
        titles = [table.title for table in with_lines(module.tables(counted))]
        assert titles == ["Non-zeros as a kernel counts them"]


def test_what_sorting_brings_a_matrix_that_failed_has_no_bar():
    module, results = results_of("table6_sorting", DONE)
    is_failed = (results.frame["case"] == "qcd") & (results.frame["method"] == "k1")
    drawn = module.plot(dataclasses.replace(results, frame=results.frame[~is_failed]))
    whole = [len(axes.patches) for axes in module.plot(results).axes]
    assert [len(axes.patches) for axes in drawn.axes] == [whole[0] - 1, whole[1] - 1, whole[2]]
    assert [[text.get_text() for text in axes.texts] for axes in drawn.axes] == [["–"], ["–"], []]


def test_what_sorting_brings_is_drawn_with_the_intervals_that_the_page_has():
    module, results = results_of("table6_sorting", DONE)
    ends = {"ci_low": 0.9 * results.frame["value"], "ci_high": 1.1 * results.frame["value"]}
    results = dataclasses.replace(results, frame=results.frame.assign(**ends))
    padding, *times = module.plot(results).axes
    assert not padding.containers[1:]
    for axes, uncached in zip(times, variants.CACHES, strict=True):
        (stems,) = [each for each in axes.containers if isinstance(each, matplotlib.container.ErrorbarContainer)]
        low, high = stems[2][0].get_segments()[0][:, 1]
        shown = variants.gain_text(results, "circuit", "k1", "k1-unsorted", uncached)
        assert shown.endswith(f"({low:.2g} to {high:.2g})")
        assert any(not line.get_clip_on() for line in axes.lines), "a mark of the paper's at the edge is whole"


def test_break_even_that_never_comes():
    module, results = results_of("table4_break_even", DONE)
    text = module.tables(results)[0].to_markdown()
    line = next(line for line in text.splitlines() if line.startswith("| Webbase*"))
    assert line.count("∞") == 4  # ours of K1 and K2 on the GPU, and the paper's of K1 in both places


def test_gains_of_variants(monkeypatch):
    monkeypatch.setitem(SPEED, "k1r", 1.25)
    monkeypatch.setitem(SPEED, "k1", 1.0)
    module, results = results_of("figure18_k1r", DONE)
    frame = module.tables(results)[0].frame
    cached = frame[frame["Cache"] == variants.CACHES[""]]
    assert len(cached) == 7 and set(cached["K1r faster [%]"]) == {"20"}


@pytest.fixture
def wong(bench, openmp, monkeypatch):
    # Few trials: the search has tests of its own, and each trial builds kernels.
    monkeypatch.setattr(_tuning, "BLOCKS", (64,))
    monkeypatch.setattr(_tuning, "ITEMS", (4,))
    monkeypatch.setattr(_tuning, "thresholds", lambda csr, ratio: [8])
    folder = bench.folder / "bench" / "wong2015"

    def run(artefacts, *only, options=()):
        chosen = [argument for item in only for argument in ("--only", item)]
        return bench.run(*(f"wong2015-{artefact}" for artefact in artefacts), *chosen, *options)

    def rows(artefact, suffix=".smoke"):
        with (folder / f"{artefact}{suffix}.csv").open(newline="") as stream:
            return {(row["case"], row["method"], row["backend"], row["metric"]): row for row in csv.DictReader(stream)}

    run.rows, run.folder = rows, folder
    return run


def test_products_of_a_matrix(wong):
    only = ("case=qcd", "backend=openmp", "method=k1", "method=k1r")
    assert wong(("figure12", "table3", "table4", "figure18"), *only) == 0
    rows = wong.rows("figure12")
    nonzeros = datasets.load("wong2015/qcd", "smoke").nonzeros
    found = {metric: row for (_, name, _, metric), row in rows.items() if name == "k1"}  # of one repeat
    assert float(found["nonzeros"]["value"]) == nonzeros
    seconds, rate = (float(found[metric]["value"]) for metric in ("spmv", "bandwidth"))
    assert rate == pytest.approx(20e-9 * nonzeros / seconds)
    assert float(found["spmv"]["error"]) < 1e-14
    assert float(found["block_size"]["value"]) == 64
    as_published = wong.rows("table3")["qcd", "k1", "openmp", "spmv_as_published"]
    assert as_published["p_repeats"] == "1" and float(as_published["error"]) < 1e-14
    assert float(found["stored"]["value"]) == nonzeros, "39 entries in each of 3072 rows: nothing is padded"
    with (wong.folder / "table4.smoke.csv").open(newline="") as stream:
        found = [row for row in csv.DictReader(stream) if row["method"] == "k1" and row["backend"] == "openmp"]
    times = {(row["metric"], row["p_where"]): float(row["value"]) for row in found}
    gain = times["csr_product", ""] - times["product", ""]
    expected = math.ceil(times["reorder", "gpu"] / gain) if gain > 0 else math.inf
    assert times["break_even", "gpu"] == expected
    assert times["reordering_factor", "cpu"] == pytest.approx(times["reorder", "cpu"] / times["product", ""])
    assert "K1r" in (wong.folder / "figure18.smoke.md").read_text()


def test_products_in_windows(wong, monkeypatch):
    monkeypatch.setattr(products, "WINDOWS", (64,))
    only = ("case=qcd", "case=circuit", "backend=openmp", "method=k1-window", "method=k2-window")
    assert wong(("figure12", "table3"), *only) == 0
    rows = wong.rows("figure12")
    for case in ("qcd", "circuit"):
        for method in ("k1-window", "k2-window"):
            found = {metric: row for (*cell, _, metric), row in rows.items() if cell == [case, method]}
            assert float(found["window"]["value"]) == float(found["block_size"]["value"]) == 64
            assert 0 < float(found["spmv"]["error"]) < 1e-14 and "spmv_as_published" not in found
    text = (wong.folder / "figure12.smoke.md").read_text()
    assert re.search(r"\| QCD\S* \| K1, sorted in windows \| openmp \|", text)
    assert "K2 with rows sorted within windows" in (wong.folder / "table3.smoke.md").read_text()


def test_a_wrong_kernel_fails(wong, monkeypatch):
    packed = importlib.import_module("kernels.spmv.ellwarp").Packed
    right = packed.enqueue
    monkeypatch.setattr(packed, "enqueue", lambda self, x, y, alpha, beta: right(self, x, y, 1.001 * alpha, beta))
    assert wong(("figure12",), "case=circuit", "backend=openmp", "method=k1") == 1
    (row,) = wong.rows("figure12").values()
    assert row["status"] == "failed" and float(row["error"]) == pytest.approx(1e-3, rel=0.01)


def test_a_public_matrix_is_measured_beside_its_stand_in(wong, tmp_path, monkeypatch):
    """Once `repro data build --download` has fetched it: here from a file in the collection's place."""
    circuit, rows = datasets.entry("wong2015/circuit"), 320
    entries = [(i, j) for i in range(1, rows + 1) for j in {i, 1 + i % rows, 1 + (7 * i) % rows}]
    text = f"%%MatrixMarket matrix coordinate real general\n{rows} {rows} {len(entries)}\n"
    text += "".join(f"{i} {j} {i + j / 8}\n" for i, j in entries)
    lengths = np.bincount([i for i, _ in entries])[1:]
    with tarfile.open(tmp_path / "sent.tar.gz", "w:gz") as archive:
        member = tarfile.TarInfo("scircuit/scircuit.mtx")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text.encode()))

    def sent(address, path, check):
        assert address.endswith("/Hamm/scircuit.tar.gz")
        path.write_bytes((tmp_path / "sent.tar.gz").read_bytes())
        check(path)

    counts = {"rows": rows, "nonzeros": len(entries), "row_length_min": lengths.min(), "row_length_max": lengths.max()}
    monkeypatch.setattr(circuit.recipe, "COUNTS", counts)
    monkeypatch.setattr(datasets.download, "fetch", sent)
    monkeypatch.setattr(matrices_catalogue, "PUBLIC_SCALE", "smoke")
    monkeypatch.setattr(matrices_catalogue.MatrixEntry, "public_scales", ("smoke",))
    assert main(["data", "build", "--download", "--scale", "smoke", "wong2015/circuit"]) == 0
    only = ("case=circuit", "method=k1", "method=matrix", "backend=openmp", "backend=host")
    assert wong(("table2", "figure12"), *only) == 0
    found = {metric: float(row["value"]) for (*_, metric), row in wong.rows("table2").items() if row["value"]}
    assert (found["nonzeros"], found["stand_in_nonzeros"]) == (len(entries), circuit.stand_in("smoke").nonzeros)
    row = wong.rows("figure12")["circuit", "k1", "openmp", "spmv_stand_in"]
    assert float(row["error"]) < 1e-14 and row["p_repeats"] == "1"
    text = (wong.folder / "figure12.smoke.md").read_text()
    assert re.search(r"\| Circuit \(Hamm/scircuit\) \| K1 \| openmp \|( [\d.,]+ \|){3}", text)


@pytest.mark.parametrize("scale", ["smoke", "large"])
def test_an_own_matrix_is_measured_in_every_format_that_is_here(scale):
    cells = [cell for cell in figure12_bandwidth.cells(scale) if cell.case == OWN]
    assert {cell.parameters.get("form") for cell in cells} - {None} == set(spmv.FORMATS) >= {"ellwarp", "ellwarp2"}


def timed(artefact, *times, **own):
    """Results of one matrix on a GPU by times, each a method, a metric, a value in seconds and its ends."""
    rows = [Row(f"wong2015-{artefact}", "paper", "qcd", method, "cuda", metric=metric, value=value, unit="s", n=9,
                ci_low=low, ci_high=high, parameters=own) for method, metric, value, low, high in times]  # fmt: skip
    return Results(frame([row.as_dict() for row in rows]), "paper", "m", f"wong2015-{artefact}")


def test_a_gain_is_decided_where_its_interval_excludes_none():
    own = {"repeats": products.variant_count("paper")}
    results = timed("figure18", ("k1", "spmv", 10.0, 9.9, 10.1), ("k1r", "spmv", 8.0, 7.9, 8.1), **own)
    assert variants.spread(results, "k1r", "k1") == "20 to 20 %, decided by the intervals on 1 of 1"
    assert variants.gain_text(results, "qcd", "k1r", "k1") == "20 (19 to 21)"
    results = timed("figure18", ("k1", "spmv", 10.0, 8.0, 12.0), ("k1r", "spmv", 9.5, 9.0, 10.0), **own)
    assert variants.spread(results, "k1r", "k1") == "5 to 5 %, decided by the intervals on 0 of 1"


@pytest.mark.parametrize(("high", "told"), [(11.0, "On 0 of 1 lines"), (13.0, "On 1 of 1 lines")])
def test_whether_reordering_pays_is_open_where_the_products_intervals_are(high, told):
    module = importlib.import_module("experiments.wong2015.table4_break_even")
    times = [("k1", metric, 10.0, 9.0, high) for metric in ("reorder", "product", "packing")]
    results = timed("table4", *times, ("k1", "csr_product", 12.0, 11.5, 12.5), where="gpu")
    frame_of = results.frame.assign(p_where=[None if name != "reorder" else "gpu" for name in results.frame["metric"]])
    slow = frame_of[frame_of["metric"] == "reorder"].assign(p_where="cpu")
    results = dataclasses.replace(results, frame=pandas.concat([frame_of, slow], ignore_index=True))
    assert told in "\n".join(module._times(results, {"qcd": "QCD"}).notes)
