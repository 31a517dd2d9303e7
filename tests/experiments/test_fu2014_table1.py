"""Table 1: every mesh at scale smoke, and its facts counted again by scikit-fem."""

import numpy as np
import skfem

import datasets
from datasets.mesh import Mesh
from experiments.fu2014 import REAL


def test_facts_of_every_mesh(bench):
    assert bench.run("fu2014-table1", "--backend", "host") == 0
    rows = bench.rows("table1.smoke.csv")
    missing = [row for row in rows if row["status"] != "done"]
    assert {row["case"] for row in missing} <= set(REAL) and {row["status"] for row in missing} <= {"skipped"}
    rows = [row for row in rows if row["status"] == "done" and row["case"] not in REAL]
    cases = list(dict.fromkeys(row["case"] for row in rows))
    assert cases == ["regular", "irregular", "heart", "brain", "blobs"]
    for case in cases:
        found = {row["metric"]: float(row["value"]) for row in rows if row["case"] == case}
        mesh = datasets.load(f"fu2014/{case}", "smoke")
        counted = skfem.MeshTet(mesh.points.T.copy(), mesh.cells.T.copy())
        edges = counted.edges
        valence = np.bincount(edges.ravel())
        assert found["nodes"] == counted.nvertices and found["elements"] == counted.nelements
        assert found["nonzeros"] == found["nonzeros_euler"] == counted.nvertices + 2 * edges.shape[1]
        assert found["nonzeros_upper"] == counted.nvertices + edges.shape[1]
        assert (found["valence_min"], found["valence_max"]) == (valence.min(), valence.max())
        assert found["boundary_faces"] == len(counted.boundary_facets())
        assert 0 < found["dihedral_min"] < 60 and 0.3 < found["radius_ratio_mean"] <= 1
    text = bench.file("table1.smoke.md").read_text()
    for line in ("| Regular | 2,197 |", "| Heart (stand-in) |", "| Brain (stand-in) |"):
        assert line in text


def test_a_mesh_whose_counts_disagree_is_refused(bench, monkeypatch):
    facts = Mesh.facts

    def planted(mesh):
        found = facts(mesh)
        return found | {"nonzeros_euler": found["nonzeros_euler"] + 2}

    monkeypatch.setattr(Mesh, "facts", planted)
    assert bench.run("fu2014-table1", "--only", "case=regular", "--backend", "host") == 1
    (row,) = bench.rows("table1.smoke.csv")
    assert row["status"] == "failed" and "non-zeros by Euler's formula" in row["reason"]
