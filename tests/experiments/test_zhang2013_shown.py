"""Tables and plots of zhang2013: results that are whole, of one back end, failed, and without any value."""

import importlib
from functools import cache
from pathlib import Path

import pandas
import pytest

from experiments.zhang2013 import figure8_formats, figure9_precision
from repro.model import COLUMNS, DONE, FAILED, Row
from repro.show.tables import Results
from tests.experiments.shown import marks, place, rows_of, shown

FOLDER = Path(__file__).parents[2] / "experiments" / "zhang2013"
MODULES = sorted(path.stem for path in FOLDER.glob("*_*.py") if not path.stem.startswith("_"))
METRICS = {
    "unknowns": 1250, "nonzeros": 21316, "nonzeros_per_unknown": 17.05, "longest_row": 18, "shortest_row": 8,
    "storage_factor": 1.25, "bytes_per_nonzero": 12.5, "packing": 0.004, "spmv": 2e-6, "spmv_cold": 4e-6,
    "rate": 21.316, "padding": 1.02, "solve": 0.5, "iterations": 100, "products": 700, "upper_bound": 1.2,
}  # fmt: skip
TIMES = ("packing", "spmv", "spmv_cold", "solve")


def show(name, status_of, backend=None):
    """Return tables as one Markdown text, and the figure, of rows whose status is `status_of(cell)` (None: not run)."""
    module = importlib.import_module(f"experiments.zhang2013.{name}")
    artefact = f"zhang2013-{name.partition('_')[0]}"

    def made(cell):
        for metric, value in METRICS.items():
            value *= 4 if metric == "solve" and cell.backend == "host" else 1
            unit = "s" if metric in TIMES else "GFLOP/s" if metric == "rate" else ""
            yield {"metric": metric, "value": value, "unit": unit}

    cells = (cell for cell in module.cells("smoke") if backend in (None, cell.backend))
    rows = rows_of(artefact, cells, status_of, made)
    frame = pandas.DataFrame([vars(row) for row in rows], columns=list(COLUMNS))
    return shown(module, Results(frame, "smoke", "m", artefact))


@cache
def whole(name, backend=None):
    """Return what is shown of an artefact whose cells are all done, by every back end or by one."""
    return show(name, lambda cell: DONE, backend)


@pytest.mark.parametrize("name", MODULES)
@pytest.mark.parametrize("status", [FAILED, None])
def test_without_a_value(name, status):
    _, figure = show(name, lambda cell: status)
    assert marks(figure) == 0


@pytest.mark.parametrize("name", MODULES)
def test_whole(name):
    text, figure = whole(name)
    assert marks(figure) >= 8 and "nan" not in text.lower()
    if not name.startswith(("table3", "table4")):
        assert all(f"| {mesh}" in text for mesh in ("quad", "hex"))


@pytest.mark.parametrize("backend", ["cuda"])
@pytest.mark.parametrize("name", MODULES)
def test_of_one_back_end(name, backend):
    whole(name, backend)


def line_of(text, start):
    return [part.strip() for part in next(line for line in text.splitlines() if line.startswith(start)).split("|")]


def test_storage_factors():
    text, _ = whole("table2_storage", "cuda")
    assert line_of(text, "| quad")[2] == "1.25"


def test_iterations_stand_beside_the_papers():
    text, _ = whole("table3_iterations")
    printed = {"Neumann": "1321", "L-S": "898", "Chebyshev": "1176"}
    for name, number in printed.items():
        cells = line_of(text, f"| {name} |")
        assert cells[2] == "100" and cells[3].replace(",", "") == number


def test_times_stand_beside_the_papers():
    text, _ = whole("table4_times")
    assert line_of(text, "| L-S |")[2:4] == ["2.00", "68.75"]
    text, _ = whole("table5_jacobi")
    assert line_of(text, "| quad")[2:6] == ["2.00", "64.92", "2.00", "65.33"]


def test_speed_ups_are_the_hosts_time_over_the_devices():
    text, _ = whole("figure10_speedups")
    assert set(line_of(text, "| hex")[2:-1]) == {"4.0"}


def test_sbell_is_compared_with_sell_and_cusparse():
    text, _ = whole("figure8_formats")
    statement = text[text.index("SBELL beside the numbers") :]
    quad = line_of(statement, "| quad")
    assert quad[2:4] == ["21.3", "3.52"] and quad[4:6] == ["0", "23.78"] and quad[6:8] == ["1.00", "5.52"]


@pytest.mark.parametrize("is_disturbed", [False, True])
def test_a_rivals_time_over_ours_has_its_interval_and_tells_that_it_was_disturbed(is_disturbed):
    times, rival = {"sell": (2e-6, "cuda"), "mkl_csr": (4e-6, "host")}, ("quad", "mkl_csr", "host")
    rows = [Row(**place("zhang2013-figure8", cell), metric="spmv", value=seconds, unit="s", n=9,
                ci_low=0.9 * seconds, ci_high=1.1 * seconds)
            for cell in figure8_formats.cells("smoke") if cell.case == "quad" and cell.method in times
            for seconds, backend in [times[cell.method]] if cell.backend == backend]  # fmt: skip
    frame = pandas.DataFrame([row.as_dict() for row in rows], columns=list(COLUMNS))
    found = Results(frame, "smoke", "m", "zhang2013-figure8", disturbed=frozenset([rival] * is_disturbed))
    tables = {table.title: table for table in figure8_formats.tables(found)}
    table = tables["Our best and the best rival, warm"]
    line = table.frame.set_index("Matrix").loc["quad"]
    assert line["Best rival"] == "mkl_csr (host)" + ", disturbed" * is_disturbed
    assert line["Its time over ours"].startswith("2.0 (1.") and bool(table.notes) == is_disturbed


@pytest.mark.parametrize(("text", "told"), [('"""My format."""', ["`mine`: My format."]), ("import nothing_here", [])])
def test_a_format_is_told_by_its_docstring_alone_and_may_have_none(tmp_path, monkeypatch, text, told):
    (tmp_path / "mine.py").write_text(text)
    monkeypatch.setattr(figure8_formats.spmv, "FORMATS", ("mine",))
    monkeypatch.setattr(figure8_formats.spmv, "__file__", str(tmp_path / "__init__.py"))
    assert figure8_formats._meanings({"mine"}) == told


def test_formats_that_the_figure_leaves_out_are_named_and_sbell_with_16_bit_columns_is_none():
    made = whole("figure8_formats", "cuda")[1]
    _, left = " ".join(made.get_supxlabel().split()).split("in the tables alone: ")
    drawn = [text.get_text() for axes in made.axes for text in axes.get_legend().get_texts()]
    assert "SBELL, 16-bit columns" in drawn and "sbell16" not in left
    assert {"coo", "sbell", "cusparse_bsr"} < {*left.split(", ")}
    both = " ".join(whole("figure8_formats")[1].get_supxlabel().split())
    gpu, processor = both.split("in the tables alone: ")[1].split("; in the tables of the processor alone: ")
    assert "sell" in gpu.split(", ") and "sell" not in processor.split(", ")


def test_shares_of_double_precision():
    text, _ = whole("figure9_precision", "cuda")
    hexa = line_of(text, "| hex")
    assert hexa[5] == "100" and hexa[-2] == "51.1"


def test_libraries_in_single_precision_stand_beside_ours_on_the_same_device():
    seconds = {("single", "cuda"): 1e-6, ("single", "opencl"): 3e-6, ("single", "openmp"): 8e-6,
               ("single-global", "cuda"): 0.5e-6, ("cusparse_bsr-single", "cuda"): 2e-6,
               ("mkl_bsr-single", "host"): 4e-6}  # fmt: skip
    rows = []
    for cell in figure9_precision.cells("smoke"):
        time = seconds.get((cell.method, cell.backend))
        if time and cell.case == "quad":
            where = place("zhang2013-figure9", cell)
            rows += [Row(**where, metric="spmv", value=time, unit="s"), Row(**where, metric="nonzeros", value=6e3)]
    frame = pandas.DataFrame([row.as_dict() for row in rows], columns=list(COLUMNS))
    results = Results(frame, "smoke", "m", "zhang2013-figure9")
    found = {table.title: table for table in figure9_precision.tables(results)}
    libraries = found["Libraries in single precision"]
    assert libraries.frame["Library"].tolist() == ["cuSPARSE's BSR", "MKL's BSR"]
    assert libraries.frame["Rate [GFLOP/s]"].tolist() == pytest.approx([6, 3])
    assert libraries.frame["Its time over ours"].tolist() == pytest.approx([2, 0.5])
    assert "double precision are Figure 8's" in libraries.notes[0]
    assert all("host" not in table.frame["Back end"].tolist() for table in found.values() if table is not libraries)


def test_figure_9_has_each_library_of_figure_8_in_single_precision():
    """Python's libraries are left out; the others get blocks and sorted rows where figure 8 gives them."""
    double, single = ({cell.method: cell for cell in module.cells("smoke") if "rival" in cell.parameters}
                      for module in (figure8_formats, figure9_precision))  # fmt: skip
    wanted = {name for name in double if name.startswith(("cusparse", "mkl"))}
    assert single.keys() == {f"{name}-single" for name in wanted} and len(wanted) == 6
    for name in wanted:
        assert single[f"{name}-single"].parameters == double[name].parameters | {"dtype": "float32"}
        assert single[f"{name}-single"].backend == ("host" if "mkl" in name else "cuda")


def test_times_say_by_which_bound_of_the_spectrum_they_are():
    text, _ = whole("table4_times")
    safeguard, row_sum, tight, _, on_device, _ = text.split("**Table 4")[1:]
    assert "- The spectrum ends at the largest Ritz value of 10 Lanczos steps" in safeguard
    assert "- Bounds of the spectrum from 20 Lanczos steps" in tight and "`order-2` on host" in tight
    assert all("- The spectrum ends at the largest row sum" in part for part in (row_sum, on_device))
    assert "`order-2-row-sum-double` on host" in row_sum and "`order-2-row-sum` on cuda" in on_device
    assert all(line_of(part, "| L-S |")[3] == "68.75" for part in (safeguard, row_sum, tight))
    text, _ = show("table4_times", lambda cell: DONE, backend="host")
    assert text.count("**Table 4") == 3


def test_times_of_a_device_alone_stand_beside_the_papers():
    _, figure = whole("table4_times", "cuda")
    (axes,) = figure.axes
    assert "the paper's on its CPU" in axes.get_ylabel().replace("\n", " ")
    printed = [line for line in axes.lines if line.get_markerfacecolor() == "none" and len(line.get_xdata()) == 5]
    assert len(printed) == 3 and axes.get_yscale() == "log"


def test_jacobis_time_alone_makes_no_panel_of_the_host_and_has_its_interval():
    text, figure = show("table4_times", lambda cell: DONE if cell.backend == "cuda" or cell.case == "jacobi" else None)
    assert len(figure.axes) == 1
    assert "Jacobi's preconditioner takes 2.00 s (2.00 to 2.00) on the host, 64.92 s in the paper." in text


def test_a_bound_that_the_host_did_not_solve_by_has_no_panel():
    def measured(cell):
        return DONE if cell.backend == "cuda" or "safeguard" in cell.method else None

    _, figure = show("table4_times", measured)
    assert [axes.get_title() for axes in figure.axes] == 2 * ["Lanczos and safeguard"]


def test_a_device_that_solved_by_other_bounds_alone_has_no_panel():
    def measured(cell):
        is_there = "row-sum" in cell.method if cell.backend == "cuda" else "safeguard" in cell.method
        return DONE if is_there else None

    _, figure = show("table4_times", measured)
    assert [axes.get_ylabel() for axes in figure.axes] == ["Time on the CPU [s]"]
    _, figure = show("table4_times", lambda cell: DONE if cell.backend == "cuda" and measured(cell) else None)
    assert len(figure.axes) == 3, "where no panel has a time, the host's are drawn to say that it is not measured"


def test_meshes_without_a_time_of_one_thread_are_named_below_the_speed_ups():
    def measured(cell):
        return DONE if cell.backend != "host" or cell.case in ("quad", "hex") else None

    _, figure = show("figure10_speedups", measured)
    caption = " ".join(figure.get_supxlabel().split())
    assert "no time of one thread: tri (stand-in), tet (stand-in)" in caption
    assert figure.axes[0].get_ylim()[0] <= 1, "the paper's ranges are cut"
    assert "no time" not in whole("figure10_speedups")[1].get_supxlabel()
