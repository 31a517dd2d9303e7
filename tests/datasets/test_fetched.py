"""Geometry that others publish, here a ball of eight triangles in their files' forms."""

import base64
import dataclasses
import gzip
import hashlib
import zlib

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import datasets
from datasets import biventricular, cortex, download, recipes
from datasets.errors import DownloadError, MeshError
from datasets.fu2014 import heart
from repro.model import Skip

POINTS = np.array([[1, 0, 0], [-1, 0, 0], [0, 1, 0], [0, -1, 0], [0, 0, 1], [0, 0, -1]], dtype=float)
FACES = np.array([[0, 2, 4], [2, 1, 4], [1, 3, 4], [3, 0, 4], [2, 0, 5], [1, 2, 5], [3, 1, 5], [0, 3, 5]])


@pytest.fixture
def published(tmp_path, monkeypatch):
    """The template's files of a ball: half its triangles clockwise, and a cap that no other triangle needs."""
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    folder = tmp_path / "published"
    folder.mkdir()
    np.savetxt(folder / "model.txt", POINTS / 2, delimiter="\t")
    doubled = scipy.sparse.csc_matrix(np.vstack((2 * np.eye(6), np.ones(6))))  # and a seventh point, of the cap
    scipy.io.savemat(folder / "subdivision_matrix_sparse.mat", {"S": doubled})
    faces = np.vstack((FACES[:4], FACES[4:, ::-1], [0, 2, 6])) + 1
    np.savetxt(folder / "ETIndicesSorted.txt", faces, "%d", "\t")
    parts = ["LV_EPICARDIAL"] * 4 + ["LV_ENDOCARDIAL"] * 4 + ["AORTA_VALVE"]
    (folder / "ETIndicesMaterials.txt").write_text("".join(f"{i}\t{part}\n" for i, part in enumerate(parts)))
    files = {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in folder.iterdir()}
    monkeypatch.setattr(biventricular, "SOURCE", dataclasses.replace(biventricular.SOURCE, files=files))
    sent = []

    def fetch(address, path, check):
        sent.append(address)
        path.write_bytes((folder / path.name).read_bytes())
        check(path)

    monkeypatch.setattr(download, "fetch", fetch)
    return folder, sent


def test_the_templates_surface_is_closed_and_seen_from_outside(published):
    with pytest.raises(Skip, match=r"biv-me's template of the ventricles \(Apache-2.0\) is not downloaded"):
        biventricular.surface()
    biventricular.SOURCE.download()
    points, faces, parts = biventricular.surface()
    assert np.array_equal(points, POINTS) and len(faces) == 8 and set(parts[4:]) == {"LV_ENDOCARDIAL"}
    a, b, c = (points[faces[:, i]] for i in range(3))
    assert (a * np.cross(b, c)).sum() / 6 == pytest.approx(4 / 3)  # all of the octahedron, with its sign


def test_what_is_there_is_not_fetched_again_and_what_is_damaged_is(published, monkeypatch):
    folder, sent = published
    monkeypatch.setenv("REPRO_BIV_ME", "http://127.0.0.1:9/copy/")
    kept = biventricular.SOURCE.download()
    assert sorted(sent) == sorted(f"http://127.0.0.1:9/copy/{path.name}" for path in folder.iterdir())
    (kept / "model.txt").write_text("1 2 3")
    with pytest.raises(MeshError, match=r"model.txt is damaged: SHA-256 .*; fetch it again: repro data build --down"):
        biventricular.surface()
    sent.clear()
    biventricular.SOURCE.download()
    assert sent == ["http://127.0.0.1:9/copy/model.txt"] and len(biventricular.surface()[1]) == 8


def test_other_files_are_refused(published):
    (published[0] / "model.txt").write_text("1 2 3")
    with pytest.raises(MeshError, match=r"model.txt: SHA-256 [0-9a-f]{16}, wanted is [0-9a-f]{16}"):
        biventricular.SOURCE.download()


def test_a_recipe_of_what_is_fetched(published, monkeypatch):
    entry = datasets.entry("fu2014/biventricular")
    monkeypatch.setattr(entry.recipe, "SOURCE", biventricular.SOURCE)
    monkeypatch.setitem(entry.recipe.SCALES, "smoke", 0.1)
    assert "not downloaded" in entry.missing("smoke") and not entry.is_public("smoke")
    with pytest.raises(Skip):
        entry.load("smoke")
    assert entry.download() == biventricular.SOURCE.folder and entry.is_public("smoke") and not entry.missing("smoke")
    pytest.importorskip("tetgen")
    assert entry.load("smoke").facts()["volume"] == pytest.approx(4 / 3)
    for path in biventricular.SOURCE.folder.iterdir():
        path.unlink()
    assert entry.missing("smoke") == "" and entry.missing("small")  # what is built needs no source


def test_a_recipe_of_its_own_shape_has_nothing_to_download():
    entry = recipes.Entry("fu2014/heart", "Heart", ("smoke",), recipe=heart)
    assert (entry.address, entry.public_scales, entry.missing("smoke")) == ("", (), "")
    with pytest.raises(DownloadError, match="fu2014/heart is made of nothing that could be downloaded"):
        entry.download()


def packed(intent, kind, values):
    data = base64.b64encode(zlib.compress(values.tobytes())).decode()
    about = f'Intent="{intent}" DataType="{kind}" Encoding="GZipBase64Binary" Endian="LittleEndian"'
    return f"<DataArray {about}><Data>{data}</Data></DataArray>"


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """A package with the surfaces of two balls of ten millimetres."""
    folder = tmp_path / "nilearn" / "datasets" / "data" / "fsaverage5"
    folder.mkdir(parents=True)
    (tmp_path / "nilearn" / "__init__.py").touch()  # or a real one, later on the path, would come before it
    arrays = packed("NIFTI_INTENT_POINTSET", "NIFTI_TYPE_FLOAT32", (10 * POINTS).astype("<f4"))
    arrays += packed("NIFTI_INTENT_TRIANGLE", "NIFTI_TYPE_INT32", FACES.astype("<i4"))
    text = f"<?xml version='1.0'?><GIFTI>{arrays}</GIFTI>".encode()
    for name in cortex.FILES:
        (folder / name).write_bytes(gzip.compress(text))
        monkeypatch.setitem(cortex.FILES, name, hashlib.sha256(text).hexdigest())
    monkeypatch.syspath_prepend(tmp_path)
    return folder


def test_the_cortex_is_read_from_the_package_in_centimetres(installed, monkeypatch):
    points, faces = cortex.surface("left")
    assert np.array_equal(points, POINTS) and np.array_equal(faces, FACES)
    # Every point of the ball has four neighbours, whose mean is its middle: smoothing scales it.
    scale = ((1 - cortex.FORTH) * (1 - cortex.BACK)) ** cortex.STEPS
    assert np.allclose(cortex.surface("right")[0], scale * POINTS)
    monkeypatch.setitem(cortex.FILES, "pial_left.gii.gz", "0" * 64)
    with pytest.raises(MeshError, match="is another surface than that of nilearn"):
        cortex.surface("left")


def test_without_the_package_it_is_skipped(installed):
    (installed / "pial_right.gii.gz").unlink()
    assert "nilearn is not installed" in cortex.SOURCE.missing()
    with pytest.raises(Skip, match="nilearn is not installed"):
        cortex.surface("left")
