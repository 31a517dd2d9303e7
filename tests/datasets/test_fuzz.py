"""A thousand damaged files: an error or a right answer, never a crash, a hang or gigabytes."""

import faulthandler
import gzip
import io
import multiprocessing
import os
import re
import resource
import signal
import tarfile
import time

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import datasets
from datasets import MatrixError, MeshError, guarded, structured
from repro.model import ReproError
from tests.datasets.conftest import read_here

meshio = pytest.importorskip("meshio")
FILES = 500
SECONDS, PATIENCE, MEMORY = 0.5, 10, 4 * 2**30  # of a processor, of the clock; a file takes some milliseconds
ODD = (b"0", b"-1", b"1e999", b"nan", b"9999999999", b"2147483648", b"18446744073709551616", b"\xff\xfe", b"", b" ")
RIGHT, REFUSED, STOPPED = b"+", b"-", b"!"
GUARDED = {-signal.SIGPROF, -signal.SIGALRM, -signal.SIGSEGV, -signal.SIGABRT}  # of these `guarded.read` makes errors


def mutated(content, rng):
    """Return content with one to four damages: pieces cut, doubled or replaced by noise, numbers by odd ones."""
    for _ in range(rng.integers(1, 5)):
        start, end = sorted(int(place) for place in rng.integers(0, len(content) + 1, 2))
        end, noise = min(end, start + 200), rng.bytes(int(rng.integers(1, 40)))
        numbers = [found.span() for found in re.finditer(rb"\d+", content)]
        damage = rng.integers(6)
        if damage < 4:
            content = [content[:start], content[:start] + content[end:], content[:end] + content[start:],
                       content[:start] + noise + content[end:]][damage]  # fmt: skip
        elif numbers:  # sizes and indices are what readers believe; the first lines hold the sizes
            start, end = numbers[rng.integers(min(len(numbers), 12) if damage == 4 else len(numbers))]
            content = content[:start] + ODD[rng.integers(len(ODD))] + content[end:]
    return content


def read(kind, paths, pipe):
    """Read files as the user's own data under limits, look at what comes of them, and tell what becomes of each."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), 1)  # meshio prints
    faulthandler.disable()  # what crashes is counted
    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    guarded.read = read_here
    for path in paths:
        signal.setitimer(signal.ITIMER_PROF, SECONDS)
        signal.alarm(PATIENCE)
        try:
            if kind == "matrix":
                csr = datasets.load("wong2015/own", "paper", path).csr
                assert csr.has_canonical_format and np.isfinite(csr.data).all() and csr.indices.min() >= 0
            else:
                mesh = datasets.load("fu2014/heart", "smoke", override=path)
                assert np.isfinite(mesh.points).all() and mesh.cells.min() >= 0 and mesh.cells.max() < len(mesh.points)
            os.write(pipe, RIGHT)
        except ReproError as refusal:
            assert "\n" not in str(refusal), refusal
            os.write(pipe, REFUSED)


def outcomes(kind, paths):
    """Return what becomes of each file in a process that is not this one: any other error ends it with a 1."""
    found = b""
    while len(found) < len(paths):
        ours, theirs = os.pipe()
        process = multiprocessing.get_context("fork").Process(target=read, args=(kind, paths[len(found) :], theirs))
        process.start()
        os.close(theirs)
        with os.fdopen(ours, "rb") as pipe:
            found += pipe.read()
        process.join()
        if len(found) < len(paths):
            assert process.exitcode in GUARDED, (paths[len(found)], process.exitcode)
            found += STOPPED
    return found


def fuzz(kind, folder, seed):
    """Read the files of a folder, and damaged ones: an error of the project's own, or what passes every check."""
    rng, originals, damaged = np.random.default_rng(seed), sorted(folder.iterdir()), []
    for path in originals:
        datasets.load({"matrix": "wong2015/own", "mesh": "fu2014/heart"}[kind], "paper", path)  # which imports much
    assert outcomes(kind, originals) == RIGHT * len(originals)
    for number in range(FILES):
        original = originals[number % len(originals)]
        damaged.append(folder.with_name(f"{number}-{original.name}"))
        damaged[-1].write_bytes(mutated(original.read_bytes(), rng))
    found = outcomes(kind, damaged)
    assert min(found.count(RIGHT), found.count(REFUSED)) > FILES // 50, f"the damages are all of one kind: {found}"
    assert found.count(STOPPED) < FILES // 20, found


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
