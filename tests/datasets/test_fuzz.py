"""A thousand damaged files: an error or a right answer, never a crash, a hang or gigabytes."""

import gzip
import io
import json
import os
import subprocess
import sys
import tarfile
import time
from pathlib import Path

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import datasets
from datasets import MatrixError, MeshError, guarded, structured

meshio = pytest.importorskip("meshio")
FUZZ = Path(__file__).with_name("fuzz.py")
CHECKOUT = Path(__file__).resolve().parents[2]
FILES = 500


def fuzz(kind, folder, seed):
    done = subprocess.run(
        [sys.executable, str(FUZZ), kind, str(folder), str(FILES), str(seed)], capture_output=True, text=True,
        timeout=170, cwd=CHECKOUT,
        # What a reader that is stopped leaves behind is then the test's.
        env={**os.environ, "PYTHONPATH": str(CHECKOUT), "OPENBLAS_NUM_THREADS": "1", "TMPDIR": str(folder.parent)},
    )  # fmt: skip
    assert done.returncode == 0, done.stderr[-500:]
    *bad, last = done.stdout.splitlines()
    assert not bad, "\n".join(bad[:10])
    found = json.loads(last)
    assert sum(found.values()) == FILES
    assert min(found["right"], found["refused"]) > FILES // 50, f"the damages are all of one kind: {found}"
    assert found.get("stopped", 0) + found.get("crashed", 0) < FILES // 20, found


def test_meshes(tmp_path):
    points, cells = structured.kuhn(2)
    folder = tmp_path / "originals"
    folder.mkdir()
    for suffix, options in (
        (".vtu", {"binary": False}), (".vtk", {"binary": False}), (".msh", {"binary": False}), (".mesh", {}),
        (".inp", {}), (".bdf", {}), (".su2", {}), (".node", {}),
    ):  # fmt: skip
        meshio.write(folder / f"mesh{suffix}", meshio.Mesh(points, [("tetra", cells)]), **options)
    for suffix in (".vtu", ".vtk", ".msh"):
        meshio.write(folder / f"binary{suffix}", meshio.Mesh(points, [("tetra", cells)]))
    fuzz("mesh", folder, seed=1)


def test_matrices(tmp_path):
    folder = tmp_path / "originals"
    folder.mkdir()
    csr = scipy.sparse.random(20, 20, 0.1, "csr", random_state=0)
    scipy.io.mmwrite(folder / "a.mtx", csr)
    scipy.io.mmwrite(folder / "b.mtx", csr + csr.T, symmetry="symmetric")
    text, packed = (folder / "a.mtx").read_bytes(), io.BytesIO()
    (folder / "c.mtx.gz").write_bytes(gzip.compress(text, mtime=0))
    with tarfile.open(fileobj=packed, mode="w") as archive:
        member = tarfile.TarInfo("d/d.mtx")
        member.size = len(text)
        archive.addfile(member, io.BytesIO(text))
    (folder / "d.tar.gz").write_bytes(gzip.compress(packed.getvalue(), mtime=0))  # the same bytes in every run
    fuzz("matrix", folder, seed=2)


@pytest.mark.parametrize("length", range(1, 40))
def test_archives_cut_short_anywhere(tmp_path, length):
    path = tmp_path / "mine.tar.gz"
    path.write_bytes(gzip.compress(b"x" * 100, mtime=0)[:length])
    with pytest.raises(MatrixError, match=r"mine\.tar\.gz"):
        datasets.load("wong2015/own", "paper", path)


def refused(path):
    begun = time.monotonic()
    with pytest.raises(MeshError) as error:
        datasets.load("fu2014/heart", "smoke", override=path)
    assert time.monotonic() - begun < 20
    assert path.name in str(error.value) and "\n" not in str(error.value)
    return str(error.value)


def test_a_reader_that_hangs_is_stopped(tmp_path, monkeypatch):
    """meshio's reader of TetGen's files looks for a first line for ever where there are comments alone."""
    path = tmp_path / "mine.node"
    path.write_text("# nothing\n" * 1000)
    monkeypatch.setattr(guarded, "LEAST_SECONDS", 1.0)
    assert "its 10,000 bytes are not read after 1 s" in refused(path)


def test_a_number_cut_short_crashes_nothing(tmp_path):
    """SciPy 1.17 crashes on an exponent without digits."""
    path = tmp_path / "mine.mtx"
    path.write_text("%%MatrixMarket matrix coordinate real general\n2 2 2\n1 1 1.5\n2 2 1.3E-")
    with pytest.raises(MatrixError, match=r"cannot read the matrix .*mine\.mtx"):
        datasets.load("wong2015/own", "paper", path)


def test_a_file_that_asks_for_gigabytes_gets_none(tmp_path):
    path = tmp_path / "mine.msh"
    header = b"$MeshFormat\n4.1 1 8\n" + np.int32(1).tobytes() + b"\n$EndMeshFormat\n$Nodes\n"
    path.write_bytes(header + np.array([1, 10**9, 1, 10**9], np.uint64).tobytes() + bytes(200) + b"\n$EndNodes\n")
    assert "more memory than a mesh of its size needs" in refused(path)


def test_a_reader_that_crashes_costs_an_error(tmp_path, monkeypatch):
    worker = tmp_path / "_reading_worker.py"
    worker.write_text("import os, signal; os.kill(os.getpid(), signal.SIGSEGV)")
    path = tmp_path / "mine.vtu"
    path.write_text("x")
    monkeypatch.setattr(guarded, "WORKER", worker)
    assert "the process that reads it ended with -11" in refused(path)
