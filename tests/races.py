"""The kernels' tests under sanitizers: ``make races``, or python tests/races.py [pytest's arguments].

The OpenMP back end under ThreadSanitizer, for races between blocks; CUDA under compute-sanitizer, for races between the
threads of a block (racecheck) and for reads and writes out of bounds (memcheck). What is not on the machine is named.
The exit status is 1 if either finds anything, or a test fails.

A pass over all tests under compute-sanitizer takes tens of minutes on a GPU. It is spread over the GPUs that are
visible, and with ``--record FILE`` goes on where it was cut off: what FILE says is clean is not run again, as long as
kernels and tests stay as they are. Solvers launch the same kernels over and over, and racecheck takes minutes for some:
``--launches N`` has the sanitizers follow the first N launches of each test that is left.
"""

from __future__ import annotations

import argparse
import itertools
import json
import math
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from repro import machine
from repro.cache import code
from repro.cache.store import read_json, write_atomically

SOURCES = (".py", ".c", ".cu", ".h", ".cuh")  # of kernels
ROOT = Path(__file__).resolve().parents[1]
CUDA_TOOLS = ("racecheck", "memcheck")
FOUND = 9  # the status of a tool that finds something
OPTIONS = ["--error-exitcode", str(FOUND), "--target-processes", "all", "--report-api-errors", "no",
           "--show-backtrace", "device", "--print-limit", "20"]  # fmt: skip
AT_ONCE = 8  # tests in a process at most: few enough that none is left when the others are done
# Kernels of libraries, told by C++'s mangled names and by CuPy's prefix: they would take most of the time, and have
# races that do no harm, as CuPy's `nonzero`.
OTHERS = ("regex=^_Z", "kernel_substring=cupy")
# What builds kernels and launches none is left out.
PYTEST = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "--ignore", "tests/kernels/test_nvrtc.py"]
NO_TESTS = 5  # pytest's status when there are none


def thread_sanitizer() -> Path | None:
    """Return the C compiler's ThreadSanitizer; None where it has none."""
    compiler = os.environ.get("CC") or shutil.which("gcc")
    if not compiler or not sys.platform.startswith("linux"):
        return None
    asked = subprocess.run([compiler, "-print-file-name=libtsan.so"], capture_output=True, text=True, check=False)
    path = Path(asked.stdout.strip())
    return path.resolve() if path.is_absolute() and path.exists() else None


def under_thread_sanitizer(command: list[str], cache: str, log: Path) -> tuple[int, list[str]]:
    """Run a command whose OpenMP kernels are built for ThreadSanitizer; return its status and the races found."""
    environment = {
        **os.environ, "REPRO_SANITIZE": "thread", "REPRO_CACHE": cache, "LD_PRELOAD": str(thread_sanitizer()),
        "TSAN_OPTIONS": f"exitcode=0 log_path={log}", "OMP_NUM_THREADS": "1", "NUMBA_NUM_THREADS": "1",
        "OPENBLAS_NUM_THREADS": "1",
    }  # fmt: skip
    # The sanitizer wants its shadow where the kernel may have put something else at random.
    fixed = ["setarch", "-R"] if shutil.which("setarch") else []
    status = subprocess.run([*fixed, *command], cwd=ROOT, env=environment, check=False).returncode
    found = []
    for path in log.parent.glob(f"{log.name}.*"):
        found += [line for line in path.read_text(errors="replace").splitlines() if line.startswith("SUMMARY:")]
    return status, sorted(set(found))


class Record:
    """The tests that each of `CUDA_TOOLS` found nothing in, of kernels and tests as they are when it is made.

    Parameters
    ----------
    path : Path, optional
        Where it is kept, if it is. Of a file of tests nothing is remembered when it, a fixture or a kernel that it runs
        has changed since.
    launches : int, optional
        How many launches of a test are followed, by default all. A test that was followed for fewer is left.

    Attributes
    ----------
    clean : dict of dict
        For each tool the tests, with the launches that it followed, None for all of them.
    """

    def __init__(self, path: Path | None = None, launches: int | None = None):
        self.path, self.launches = path, launches
        self.clean: dict[str, dict[str, int | None]] = {tool: {} for tool in CUDA_TOOLS}
        self.states = self._states() if path else {}
        for file, found in (read_json(path) if path else {}).items():
            if found["state"] == self.states.get(file):
                for tool in CUDA_TOOLS:
                    self.clean[tool] |= {f"{file}::{test}": followed for test, followed in found[tool].items()}

    @staticmethod
    def _states() -> dict[str, str]:
        """Return a hash for each file of tests: of it, fixtures, what tests share, and all kernels."""
        found = {}
        helpers = [path for path in (ROOT / "tests").glob("*.py") if not path.name.startswith("test_")]
        kernels = [path for path in (ROOT / "kernels").rglob("*") if path.suffix in SOURCES]
        for file in sorted((ROOT / "tests/kernels").rglob("test_*.py")):
            fixtures = [folder / "conftest.py" for folder in file.parents if ROOT in folder.parents]
            paths = sorted({file, *filter(Path.is_file, fixtures), *helpers, *kernels})
            lines = [f"{path.relative_to(ROOT).as_posix()} {code.hash_of(path)}\n" for path in paths]
            found[file.relative_to(ROOT).as_posix()] = code.digest("".join(lines).encode())
        return found

    def left(self, tool: str, tests: list[str]) -> list[str]:
        """Return those of some tests that are still to be run under a tool."""
        wanted = self.launches or math.inf
        found = {test: math.inf if followed is None else followed for test, followed in self.clean[tool].items()}
        return [test for test in tests if found.get(test, 0) < wanted]

    def add(self, tool: str, tests: list[str]) -> None:
        """Note that a tool found nothing in some tests."""
        self.clean[tool].update(dict.fromkeys(tests, self.launches))
        if not self.path:
            return
        files: dict[str, dict] = {}
        for name, clean in self.clean.items():
            for test, followed in clean.items():
                file, _, test = test.partition("::")
                found = files.setdefault(file, {"state": self.states.get(file), **{each: {} for each in CUDA_TOOLS}})
                found[name][test] = followed
        write_atomically(self.path, json.dumps(files, indent=1, sort_keys=True) + "\n")


def cards() -> list[str]:
    """Return what ``CUDA_VISIBLE_DEVICES`` may be for one GPU after the other."""
    if (given := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return given.split(",")
    return [str(number) for number in range(len(machine.nvidia().get("gpus", ())))] or ["0"]


def both(backend: str, names: str) -> str:
    """Return pytest's expression for a back end's tests among those of an expression, if there is one."""
    return f"{backend} and ({names})" if names else backend


def under_compute_sanitizer(
    program: str, asked: list[str], cache: str, workers: int, record: Record, names: str = ""
) -> list[str]:
    """Run the CUDA tests under each of `CUDA_TOOLS`, many processes at once; return what went wrong.

    What is left runs once without a sanitizer before: tests check loops in graphs, which the sanitizers cannot follow,
    and leave their kernels in the cache, since the compiler is slow under a sanitizer.
    """
    plain = {**os.environ, "REPRO_TEST_CACHE": cache, "OMP_NUM_THREADS": "1"}
    sanitized = plain | {"REPRO_SANITIZE": "memory"}
    found = collected(asked, sanitized, names)
    left = {tool: record.left(tool, found) for tool in CUDA_TOOLS}
    print(f"{len(found)} tests, left {', '.join(f'{len(tests)} {tool}' for tool, tests in left.items())}", flush=True)
    clean = set(found).difference(*left.values())
    first = [test for test in collected(asked, plain, names) if test not in clean]
    bad = run_groups({None: first}, plain, program, workers, record)
    failed = {test for group in bad.values() for test in group}  # left, whatever a sanitizer says of them
    left = {tool: [test for test in tests if test not in failed] for tool, tests in left.items()}
    return [*bad, *run_groups(left, sanitized, program, workers, record)]


def run_groups(tests, environment, program, workers, record) -> dict[str, list[str]]:
    """Run each tool's tests, without one where it is None, over all GPUs; record them, and return what went wrong."""
    bad, everywhere = {}, itertools.cycle(cards())
    total = sum(map(len, tests.values()))
    at_once = min(AT_ONCE, 1 + total // workers)
    if record.launches and None not in tests:
        at_once = 1  # launches are counted by process
    threads = max(1, (os.cpu_count() or 1) // max(1, min(workers, total)))

    def run(tool, group, card):
        began, watcher = time.monotonic(), watching(program, tool, threads, record.launches) if tool else []
        own = environment | {"CUDA_VISIBLE_DEVICES": card}
        done = subprocess.run(
            [*watcher, *PYTEST, *group], cwd=ROOT, env=own, capture_output=True, text=True, check=False
        )
        return tool, group, done, time.monotonic() - began

    with ThreadPoolExecutor(workers) as pool:
        jobs = [
            pool.submit(run, tool, group, next(everywhere))
            for tool, wanted in tests.items() for group in groups(wanted, at_once)
        ]  # fmt: skip
        for count, job in enumerate(as_completed(jobs), 1):
            tool, group, done, seconds = job.result()
            name = f"{tool or 'no sanitizer:'} {group[0]} and {len(group) - 1} more"
            is_bad = done.returncode != 0
            print(f"{count}/{len(jobs)} {name}: {'FOUND' if is_bad else 'nothing'} in {seconds:.0f} s", flush=True)
            if is_bad:
                print(done.stdout[-8000:], done.stderr[-2000:], sep="\n", flush=True)
                bad[name] = group
            elif tool:
                record.add(tool, group)
    return bad


def watching(program: str, tool: str, threads: int = 1, launches: int | None = None) -> list[str]:
    """Return compute-sanitizer's part of a command; racecheck has threads of its own.

    Refused calls of the driver are none of its findings: bindings ask for functions that a driver may lack.
    """
    command = [
        program,
        "--tool",
        tool,
        *OPTIONS,
        *(word for name in OTHERS for word in ("--kernel-name-exclude", name)),
    ]
    command += ["--racecheck-num-workers", str(threads)] if tool == "racecheck" else []
    return command + (["--launch-count", str(launches)] if launches else [])


def compute_sanitizer() -> str | None:
    """Return the CUDA toolkit's sanitizer; None where it is not."""
    return shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")


def collected(asked: list[str], environment: dict[str, str] | None = None, names: str = "") -> list[str]:
    """Return the CUDA tests among pytest's arguments, as they are called in an environment: names tell macros."""
    command = [*PYTEST, "--collect-only", *asked, "-k", both("cuda", names)]
    listed = subprocess.run(command, cwd=ROOT, env=environment, capture_output=True, text=True, check=False)
    if listed.returncode not in (0, NO_TESTS):
        raise SystemExit(f"{' '.join(command)} ended with {listed.returncode}:\n{listed.stdout[-2000:]}")
    # -k goes by marks as well, and would take the other back ends' share of a test that is marked for CUDA.
    return [line for line in listed.stdout.splitlines() if "cuda" in line.partition("[")[2]]


def groups(tests: list[str], at_once: int) -> list[list[str]]:
    """Return up to `at_once` tests of a file together."""
    files = [list(found) for _, found in itertools.groupby(tests, lambda test: test.split("::")[0])]
    return [found[k : k + at_once] for found in files for k in range(0, len(found), at_once)]


def main(arguments: list[str]) -> int:
    """Run what can be run here."""
    parser = argparse.ArgumentParser(prog="make races", description=__doc__.splitlines()[0])
    parser.add_argument("--only", choices=("openmp", "cuda"), help="one back end")
    parser.add_argument("--workers", type=int, default=max(1, (os.cpu_count() or 2) // 2), help="CUDA tests at once")
    parser.add_argument("-k", default="", help="only tests whose names match, as pytest's")
    parser.add_argument("--record", type=Path, help="keeps which CUDA tests were clean, to go on from")
    parser.add_argument("--launches", type=int, help="follow so many of each test, by default all")
    options, asked = parser.parse_known_args(arguments)
    asked, bad = asked or ["tests/kernels"], False
    with tempfile.TemporaryDirectory(prefix="repro-races-") as folder:
        if options.only == "cuda":
            pass
        elif thread_sanitizer() is None:
            print("ThreadSanitizer: skipped, because there is no gcc with libtsan (apt install gcc)")
        else:
            print("== ThreadSanitizer: kernels on the OpenMP back end", flush=True)
            log = Path(folder, "races")
            command = [*PYTEST, *asked, "-k", both("openmp", options.k)]
            status, found = under_thread_sanitizer(command, str(Path(folder, "cache")), log)
            failed = [] if status in (0, NO_TESTS) else [f"pytest ended with {status}"]
            print("\n".join(found + failed) or ("no races" if status == 0 else "no tests"))
            bad |= bool(found or failed)
        program = compute_sanitizer()
        if options.only == "openmp":
            pass
        elif program is None:
            print("compute-sanitizer: skipped, because it is not on the path (it comes with the CUDA toolkit)")
        else:
            print("== compute-sanitizer: kernels on the CUDA back end", flush=True)
            record = Record(options.record, options.launches)
            cache = str(Path(folder, "cuda"))
            found = under_compute_sanitizer(program, asked, cache, options.workers, record, options.k)
            print("found something: " + ", ".join(found) if found else "no races, no access out of bounds")
            bad |= bool(found)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
