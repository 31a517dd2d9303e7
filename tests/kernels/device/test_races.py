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
    return lambda *asked: races.under_compute_sanitizer(str(program), asked, str(tmp_path), 1)


def test_what_compute_sanitizer_finds_is_named_and_tests_are_spread_over_the_gpus(watched, capsys, tmp_path):
    assert watched("one", "two", "three") == ["racecheck a.py::one[cuda] and 1 more"]
    said = capsys.readouterr().out
    assert "Race reported" in said and said.count("nothing") == 2 + 3 and "4/4" in said
    assert sorted((tmp_path / "cards").read_text().split()) == ["2", "2", "5", "5"]


def test_a_test_that_fails_without_a_sanitizer_is_named(watched, monkeypatch):
    monkeypatch.setattr(races, "PYTEST", [sys.executable, "-c", "import sys; sys.exit('--tool' not in sys.argv)"])
    assert watched("one") == ["no sanitizer: a.py::one[cuda] and 0 more"]


SANITIZER = """import os, sys
with open(os.environ["CARDS"], "a") as cards:
    cards.write(os.environ["CUDA_VISIBLE_DEVICES"] + chr(10))
tool, tests = sys.argv[2], sys.argv[sys.argv.index("-c") + 2 :]
excluded = [sys.argv[k + 1] for k, word in enumerate(sys.argv) if word == "--kernel-name-exclude"]
if tool == "racecheck" and "a.py::two[cuda]" in tests and "kernel_substring=cupy" in excluded:
    print("========= Error: Race reported between Write access at relax+0xd50 and Read access at relax+0x630")
    sys.exit(int(sys.argv[sys.argv.index("--error-exitcode") + 1]))
"""


def test_cuda_tests_are_dealt_out_by_file():
    # Tests of stiffness are marked for CUDA on every back end, and a test here has it in its name.
    asked = ["tests/kernels/stream", "tests/kernels/sem/test_stiffness.py", __file__]
    dealt = races.groups(races.collected(asked), races.AT_ONCE)
    files = [{test.split("::")[0] for test in tests} for tests in dealt]
    assert all(len(names) == 1 for names in files) and len(set.union(*files)) > 1
    assert all("[cuda" in test or "-cuda" in test for tests in dealt for test in tests)
    assert max(map(len, dealt)) <= races.AT_ONCE and len({test for tests in dealt for test in tests}) > races.AT_ONCE


def test_tests_that_cannot_be_collected_are_no_clean_pass(tmp_path):
    (tmp_path / "test_broken.py").write_text("import nothing_of_this_name\n")
    with pytest.raises(SystemExit, match="nothing_of_this_name"):
        races.collected([str(tmp_path)])


def test_tests_that_are_not_there_are_told(capsys):
    if races.thread_sanitizer() is None:
        pytest.skip("there is no gcc with libtsan")
    assert races.main(["--only", "openmp", "tests/kernels/nowhere"]) == 1
    said = capsys.readouterr().out
    assert "pytest ended with 4" in said and "no races" not in said
