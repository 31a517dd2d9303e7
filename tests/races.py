"""The kernels' tests under sanitizers: ``make races``, or python tests/races.py [pytest's arguments].

The OpenMP back end under ThreadSanitizer, for races between blocks; CUDA under compute-sanitizer, for races between the
threads of a block (racecheck) and for reads and writes out of bounds (memcheck). A missing sanitizer is named. The exit
status is 1 if either finds anything, or a test fails.

A pass over all tests under compute-sanitizer takes tens of minutes on a GPU, and is spread over the GPUs that are
visible; a folder of tests after the other, as pytest's arguments, is a pass in parts.
"""

from __future__ import annotations

import argparse
import itertools
import os
import shutil
import subprocess
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

from repro import machine

ROOT = Path(__file__).resolve().parents[1]
CUDA_TOOLS = ("racecheck", "memcheck")
FOUND = 9  # the status of a tool that finds something
OPTIONS = ["--error-exitcode", str(FOUND), "--target-processes", "all", "--report-api-errors", "no",
           "--show-backtrace", "device", "--print-limit", "20"]  # fmt: skip
AT_ONCE = 8  # tests in a process at most: few enough that none is left when the others are done
# Kernels of libraries, told by C++'s mangled names and by CuPy's prefix: they would take most of the time, and have
# races that do no harm, as CuPy's `nonzero`.
OTHERS = ("regex=^_Z", "kernel_substring=cupy")
# A test that builds kernels and launches none is left out.
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


def cards() -> list[str]:
    """Return what ``CUDA_VISIBLE_DEVICES`` may be for one GPU after the other."""
    if (given := os.environ.get("CUDA_VISIBLE_DEVICES")) is not None:
        return given.split(",")
    return [str(number) for number in range(len(machine.nvidia().get("gpus", ())))] or ["0"]


def both(backend: str, names: str) -> str:
    """Return pytest's expression for a back end's tests, among an expression's tests if there is one."""
    return f"{backend} and ({names})" if names else backend


def under_compute_sanitizer(program: str, asked: list[str], cache: str, workers: int, names: str = "") -> list[str]:
    """Run the CUDA tests under each of `CUDA_TOOLS`, many processes at once; return what went wrong.

    They run once without a sanitizer before: tests check loops in graphs, which the sanitizers cannot follow, and leave
    their kernels in the cache, since the compiler is slow under a sanitizer.
    """
    plain = {**os.environ, "REPRO_TEST_CACHE": cache, "OMP_NUM_THREADS": "1"}
    sanitized = plain | {"REPRO_SANITIZE": "memory"}
    bad = run_groups({None: collected(asked, plain, names)}, plain, program, workers)
    tests = collected(asked, sanitized, names)
    return bad + run_groups(dict.fromkeys(CUDA_TOOLS, tests), sanitized, program, workers)


def run_groups(tests, environment, program, workers) -> list[str]:
    """Run each tool's tests, without one where it is None, over all GPUs; return what went wrong."""
    bad, everywhere = [], itertools.cycle(cards())
    total = sum(map(len, tests.values()))
    at_once = min(AT_ONCE, 1 + total // workers)
    threads = max(1, (os.cpu_count() or 1) // max(1, min(workers, total)))

    def run(tool, group, card):
        began, watcher = time.monotonic(), watching(program, tool, threads) if tool else []
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
                bad.append(name)
    return bad


def watching(program: str, tool: str, threads: int = 1) -> list[str]:
    """Return compute-sanitizer's part of a command; racecheck has threads of its own.

    Refused calls of the driver are none of its findings: bindings ask for functions that a driver may lack.
    """
    excluded = [word for name in OTHERS for word in ("--kernel-name-exclude", name)]
    workers = ["--racecheck-num-workers", str(threads)] if tool == "racecheck" else []
    return [program, "--tool", tool, *OPTIONS, *excluded, *workers]


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
            cache = str(Path(folder, "cuda"))
            found = under_compute_sanitizer(program, asked, cache, options.workers, options.k)
            print("found something: " + ", ".join(found) if found else "no races, no access out of bounds")
            bad |= bool(found)
    return int(bad)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
