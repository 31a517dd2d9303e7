"""`make races`: ThreadSanitizer sees a race that is planted between blocks; what compute-sanitizer finds is named."""

import os
import subprocess
import sys

import pytest

from kernels.device import Unavailable, open_device, sanitized
from tests import races

KERNEL = """KERNEL tally(const int n, GLOBAL int *RESTRICT total)
{
    OUTER(b);
    INNER(t) { %s }
}
"""
PROGRAM = """
import sys
from kernels.device import open_device
device = open_device("openmp")
total = device.zeros(1, "int32")
device.build(sys.argv[1], 32, {}).tally(100, 5, total)
"""


@pytest.mark.parametrize(
    ("body", "is_race"), [("ATOMIC_ADD_GLOBAL(total, 1);", False), ("if (t == 0) total[0] += 1;", True)]
)
def test_a_planted_race_is_found(tmp_path, body, is_race):
    if races.thread_sanitizer() is None:
        pytest.skip("there is no gcc with libtsan")
    source = tmp_path / "tally.c"
    source.write_text(KERNEL % body)
    command = [sys.executable, "-c", PROGRAM, str(source)]
    status, found = races.under_thread_sanitizer(command, str(tmp_path / "cache"), tmp_path / "log")
    assert status == 0
    assert bool(found) == is_race, found
    assert not is_race or ("data race" in found[0] and "tally" in found[0])


CUDA_KERNEL = """KERNEL swap(const int n, GLOBAL int *RESTRICT y)
{
    SHARED int s[BLOCK];
    OUTER(b);
    INNER(t) { s[t] = t; }
    %s
    INNER(t) { y[t + %s] = s[BLOCK - 1 - t]; }
}
"""
CUDA_PROGRAM = """
import sys
from kernels.device import open_device
device = open_device("cuda")
y = device.zeros(256, "int32")
device.build(sys.argv[1], 256, {}).swap(1, 256, y)
device.synchronize()
"""


@pytest.mark.cuda
@pytest.mark.parametrize(
    ("tool", "barrier", "beyond", "is_found"),
    [
        ("racecheck", "BARRIER;", 0, False), ("racecheck", "", 0, True),
        ("memcheck", "BARRIER;", 0, False), ("memcheck", "BARRIER;", 256, True),
    ],
    ids=("none", "race", "inside", "beyond"),
)  # fmt: skip
def test_a_planted_fault_on_a_gpu_is_found(tmp_path, monkeypatch, tool, barrier, beyond, is_found):
    program = races.compute_sanitizer()
    if program is None or os.environ.get(sanitized.VARIABLE):
        pytest.skip("compute-sanitizer is not here, or watches already")
    try:
        open_device("cuda")
    except Unavailable as missing:
        pytest.skip(str(missing))
    monkeypatch.setenv(sanitized.VARIABLE, "memory")
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path / "cache"))
    source = tmp_path / "swap.c"
    source.write_text(CUDA_KERNEL % (barrier, beyond))
    command = [*races.watching(program, tool), sys.executable, "-c", CUDA_PROGRAM, str(source)]
    done = subprocess.run(command, cwd=races.ROOT, capture_output=True, text=True, check=False)
    assert (done.returncode != 0) == is_found, done.stdout + done.stderr
    assert ("swap" in done.stdout) == is_found


@pytest.fixture
def watched(tmp_path, monkeypatch):
    """Run `races` with a program in the sanitizer's place, which finds a race if it is told whose kernels to watch."""
    program = tmp_path / "sanitizer"
    program.write_text(f"#!{sys.executable}\n{SANITIZER}")
    program.chmod(0o755)
    monkeypatch.setattr(races, "PYTEST", [sys.executable, "-c", "pass"])
    monkeypatch.setattr(races, "AT_ONCE", 2)
    monkeypatch.setattr(races, "collected", lambda asked, environment, names: [f"a.py::{name}[cuda]" for name in asked])
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "2,5")
    monkeypatch.setenv("CARDS", str(tmp_path / "cards"))
    return lambda asked, record: races.under_compute_sanitizer(str(program), asked, str(tmp_path), 1, record)


def test_what_compute_sanitizer_finds_is_named(watched, capsys):
    assert watched(["one", "two", "three"], races.Record()) == ["racecheck a.py::one[cuda] and 1 more"]
    said = capsys.readouterr().out
    assert "Race reported" in said and said.count("nothing") == 2 + 3 and "4/4" in said


def test_a_pass_that_was_cut_off_goes_on(watched, capsys, tmp_path):
    """What was clean is not run again, with a sanitizer or without; what was not, is."""
    path = tmp_path / "record.json"
    found = watched(["one", "two", "three"], races.Record(path))
    assert len(found) == 1 and len(races.Record(path).left("racecheck", ["a.py::one[cuda]", "a.py::three[cuda]"])) == 1
    capsys.readouterr()
    assert watched(["one", "two", "three", "four"], races.Record(path)) == found
    said = capsys.readouterr().out
    assert "4 tests, left 3 racecheck, 1 memcheck" in said and "3/3" in said
    assert "2/2 no sanitizer: a.py::four[cuda]" in said
    assert watched(["three", "four"], races.Record(path)) == [] and "2 tests, left 0" in capsys.readouterr().out


def test_the_first_launches_of_each_test_alone_are_followed(watched, tmp_path, capsys):
    path = tmp_path / "record.json"
    watched(["one"], races.Record(path))
    watched(["one", "three", "four"], races.Record(path, launches=50))
    assert "4/4" in capsys.readouterr().out, "each in a process of its own"
    kept = races.Record(path).clean
    for tool in races.CUDA_TOOLS:
        assert kept[tool] == {"a.py::one[cuda]": None, "a.py::three[cuda]": 50, "a.py::four[cuda]": 50}
    tests = [f"a.py::{name}[cuda]" for name in ("one", "three", "four")]
    for launches, left in ((None, tests[1:]), (51, tests[1:]), (50, [])):
        assert sorted(races.Record(path, launches).left("racecheck", tests)) == sorted(left)
    told = (tmp_path / "told").read_text().splitlines()
    assert all("--launch-count 50" in line for line in told[2:]) and told[2:]
    assert not any("--launch-count" in line for line in told[:2])


def test_a_test_that_fails_without_a_sanitizer_is_named(watched, monkeypatch):
    monkeypatch.setattr(races, "PYTEST", [sys.executable, "-c", "import sys; sys.exit('--tool' not in sys.argv)"])
    record = races.Record()
    for _ in range(2):  # it is left, whatever the sanitizers say
        assert watched(["one"], record) == ["no sanitizer: a.py::one[cuda] and 0 more"]


def test_tests_are_spread_over_the_gpus(watched, tmp_path, monkeypatch):
    watched(["one", "three", "four", "five"], races.Record())
    assert sorted((tmp_path / "cards").read_text().split()) == ["2", "2", "5", "5"]
    monkeypatch.delenv("CUDA_VISIBLE_DEVICES")
    monkeypatch.setattr(races.machine, "nvidia", lambda: {"gpus": [{}, {}, {}]})
    assert races.cards() == ["0", "1", "2"]
    monkeypatch.setattr(races.machine, "nvidia", dict)
    assert races.cards() == ["0"]


def test_a_record_is_of_kernels_and_tests_as_they_are(monkeypatch, tmp_path):
    """All kernels count, what a file of tests imports and its fixtures; comments do not."""
    monkeypatch.setattr(races, "ROOT", tmp_path)
    first, second = "tests/kernels/amg/test_a.py", "tests/kernels/sem/test_b.py"
    own = ("tests/kernels/sem/conftest.py",)
    both = ("kernels/sem/solve.py", "kernels/sem/solve.c", "kernels/amg/other.c", "kernels/device/__init__.py",
            "kernels/device/prelude.h", "tests/helper.py", "tests/conftest.py",
            "tests/kernels/conftest.py")  # fmt: skip
    for path in (first, second, *own, *both, "kernels/__init__.py", "kernels/sem/__init__.py"):
        (tmp_path / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / path).write_text("x = 1\n")
    (tmp_path / second).write_text("from kernels.sem import solve\nfrom tests.helper import x\n")
    path, tests = tmp_path / "record.json", [f"{first}::one", f"{second}::two"]
    races.Record(path).add("memcheck", tests)
    assert races.Record(path).left("racecheck", tests) == tests
    for changed, left in (
        *((each, tests[1:]) for each in own), *((each, tests) for each in both), (second, tests[1:]),
    ):  # fmt: skip
        text = (tmp_path / changed).read_text()
        (tmp_path / changed).write_text(text + "y = 2\n")
        assert races.Record(path).left("memcheck", tests) == left, changed
        (tmp_path / changed).write_text(text + ("# said\n" if changed.endswith(".py") else ""))
        assert races.Record(path).left("memcheck", tests) == [], changed


def test_a_test_that_changes_while_it_is_watched_is_left(monkeypatch, tmp_path):
    monkeypatch.setattr(races, "ROOT", tmp_path)
    file = tmp_path / "tests/kernels/test_a.py"
    file.parent.mkdir(parents=True)
    (tmp_path / "kernels").mkdir()
    file.write_text("x = 1")
    record = races.Record(tmp_path / "record.json")
    file.write_text("x = 2")
    record.add("memcheck", ["tests/kernels/test_a.py::one"])
    assert races.Record(tmp_path / "record.json").left("memcheck", ["tests/kernels/test_a.py::one"])


SANITIZER = """import os, sys
with open(os.environ["CARDS"], "a") as cards:
    cards.write(os.environ["CUDA_VISIBLE_DEVICES"] + chr(10))
with open(os.environ["CARDS"].replace("cards", "told"), "a") as told:
    told.write(" ".join(sys.argv) + chr(10))
tool, tests = sys.argv[2], sys.argv[sys.argv.index("-c") + 2 :]
excluded = [sys.argv[k + 1] for k, word in enumerate(sys.argv) if word == "--kernel-name-exclude"]
if tool == "racecheck" and "a.py::two[cuda]" in tests and "kernel_substring=cupy" in excluded:
    print("========= Error: Race reported between Write access at relax+0xd50 and Read access at relax+0x630")
    sys.exit(int(sys.argv[sys.argv.index("--error-exitcode") + 1]))
"""


def test_cuda_tests_are_dealt_out_by_file():
    # Those of stiffness are marked for CUDA on every back end, and one here has it in its name.
    asked = ["tests/kernels/krylov", "tests/kernels/stream", "tests/kernels/sem/test_stiffness.py", __file__]
    dealt = races.groups(races.collected(asked), races.AT_ONCE)
    files = [{test.split("::")[0] for test in tests} for tests in dealt]
    assert all(len(names) == 1 for names in files) and len(set.union(*files)) > 2
    assert all("[cuda" in test or "-cuda" in test for tests in dealt for test in tests)
    assert max(map(len, dealt)) <= races.AT_ONCE and len({test for tests in dealt for test in tests}) > races.AT_ONCE


def test_tests_that_cannot_be_collected_are_no_clean_pass(tmp_path):
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(SystemExit, match="nothing_of_this_name"):
        races.collected([str(tmp_path)])


def test_tests_are_chosen_by_name_and_ones_that_are_not_there_are_told(capsys):
    if races.thread_sanitizer() is None:
        pytest.skip("there is no gcc with libtsan")
    stream = "tests/kernels/stream"
    assert races.main(["--only", "openmp", "-k", "nothing_has_this_name", stream]) == 0
    assert "no tests" in capsys.readouterr().out
    assert races.main(["--only", "openmp", "tests/kernels/nowhere"]) == 1
    said = capsys.readouterr().out
    assert "pytest ended with 4" in said and "no races" not in said
