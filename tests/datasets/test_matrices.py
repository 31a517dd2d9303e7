"""Matrices in the catalogue: cached, told apart by where they come from, read from files of every bad kind."""

import gzip
import io
import tarfile
import types

import numpy as np
import pytest
import scipy.io
import scipy.sparse

import datasets
from datasets import DownloadError, MatrixError, cache, download, matrices, matrices_catalogue, matrices_reading
from datasets.matrices import Matrix

HEADER = "%%MatrixMarket matrix coordinate real general\n"
TEXT = HEADER + "% a comment\n\n3 4 4\n1 1 2.5\n3 2 -1\n3 4 0\n1 3 1e-3\n"
DENSE = np.array([[2.5, 0, 1e-3, 0], [0, 0, 0, 0], [0, -1, 0, 0]])


def write(folder, text=TEXT, name="mine.mtx"):
    path = folder / name
    path.write_bytes(gzip.compress(text.encode()) if name.endswith(".gz") else text.encode())
    return path


def packed(folder, members, name="mine.tar.gz"):
    """Write an archive; a member is a name and a text, or a name and what to change of its entry."""
    with tarfile.open(folder / name, "w:gz") as archive:
        for member, content in members:
            entry = tarfile.TarInfo(member)
            if isinstance(content, dict):
                for attribute, value in content.items():
                    setattr(entry, attribute, value)
                archive.addfile(entry)
            else:
                entry.size = len(content)
                archive.addfile(entry, io.BytesIO(content.encode()))
    return folder / name


def refused(path, name="wong2015/circuit"):
    with pytest.raises(MatrixError) as error:
        datasets.load(name, "smoke", override=path)
    assert "\n" not in str(error.value) and path.name in str(error.value)
    return str(error.value)


@pytest.mark.parametrize("name", ["mine.mtx", "mine.mtx.gz", "mine.tar.gz", "mine.tgz"])
def test_formats(tmp_path, name):
    path = write(tmp_path, name=name) if ".mtx" in name else packed(tmp_path, [("mine/mine.mtx", TEXT)], name)
    matrix = datasets.load("wong2015/circuit", "paper", override=path)
    assert np.array_equal(matrix.csr.toarray(), DENSE)
    assert matrix.nonzeros == 4 and matrix.row_lengths.tolist() == [2, 0, 2]  # a zero in the file is an entry
    assert matrix.title == f"{name} (own matrix for Circuit)" and matrix.stand_in_for == ""


@pytest.mark.parametrize(
    ("header", "lines", "expected"),
    [
        ("real symmetric", "2 2 2\n1 1 3\n2 1 4\n", [[3, 4], [4, 0]]),
        ("real skew-symmetric", "2 2 1\n2 1 4\n", [[0, -4], [4, 0]]),
        ("pattern general", "2 2 2\n1 2\n2 2\n", [[0, 1], [0, 1]]),
        ("integer general", "2 2 2\n1 2 7\n2 2 -2\n", [[0, 7], [0, -2]]),
        ("real general", "2 2 3\n1 2 7\n1 2 1\n2 1 1\n", [[0, 8], [1, 0]]),
    ],
)
@pytest.mark.usefixtures("no_process")
def test_kinds(tmp_path, header, lines, expected):
    path = write(tmp_path, f"%%MatrixMarket matrix coordinate {header}\n{lines}")
    assert np.array_equal(datasets.load("wong2015/own", "paper", path).csr.toarray(), expected)


def test_what_scipy_writes_is_read(tmp_path):
    csr = scipy.sparse.random(50, 50, 0.1, "csr", random_state=0)
    scipy.io.mmwrite(tmp_path / "mine.mtx", csr, precision=17)
    assert abs(matrices_reading.matrix(tmp_path / "mine.mtx") - csr).max() == 0


def test_complex_values_are_refused_unless_their_real_parts_are_wanted(tmp_path):
    path = write(tmp_path, "%%MatrixMarket matrix coordinate complex general\n2 2 2\n1 1 3 4\n2 1 0 1\n")
    assert "its values are complex" in refused(path)
    matrix = matrices_reading.matrix(path, real_part=True)
    assert np.array_equal(matrix.toarray(), [[3, 0], [0, 0]]) and matrix.nnz == 2


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "no Matrix Market file"), ("1 2 3\n", "no Matrix Market file"),
        ("<html>Not here</html>", "no Matrix Market file"),
        ("%%MatrixMarket matrix array real general\n1 1\n1\n", "dense"),
        ("%%MatrixMarket matrix coordinate quaternion general\n1 1 1\n1 1 1\n", "its values are quaternion"),
        ("%%MatrixMarket matrix coordinate real diagonal\n1 1 1\n1 1 1\n", "it is diagonal"),
        (HEADER, "are to follow its header"), (HEADER + "3 x 4\n", "are to follow its header"),
        (HEADER + "0 0 0\n", "no size that can be used"), (HEADER + "-2 2 1\n1 1 1\n", "no size that can be used"),
        (HEADER + "9999999999 2 1\n1 1 1\n", "no size that can be used"),
        (HEADER + "3 3 2000000000\n1 1 1\n", "too short for so many"),
        (HEADER + "3 4 4\n1 1 2.5\n3 2 -1\n3 4 1\n", "cannot read"), (HEADER + "2 2 1\n3 1 1.0\n", "cannot read"),
        (HEADER + "2 2 1\n0 1 1.0\n", "cannot read"), (HEADER + "2 2 1\n1 1 one\n", "cannot read"),
        (HEADER + "2 2 2\n1 2 1\n2 2 nan\n", "its value in row 2, column 2 is nan"),
        (HEADER + "2 2 2\n1 2 -inf\n2 2 1\n", "its value in row 1, column 2 is -inf"),
    ],
)  # fmt: skip
def test_damaged_text(tmp_path, text, said):
    assert said in refused(write(tmp_path, text))


def test_missing_file_folder_and_format(tmp_path):
    (tmp_path / "mine.mtx").mkdir()
    assert "directory" in refused(tmp_path / "mine.mtx").lower()
    assert "no such file" in refused(tmp_path / "no.mtx").lower()
    (tmp_path / "mine.xyz").write_text("1")
    assert "unknown matrix format" in refused(tmp_path / "mine.xyz")


@pytest.mark.parametrize("name", ["mine.mtx.gz", "mine.tar.gz"])
@pytest.mark.parametrize("damage", ["truncated", "empty", "noise", "flipped"])
def test_damaged_archives(tmp_path, name, damage):
    text = TEXT + "% " + np.random.default_rng(0).bytes(20_000).hex()
    path = write(tmp_path, text, name) if ".mtx" in name else packed(tmp_path, [("mine/mine.mtx", text)])
    content = path.read_bytes()
    middle = len(content) // 2
    path.write_bytes(
        {
            "truncated": content[:middle], "empty": b"", "noise": np.random.default_rng(0).bytes(500),
            "flipped": content[:middle] + bytes([content[middle] ^ 255]) + content[middle + 1 :],
        }[damage]
    )  # fmt: skip
    refused(path)


@pytest.mark.parametrize(
    ("members", "said"),
    [
        ([("../mine.mtx", TEXT)], "leads out of the archive"),
        ([("/etc/mine.mtx", TEXT)], "leads out of the archive"),
        ([("a\\..\\mine.mtx", TEXT)], "leads out of the archive"),
        ([("mine.mtx", TEXT), ("a/../../b", "x")], "leads out of the archive"),
        ([("mine.mtx", {"type": tarfile.SYMTYPE, "linkname": "/etc/passwd"})], "is a link or a device"),
        ([("mine.mtx", {"type": tarfile.LNKTYPE, "linkname": "/etc/passwd"})], "is a link or a device"),
        ([("mine.mtx", {"type": tarfile.CHRTYPE})], "is a link or a device"),
        ([("readme.txt", "nothing")], "no .mtx file in it"),
        ([("a.mtx", TEXT), ("b.mtx", TEXT)], "which of its matrices is meant? it has a.mtx, b.mtx"),
        ([(f"{i}.txt", "") for i in range(1001)], "more than 1,000 members"),
        ([("mine.mtx", TEXT + "%" * 3_000_000)], "as no matrix does"),
        ([("mine.mtx", TEXT), ("zeros", "0" * 3_000_000)], "as no matrix does"),
    ],
)
@pytest.mark.usefixtures("no_process")
def test_archives_that_are_up_to_something(tmp_path, members, said):
    before = sorted(tmp_path.parent.iterdir())
    assert said in refused(packed(tmp_path, members))
    assert sorted(tmp_path.parent.iterdir()) == before and [path.name for path in tmp_path.iterdir()] == ["mine.tar.gz"]


def test_a_bomb_is_not_unpacked(tmp_path):
    assert "as no matrix does" in refused(write(tmp_path, TEXT + "%" * 3_000_000, "mine.mtx.gz"))


def test_of_several_the_one_with_the_archives_name_is_taken(tmp_path):
    path = packed(tmp_path, [("cant/cant_b.mtx", "x"), ("cant/cant.mtx", TEXT), ("cant/cant_x.mtx", "y")], "c.tar.gz")
    assert datasets.load("wong2015/own", "paper", path).nonzeros == 4


def test_matrices_cannot_be_changed_and_are_put_in_order():
    messy = scipy.sparse.csr_matrix(([1.0, 2.0, 3.0], [3, 1, 1], [0, 2, 3]), shape=(2, 4))
    matrix = Matrix(messy)
    assert matrix.csr.indices.tolist() == [1, 3, 1] and matrix.csr.indices.dtype == np.int32
    assert messy.indices.tolist() == [3, 1, 1]
    with pytest.raises(ValueError, match="read-only"):
        matrix.csr.data[0] = 0


def test_the_digest_is_of_the_content():
    first = scipy.sparse.eye_array(5, format="csr")
    digest = Matrix(first, "a").digest()
    assert Matrix(first.astype(np.float32).tocoo(), "b").digest() == digest
    assert Matrix(2 * first).digest() != digest
    assert Matrix(scipy.sparse.csr_matrix(scipy.sparse.eye_array(5, 6))).digest() != digest


def test_facts():
    block = np.ones((4, 4))
    facts = Matrix(scipy.sparse.block_diag([block, block, block], format="csr")).facts()
    assert facts["block"] == 4 and facts["block_fill"] == 1 and facts["pattern_symmetric"]
    assert (facts["rows"], facts["columns"], facts["nonzeros"], facts["bandwidth"]) == (12, 12, 48, 3)
    facts = Matrix(scipy.sparse.csr_matrix(DENSE)).facts()
    assert (facts["row_length_min"], facts["row_length_max"], facts["empty_rows"], facts["block"]) == (0, 2, 1, 1)
    assert facts["row_length_mean"] == 1 and not facts["pattern_symmetric"]
    one_way = Matrix(scipy.sparse.csr_matrix(np.triu(np.ones((3, 3))))).facts()
    assert not one_way["pattern_symmetric"]


@pytest.mark.parametrize(
    ("matrix", "said"),
    [
        (np.eye(3), "no sparse matrix but ndarray"),
        (scipy.sparse.csr_matrix((3, 3)), "it is empty: 3 x 3 with 0 entries"),
    ],
)
def test_what_is_no_matrix(matrix, said):
    with pytest.raises(MatrixError, match=said):
        matrices.checked(matrix, "x")


# ---- the public matrix in place of its stand-in ----


@pytest.fixture
def collection(tmp_path, monkeypatch, no_process):
    """A recipe of a small public matrix, and the archive that the collection would send of it."""
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    recipe = types.SimpleNamespace(
        COLLECTION="Group/mine", build=lambda scale: scipy.sparse.eye_array(3, format="csr"),
        COUNTS={"rows": 3, "nonzeros": 4, "row_length_min": 2, "row_length_max": 2},
    )  # fmt: skip
    entry = matrices_catalogue.MatrixEntry("wong2015/circuit", "Mine", ("smoke", "paper"), "Group/mine", recipe=recipe)
    archive = packed(tmp_path, [("mine/mine.mtx", TEXT)])
    sent = []

    def fetch(address, path, check):
        sent.append(address)
        path.write_bytes(archive.read_bytes())
        check(path)

    monkeypatch.setattr(download, "fetch", fetch)
    return types.SimpleNamespace(entry=entry, recipe=recipe, archive=archive, sent=sent)


def test_nothing_is_downloaded_unasked(collection):
    stand_in = collection.entry.load("paper")
    assert collection.sent == [] and stand_in.title == "Mine (stand-in)" and stand_in.stand_in_for == "Group/mine"


def test_once_downloaded_it_is_the_scale_paper_and_says_so(collection):
    entry = collection.entry
    before = entry.key("paper"), entry.load("paper").digest(), entry.key("smoke")
    path = entry.download()
    public = entry.load("paper")
    assert np.array_equal(public.csr.toarray(), DENSE)
    assert public.title == "Mine (Group/mine)" and public.stand_in_for == ""
    assert entry.is_public("paper") and not entry.is_public("smoke") and entry.path("paper") == path
    assert entry.key("paper") != before[0] and public.digest() != before[1] and entry.key("smoke") == before[2]
    assert entry.load("smoke").title == "Mine (stand-in)" and entry.stand_in("paper").digest() == before[1]
    assert entry.verify("paper") == []
    assert [file.name for file in cache.folder().iterdir() if file.suffix == ".gz"] == []
    entry.download()
    assert collection.sent == ["https://sparse.tamu.edu/MM/Group/mine.tar.gz"]


def test_a_mirror_may_be_named(collection, monkeypatch):
    monkeypatch.setenv("REPRO_SUITESPARSE", "http://127.0.0.1:9/copy/")
    collection.entry.download()
    assert collection.sent == ["http://127.0.0.1:9/copy/Group/mine.tar.gz"]


@pytest.mark.parametrize("fact", ["rows", "nonzeros", "row_length_min", "row_length_max"])
def test_a_download_is_held_to_the_paper(collection, fact):
    collection.recipe.COUNTS[fact] = 1234
    with pytest.raises(MatrixError, match=rf"Group/mine: {fact} is \d, in the paper 1,234"):
        collection.entry.download()
    assert not collection.entry.is_public("paper") and collection.entry.load("paper").title == "Mine (stand-in)"


def test_a_damaged_download_is_not_replaced_by_the_stand_in(collection):
    path = collection.entry.download()
    path.write_bytes(path.read_bytes()[:300])
    for use in (collection.entry.load, collection.entry.key):
        with pytest.raises(MatrixError, match=r"damaged; fetch it again: repro data build --download --scale paper"):
            use("paper")
    collection.entry.download()
    assert collection.entry.load("paper").nonzeros == 4 and len(collection.sent) == 2


def test_what_is_not_public_cannot_be_downloaded():
    with pytest.raises(DownloadError, match="wong2015/own is not in a public collection"):
        datasets.entry("wong2015/own").download()


def test_verify_reports_what_differs(collection):
    assert collection.entry.verify("smoke") == []
    assert collection.entry.verify("paper") == [
        "nonzeros is 3, in the paper 4", "row_length_min is 1, in the paper 2", "row_length_max is 1, in the paper 2",
    ]  # fmt: skip


def test_the_command_says_which_it_has(tmp_path, monkeypatch, capsys):
    from repro.cli import main

    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    fetched = []

    def fetch(address, path, check):
        fetched.append(address)
        raise DownloadError(f"cannot download {address}: there is no network")

    monkeypatch.setattr(download, "fetch", fetch)
    for arguments, status, said in (
        (["data", "build", "--scale", "smoke", "--download", "wong2015/qcd"], 0, "wong2015/qcd: stand-in, "),
        (["data", "build", "--scale", "paper", "--download", "wong2015/qcd"], 1, "there is no network"),
        (["data", "build", "--scale", "paper", "wong2015/qcd"], 0, "wong2015/qcd: stand-in, "),
    ):
        assert main(arguments) == status
        assert said in capsys.readouterr().err
    assert fetched == ["https://sparse.tamu.edu/MM/QCD/conf5_4-8x8-05.tar.gz"]


def test_own_matrix_follows_the_file(tmp_path):
    path = write(tmp_path)
    before = datasets.key("wong2015/own", "paper", path)
    assert before != datasets.key("wong2015/circuit", "paper", path)
    write(tmp_path, TEXT.replace("2.5", "3.5"))
    assert datasets.key("wong2015/own", "paper", path) != before
