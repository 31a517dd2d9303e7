import multiprocessing
import os
import sys

import numpy as np
import pytest

import datasets
from datasets import MeshError, cache, quality, recipe_keys, recipes, topology
from datasets.fu2014 import irregular, regular
from repro import ReproError

NAMES = ["fu2014/blobs", "fu2014/brain", "fu2014/heart", "fu2014/irregular", "fu2014/regular"]
STAND_INS = {"fu2014/blobs", "fu2014/brain", "fu2014/heart"}


def test_every_recipe_is_found_by_its_place():
    names = [entry.name for entry in datasets.catalogue()]
    assert names == sorted(set(names))
    own = [name for name in names if name.startswith("fu2014/") and "/series-" not in name]
    assert own == sorted([*NAMES, "fu2014/biventricular", "fu2014/cortex"])
    for name in NAMES:
        entry = datasets.entry(name)
        assert entry.scales == ("smoke", "small", "paper", "large")
        assert bool(entry.stand_in_for) == (name in STAND_INS) == entry.title.endswith("(stand-in)")


@pytest.mark.parametrize("name", NAMES)
def test_smoke_meshes(name):
    pytest.importorskip("tetgen")
    entry = datasets.entry(name)
    path = entry.build("smoke")
    assert path.is_file() and entry.is_cached("smoke")
    assert entry.verify("smoke") == []
    mesh = datasets.load(name, "smoke")
    facts = mesh.facts()
    assert 1_000 <= facts["nodes"] <= 5_000
    assert facts["dihedral_min"] > (10 if name == "fu2014/regular" else 1) and facts["euler_agrees"]
    assert (quality.volumes(mesh.points, mesh.cells) > 0).all()
    assert (mesh.title, mesh.stand_in_for) == (entry.title, entry.stand_in_for)


def test_only_geometry_of_others_can_be_missing(monkeypatch, tmp_path):
    """`repro data build` without names asks every dataset."""
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    lacking = {entry.name for entry in datasets.catalogue() for scale in entry.scales if entry.missing(scale)}
    assert "fu2014/biventricular" in lacking
    assert lacking <= {"fu2014/biventricular", "fu2014/cortex", "wong2015/anatomy_30k", "wong2015/anatomy_50k"}


def test_the_series_of_regular_meshes():
    """Each is the one before with twice the resolution, and the fourth is the paper's Regular mesh."""
    names = [f"fu2014/series-{nodes}" for nodes in (9, 17, 33, 65, 129, 257)]
    assert {entry.name for entry in datasets.catalogue() if "/series-" in entry.name} == set(names)
    found = [datasets.load(name, scale) for name, scale in zip(names, ("smoke", "smoke", "small"), strict=False)]
    counts = [(729, 3072), (4913, 8 * 3072), (35937, 64 * 3072)]
    assert [(len(mesh.points), len(mesh.cells)) for mesh in found] == counts
    assert [scale for scale in ("smoke", "small", "paper", "large") if scale in datasets.entry(names[3]).scales] == [
        "paper", "large"
    ]  # fmt: skip
    keys = {datasets.key(name, "large") for name in names}
    assert len(keys) == len(names) and datasets.entry(names[0]).title == "Regular series 9"
    expected = regular.refined(8, 1)
    assert np.array_equal(np.sort(found[1].cells, axis=1), np.sort(expected[1], axis=1))


def test_irregular_has_the_papers_counts():
    """After three refinements, by Euler's formula; after one the formula is held to the mesh."""
    points, cells = irregular.coarse(irregular.SEED)
    faces = len(topology.boundary_faces(cells, len(points)))
    assert (len(points), len(cells), faces) == (irregular.NODES, 2192, irregular.boundary_faces(irregular.NODES))
    assert 8 * len(points) + 84 * len(cells) + 14 * faces - 7 == 197_561  # Table 1
    assert np.abs(quality.volumes(points, cells)).sum() == pytest.approx(1, rel=1e-12)
    once, facts = datasets.load("fu2014/irregular", "smoke"), datasets.load("fu2014/irregular", "smoke").facts()
    assert len(once.points) == 2 * len(points) + len(cells) + faces // 2 - 1
    assert (facts["valence_min"], facts["valence_max"], facts["elements"]) == (3, 25, 8 * 2192)


def test_seeds_of_irregular_are_searched_for():
    assert list(irregular.search(range(324, 327))) == [325]


@pytest.mark.parametrize("name", ["fu2014/irregular", "fu2014/regular"])
def test_cubes_have_their_volume(name):
    pytest.importorskip("tetgen")
    assert datasets.entry(name).facts("smoke")["volume"] == pytest.approx(64, rel=1e-12)


def test_stand_ins_look_like_what_they_stand_for():
    pytest.importorskip("tetgen")
    heart, brain, blobs = (datasets.load(f"fu2014/{name}", "smoke") for name in ("heart", "brain", "blobs"))
    # A ball with dents, not a ball with voids or handles: the ventricles are open, the hemispheres joined.
    assert heart.facts()["euler_characteristic"] == brain.facts()["euler_characteristic"] == 1
    assert 16 < heart.facts()["volume"] < 18 and 12 < brain.facts()["volume"] < 15
    assert np.ptp(heart.points, axis=0).max() == pytest.approx(4) == np.ptp(brain.points, axis=0).max()
    assert blobs.facts()["volume"] == pytest.approx(64, rel=1e-12)
    assert 0.15 < blobs.facts()["region_shares"]["1"] < 0.25
    assert set(np.unique(blobs.regions)) == {0, 1}
    depth = brain.points[np.abs(brain.points[:, 0]) < 0.12]
    assert depth[:, 2].max() < brain.points[:, 2].max() - 0.37  # the fissure between the hemispheres


def test_blobs_conform_to_the_interface():
    pytest.importorskip("tetgen")
    from datasets.fu2014 import blobs

    mesh = datasets.load("fu2014/blobs", "smoke")
    inside = blobs.solid(*mesh.points[mesh.cells].mean(axis=1).T) < 0
    volumes = quality.volumes(mesh.points, mesh.cells)
    assert volumes[inside != (mesh.regions == 1)].sum() < 0.06 * volumes.sum()
    interface = np.intersect1d(mesh.cells[mesh.regions == 0], mesh.cells[mesh.regions == 1])
    assert np.median(np.abs(blobs.solid(*mesh.points[interface].T))) < 0.07


def test_building_twice_gives_the_same_and_prints_nothing(tmp_path, monkeypatch, capfd):
    pytest.importorskip("tetgen")
    first = datasets.digest("fu2014/blobs", "smoke")
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    datasets._loaded.cache_clear()
    assert datasets.digest("fu2014/blobs", "smoke") == first
    assert capfd.readouterr() == ("", "")


def test_loading_twice_gives_the_same_object_until_the_file_changes():
    assert datasets.load("fu2014/regular", "smoke") is datasets.load("fu2014/regular", "smoke")


def test_unknown_names_and_scales():
    with pytest.raises(MeshError, match="no dataset 'fu2014/hearts'; there are fu2014/biventricular, fu2014/blobs"):
        datasets.load("fu2014/hearts", "smoke")
    with pytest.raises(MeshError, match="fu2014/heart has no scale 'huge'; it has smoke, small, paper, large"):
        datasets.load("fu2014/heart", "huge")


def test_verify_reports_what_differs(monkeypatch):
    entry = datasets.entry("fu2014/regular")
    recorded = {"digest": "0" * 64, "ranges": {"nodes": [1, 2], "elements": [10368, 10368]}}
    monkeypatch.setattr(recipes.Entry, "expected", lambda self, scale: recorded)
    digest, nodes = entry.verify("smoke")
    assert digest.startswith("digest c460439e6db21886, recorded is 0000000000000000")
    assert nodes == "nodes is 2197, outside 1 to 2"


def test_a_damaged_file_is_rebuilt(caplog):
    entry = datasets.entry("fu2014/regular")
    path = entry.build("smoke")
    content = path.read_bytes()
    for damage in (content[: len(content) // 2], b"", content[:5000] + b"\xff" * 64 + content[5064:]):
        path.write_bytes(damage)
        datasets._loaded.cache_clear()
        assert datasets.load("fu2014/regular", "smoke").facts()["nodes"] == 2197
        assert "will be rebuilt" in caplog.text
        assert path.read_bytes() == content or cache.read(path) is not None
        caplog.clear()


def test_an_interrupted_write_leaves_nothing(tmp_path, monkeypatch):
    def stopped(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(np, "savez", stopped)
    with pytest.raises(KeyboardInterrupt):
        cache.fetch(tmp_path / "mesh.npz", lambda: {"points": np.zeros(3)})
    assert [path.name for path in tmp_path.iterdir()] == ["mesh.lock"]


def test_a_cache_that_cannot_be_written(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("")
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "file"))
    with pytest.raises(ReproError, match=r"cannot write the cache .*set REPRO_CACHE"):
        datasets.load("fu2014/regular", "smoke")


def _build_slowly(path, log):
    def build():
        with open(log, "a") as file:
            file.write(f"{os.getpid()}\n")
        return {"points": np.arange(1000.0)}

    assert len(cache.fetch(path, build)["points"]) == 1000


def test_of_several_processes_one_builds(tmp_path):
    context = multiprocessing.get_context("fork")
    log = tmp_path / "log"
    workers = [context.Process(target=_build_slowly, args=(tmp_path / "mesh.npz", log)) for _ in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert [worker.exitcode for worker in workers] == [0] * 4
    assert len(log.read_text().splitlines()) == 1


def test_the_cache_is_where_it_is_asked_to_be(monkeypatch, tmp_path):
    assert datasets.entry("fu2014/regular").path("smoke").parent == cache.folder()
    monkeypatch.delenv("REPRO_CACHE")
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    if sys.platform == "linux":
        assert cache.folder() == tmp_path / "repro" / "datasets"


def test_keys_follow_the_code_and_the_mesher(tmp_path, monkeypatch):
    keys = {datasets.key(name, scale) for name in NAMES for scale in ("smoke", "paper")}
    assert len(keys) == 2 * len(NAMES)
    regular, heart = datasets.key("fu2014/regular", "smoke"), datasets.key("fu2014/heart", "smoke")
    monkeypatch.setattr(recipe_keys, "_version", lambda package: "9.9")
    assert datasets.key("fu2014/regular", "smoke") == regular
    assert datasets.key("fu2014/heart", "smoke") != heart


def test_triangles_follow_the_package_that_meshes_them(monkeypatch):
    tri, quad = datasets.key("zhang2013/tri", "smoke"), datasets.key("zhang2013/quad", "smoke")
    monkeypatch.setattr(recipe_keys, "_version", lambda package: "9.9")
    assert datasets.key("zhang2013/tri", "smoke") != tri and datasets.key("zhang2013/quad", "smoke") == quad


def test_keys_follow_every_module_that_the_recipe_uses():
    used = {path.name for path in recipe_keys.closure(recipe_keys.ROOT / "fu2014" / "heart.py")}
    assert {"heart.py", "mesher.py", "smoothing.py", "surfaces.py", "quality.py", "_tetgen_worker.py"} <= used
    assert not {"structured.py", "recipes.py"} & used


def test_comments_do_not_change_a_key_and_code_does(tmp_path):
    path = tmp_path / "recipe.py"
    meanings = []
    for text in ('"""A."""\nX = 1\n', '"""B."""\n# why\nX = 1\n', "X = 2\n"):
        path.write_text(text)
        recipe_keys._meaning.cache_clear()
        meanings.append(recipe_keys._meaning(path))
    assert meanings[0] == meanings[1] != meanings[2]


def test_every_python_hashes_a_recipe_alike(tmp_path):
    """As 3.12 does: 3.11's trees have no parameters of types, 3.13's text leaves out what is empty."""
    path = tmp_path / "recipe.py"
    path.write_text('class A:\n    def f(self, *a):\n        return f"{a}"\n')
    assert recipe_keys._meaning(path) == "c5954da61a76302e959a5db8b02b07d532433574d0acc59829b41d992ed05a24"


def test_tetgens_failure_is_one_line():
    pytest.importorskip("tetgen")
    from datasets import mesher

    crossing = np.array([[0, 0, 0], [1, 0, 0], [0, 1, 0], [0, 0, 1], [0.2, 0.2, -1], [0.2, 0.2, 1], [0.3, 0.1, 1.0]])
    faces = np.array([[0, 2, 1], [0, 1, 3], [1, 2, 3], [0, 3, 2], [4, 5, 6]])
    with pytest.raises(MeshError, match=r"^TetGen failed with status \d+ on a surface of 7 points .*it said: .+$"):
        mesher.tetrahedralise(crossing, faces, 0.1)


@pytest.mark.slow
def test_the_regular_mesh_is_the_papers():
    points, cells = regular.build("paper")
    facts = topology.facts(cells, len(points))
    assert (facts["nodes"], facts["elements"]) == (274_625, 1_572_864)
    assert (facts["valence_min"], facts["valence_max"]) == (3, 18)
    assert facts["nonzeros_full"] == facts["nonzeros_euler"] == 4_018_753
