"""remacle2016 from the command line: the operator's tables, a kernel that is wrong, the pictures of the meshes."""

import numpy as np
import pandas
import pytest

import datasets
from experiments.remacle2016 import (
    bp5,
    figure3_meshes,
    figure4_rod,
    products,
    rivals,
    rod,
    solves,
    table2_opencl,
    table3_cuda,
    table4_heat,
)
from kernels.device import Unavailable, open_device
from kernels.sem.stiffness import Operator
from repro.model import Row
from repro.show.looks import colour
from repro.show.results import Results


@pytest.fixture
def rows(bench):
    return lambda artefact, mesh="": bench.rows(f"{artefact}.smoke{mesh}.csv", "remacle2016")


def test_rates_follow_from_the_papers_counts(bench, rows, openmp):
    """By hand for n = 2 on 8³ elements: O_R = 12·81 + 18·27, B_R = 10·27 + 9 + 2 or 3·27 + 9 + 2 floats an element."""
    assert bench.run("remacle2016-table2", "--only", "case=n2", "--only", "backend=openmp") == 0
    found = {(row["method"], row["metric"]): row for row in rows("table2")}
    assert {method for method, _ in found} == {*products.METHODS, *solves.METHODS}
    fine = {metric: float(row["value"]) for (name, metric), row in found.items() if name == "solve-trilinear"}
    # O_P = 6·625 + 15·125 and B_P = 4 (3·125 + 4·25) an element
    assert fine["flop_rate_fine"] == pytest.approx(512 * 5625 / fine["fine"] / 1e9)
    assert fine["bandwidth_fine"] == pytest.approx(512 * 1900 / fine["fine"] / 1e9)
    assert fine["wall"] > 0 and 3 <= fine["iterations"] < fine["iterations_tight"] < 30
    for method, numbers, size in (("stored", 281, 4), ("trilinear", 92, 4), ("stored-fp64", 281, 8)):
        value = {metric: float(row["value"]) for (name, metric), row in found.items() if name == method}
        assert value["nodes"] == 17**3
        seconds = value["local"]
        assert value["flop_rate"] == pytest.approx(512 * 1458 / seconds / 1e9)
        assert value["bandwidth"] == pytest.approx(512 * numbers * size / seconds / 1e9)
        assert value["flop_rate_with_geometry"] == pytest.approx(512 * (1458 + 242 * 27) / seconds / 1e9)
        assert value["node_rate"] == pytest.approx(17**3 / seconds / 1e9)
        assert float(found[method, "local"]["error"]) < (1e-12 if size == 8 else 1e-5)
    text = (bench.folder / "bench" / "remacle2016" / "table2.smoke.md").read_text()
    assert "| 2 | 0.00491 | 0.27 |" in text and "recomputed from the vertices" in text


def test_a_wrong_kernel_fails(bench, rows, openmp, monkeypatch):
    right = Operator.apply_local

    def wrong(self, x, y):
        right(self, x, y)
        self.device.fill(y[:3] if self.device.backend != "opencl" else y, 1.0)

    monkeypatch.setattr(Operator, "apply_local", wrong)
    only = ("case=n2", "backend=openmp", "method=stored")
    assert bench.run("remacle2016-table2", *(word for each in only for word in ("--only", each))) == 1
    assert {row["status"] for row in rows("table2")} == {"failed"}


def test_cuda_is_skipped_where_it_is_not(bench, rows):
    try:
        open_device("cuda")
    except Unavailable:
        assert bench.run("remacle2016-table3", "--backend", "cuda") == 0
        assert {row["status"] for row in rows("table3") if row["backend"] == "cuda"} == {"skipped"}
    on_cuda, on_c = ([c for c in table3_cuda.cells("paper") if c.backend == each] for each in ("cuda", "openmp"))
    assert set(on_c) <= set(table2_opencl.cells("paper"))  # which measures them for both
    sizes = len(bp5.METHODS) * sum(map(len, bp5.SIZES["paper"].values()))
    libraries = len(rivals.ASSEMBLED["paper"]) + 6
    assert len(on_cuda) - libraries == len(on_c) == 6 * len(products.METHODS) + 6 * len(solves.METHODS) + sizes


def test_what_does_not_fit_into_memory_is_skipped(bench, rows, openmp, monkeypatch):
    monkeypatch.setattr(products, "SETUP_BYTES", dict.fromkeys(products.SETUP_BYTES, (1e12, 1e12, 1e12)))
    for table, case in (
        ("table2", "n2"), ("table2", "bp5-n3-8"), ("table1", "mesh1-8"), ("table4", "n2"), ("figure4", "rod"),
    ):  # fmt: skip
        assert bench.run(f"remacle2016-{table}", "--only", f"case={case}", "--only", "backend=openmp") == 0
        found = rows(table)
        assert {row["status"] for row in found} == {"skipped"}
        assert any("the set-up" in row["reason"] for row in found)


def test_a_users_own_hexahedra(bench, rows, openmp, tmp_path):
    """Half of the elements turned, vertices renumbered: as many iterations as the same mesh in its natural order."""
    import meshio

    mesh, only = datasets.load("remacle2016/mesh2-8", "smoke"), ("case=mesh2-8", "method=fine", "backend=openmp")
    only = [word for each in only for word in ("--only", each)]
    assert bench.run("remacle2016-table1", *only) == 0
    own, random = tmp_path / "own.vtu", np.random.default_rng(0)
    number = random.permutation(len(mesh.points))
    points, cells = np.empty_like(mesh.points), number[mesh.cells]
    points[number] = mesh.points
    turned = random.random(len(cells)) < 0.5
    cells[turned] = cells[turned][:, [3, 2, 6, 7, 0, 1, 5, 4]]
    meshio.Mesh(points, [("hexahedron", cells)]).write(own)
    iterations = [row["value"] for row in rows("table1") if row["metric"] == "iterations"]
    assert bench.run("remacle2016-table1", *only, "--mesh", f"remacle2016/mesh2-8={own}") == 0
    (table,) = (bench.folder / "bench" / "remacle2016").glob("table1.smoke.own-vtu-*.csv")
    found = rows("table1", table.stem.removeprefix("table1.smoke"))
    assert [row["value"] for row in found if row["metric"] == "iterations"] == iterations != []
    assert "Mesh 2 (own.vtu), 8³" in table.with_suffix(".md").read_text()


def test_meshes_are_drawn(bench, rows, monkeypatch):
    monkeypatch.setattr(figure3_meshes, "PIXELS", 300)
    assert bench.run("remacle2016-figure3", "--backend", "host") == 0
    found = {(row["case"], row["metric"]): float(row["value"]) for row in rows("figure3")}
    assert [found[mesh, "elements"] for mesh in ("mesh1", "mesh2", "mesh3")] == [512] * 3
    shape = [found[mesh, "scaled_jacobian_mean"] for mesh in ("mesh1", "mesh2", "mesh3")]
    assert shape == sorted(shape, reverse=True)
    folder = bench.folder / "bench" / "remacle2016"
    assert "Mesh 3" in (folder / "figure3.smoke.md").read_text()
    assert (folder / "figure3.smoke.png").stat().st_size > 20_000


@pytest.mark.parametrize("problem", bp5.METHODS)
def test_bake_off_problems_count_unknowns_times_iterations(bench, rows, openmp, problem):
    assert bench.run("remacle2016-table2", "--only", f"method={problem}", "--only", "backend=openmp") == 0
    found = {row["metric"]: float(row["value"]) for row in rows("table2")}
    assert found["nodes"] == 25**3
    assert found["iteration_rate"] == pytest.approx(25**3 * 100 / found["iterations"] / 1e9)


def test_the_assembled_matrix_is_a_rival(bench, rows, openmp, monkeypatch):
    """By SciPy, which is always there; and what is wrong fails."""
    monkeypatch.setattr(rivals, "METHODS", {"mkl-csr": ("host", "scipy_csr", "openmp")})
    wanted = "case=n2", "method=mkl-csr", "method=stored-fp64-no-mass", "backend=host", "backend=openmp"
    only = [word for each in wanted for word in ("--only", each)]
    assert bench.run("remacle2016-table2", *only) == 0
    found = {(row["method"], row["metric"]): row for row in rows("table2")}
    rate = float(found["mkl-csr", "assembled_rate"]["value"])
    assert rate == pytest.approx(17**3 / float(found["mkl-csr", "assembled"]["value"]) / 1e9)
    assert float(found["mkl-csr", "assembled"]["error"]) < 1e-13
    text = (bench.folder / "bench" / "remacle2016" / "table2.smoke.md").read_text()
    assert "From assembled to assembled vector" in text
    monkeypatch.setattr(rivals, "TOLERANCE", 1e-18)
    assert bench.run("remacle2016-table2", *only, "--force") == 1


def test_the_heat_equation_on_devices(bench, rows, openmp):
    assert bench.run("remacle2016-table4", "--only", "backend=openmp") == 0
    found = {(row["method"], row["metric"]): row for row in rows("table4")}
    mine = {metric: row["value"] for (name, metric), row in found.items() if name == "openmp-cpu"}
    own = {metric: float(value) for metric, value in mine.items() if value}
    elements = len(datasets.load(rod.MESH, "smoke").cells)
    if own:  # elsewhere than where a GPU's is the only driver
        steps = table4_heat.STEPS["smoke"]
        assert own["step"] == pytest.approx(own["wall"] / steps)
        assert own["flop_rate_with_geometry"] == pytest.approx(elements * (1458 + 242 * 27) / own["local"] / 1e9)
        assert float(found["openmp-cpu", "wall"]["error"]) < 1e-5
    text = (bench.folder / "bench" / "remacle2016" / "table4.smoke.md").read_text()
    assert "stand-in" in text and "100.7" in text


def test_heat_that_is_lost_fails(bench, rows, openmp, monkeypatch):
    monkeypatch.setattr(rod, "supplied", lambda problem, steps: 1.0)
    assert bench.run("remacle2016-table4", "--only", "method=openmp-cpu") == 1
    assert "failed" in {row["status"] for row in rows("table4")}


def test_faces_of_the_rod_close_it_and_look_outward(openmp):
    """Half the cross product of the diagonals is a side's area; the places' flux through all sides is the volume."""
    mesh = datasets.load(rod.MESH, "smoke")
    problem = rod.heat(openmp, mesh, figure4_rod.ORDER, preconditioner=None)
    _, places, table = figure4_rod.on_host(problem)
    area, flux = np.zeros(3), 0.0
    for _, chosen, grid in figure4_rod._faces(table, problem.solver.numbering.boundary):
        a, b, c, d = (places[table[chosen][:, grid[r, s]]] for r, s in ((0, 0), (0, -1), (-1, -1), (-1, 0)))
        normal = np.cross(c - a, d - b) / 2
        area, flux = area + normal.sum(axis=0), flux + (normal * (a + b + c + d) / 4).sum()
    assert np.abs(area).max() < 1e-5
    assert flux / 3 == pytest.approx(mesh.facts()["volume"], rel=2e-3)


def test_temperature_is_drawn(bench, rows, openmp, monkeypatch):
    monkeypatch.setattr("experiments.remacle2016.figure4_rod.PIXELS", 400)
    assert bench.run("remacle2016-figure4", "--only", "backend=openmp") == 0
    found = {row["metric"]: float(row["value"]) for row in rows("figure4")}
    assert found["balance"] < 1e-4 and found["hottest"] > 3 * found["mean"] > 0
    assert found["behind"] < 3 * rod.RADIUS  # the hottest place follows the source
    assert (bench.folder / "bench" / "remacle2016" / "figure4.smoke.png").stat().st_size > 20_000


def test_tables_leave_out_what_was_not_measured_and_keep_the_unit_of_their_headings():
    facts = {"local": (1e-3, "s"), "flop_rate": (11_100.0, "GFLOP/s"), "bandwidth": (3_000.0, "GB/s"),
             "nodes": (913_000.0, "count"), "node_rate": (1.0, "GDOF/s"), "least_bandwidth": (1.0, "GB/s"),
             "assembled": (1e-3, "s"), "assembled_atomic": (1e-3, "s")}  # fmt: skip
    rows = [Row("remacle2016-table3", "large", "n3", "stored", "cuda", "a GPU", metric, value, unit)
            for metric, (value, unit) in facts.items()]  # fmt: skip
    results = Results(pandas.DataFrame([row.as_dict() for row in rows]), "large", "m", "remacle2016-table3")
    tables = {table.title: table for table in table3_cuda.tables(results)}
    assert list(tables) == ["Table 3: the operator through CUDA", "All kernels"]  # no solve was measured
    assert not any("openmp" in name for name in tables["Table 3: the operator through CUDA"].frame.columns)
    paper = tables["Table 3: the operator through CUDA"]
    assert paper.frame["r rate [GFLOP/s], cuda"].tolist() == ["11,100"]
    assert not any(name.startswith(("z rate", "r' rate")) for name in paper.frame.columns)


@pytest.mark.parametrize(
    ("jacobi", "spread", "faster"),
    [(0.5, 0.05, "cuda-jacobi"), (2.0, 0.05, "cuda-gpu"), (0.8, 0.3, "undecided")],
)
def test_a_preconditioner_is_the_faster_one_only_where_the_interval_says_so(jacobi, spread, faster):
    walls = {"cuda-jacobi": jacobi, "cuda-gpu": 1.0}
    where = ("remacle2016-table4", "paper", "n2")
    ends = {method: (wall * (1 - spread), wall * (1 + spread)) for method, wall in walls.items()}
    rows = [
        Row(*where, method, "cuda", "card", "wall", walls[method], "s", *ends[method], 9).as_dict() for method in walls
    ]
    rows += [Row(*where, method, "cuda", "", "iterations", 9.0, "count").as_dict() for method in walls]
    table = table4_heat._faster(Results(pandas.DataFrame(rows), "paper", "m", "remacle2016-table4"))
    (line,) = table.frame.to_dict("records")
    assert line["Faster"] == faster and line["Time over that of two scales"].startswith(f"{jacobi:.2g}"[:3])


def test_marks_of_the_rod_stand_at_their_unknowns():
    rows = [Row("remacle2016-table4", "paper", "n2", method, "cuda", "a GPU", metric, value, unit).as_dict()
            for method in ("cuda-gpu-plain", "cuda-gpu")
            for metric, value, unit in (("nodes", 5e5, "count"), ("step", 0.01, "s"))]  # fmt: skip
    (axes,) = table4_heat.plot(Results(pandas.DataFrame(rows), "paper", "m", "remacle2016-table4")).axes
    ours = [line for line in axes.lines if line.get_label() in table4_heat.NAMES.values()]
    assert [list(line.get_xdata()) for line in ours] == [[5e5], [5e5]]


@pytest.mark.parametrize(("metrics", "told"), [
    (("flop_rate_fine", "bandwidth_fine"), ["operations and bytes as the paper counts them"]),
    (("wall",), ["solves to the residual of our Table 1"]),
])  # fmt: skip
def test_local_solves_look_unlike_the_solver_and_the_caption_tells_of_what_is_drawn(metrics, told):
    rows = [Row("remacle2016-table3", "small", "n2", "solve-trilinear", "cuda", "a GPU", metric, 2.0, unit).as_dict()
            for metric, unit in (("wall", "s"), ("flop_rate_fine", "GFLOP/s"), ("bandwidth_fine", "GB/s"))
            if metric in metrics]  # fmt: skip
    made = table3_cuda.plot(Results(pandas.DataFrame(rows), "small", "m", "remacle2016-table3"))
    assert " ".join(made.get_supxlabel().split()).endswith(f"cuda · {'; '.join(told)}")
    names = {*table2_opencl.Z.values(), table2_opencl.SOLVES["solve-trilinear"]}
    (look,) = {line.get_color() for axes in made.axes for line in axes.lines if line.get_label() in names}
    assert (look == colour("solve-trilinear")) == ("wall" in metrics)
