"""The kernels' tests under sanitizers: ``make races``, or python tests/races.py [pytest's arguments].

The OpenMP back end under ThreadSanitizer, for races between blocks; CUDA under compute-sanitizer, for races between the
threads of a block (racecheck) and for reads and writes out of bounds (memcheck). What is not on the machine is named.
The exit status is 1 if either finds anything, or a test fails.
"""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CUDA_TOOLS = ("racecheck", "memcheck")


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


def main(arguments: list[str]) -> int:
    """Run what can be run here."""
    asked = arguments or ["tests/kernels"]
    pytest = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", *asked]
    bad = 0
    with tempfile.TemporaryDirectory(prefix="repro-races-") as folder:
        if thread_sanitizer() is None:
            print("ThreadSanitizer: skipped, because there is no gcc with libtsan (apt install gcc)")
        else:
            print("== ThreadSanitizer: kernels on the OpenMP back end", flush=True)
            log = Path(folder, "races")
            status, found = under_thread_sanitizer([*pytest, "-k", "openmp"], str(Path(folder, "cache")), log)
            print("\n".join(found) or "no races")
            bad += bool(found) or status not in (0, 5)  # 5: no test of that name
    program = shutil.which("compute-sanitizer") or shutil.which("/usr/local/cuda/bin/compute-sanitizer")
    if program is None:
        print("compute-sanitizer: skipped, because it is not on the path (it comes with the CUDA toolkit)")
        return int(bad > 0)
    for tool in CUDA_TOOLS:
        print(f"== compute-sanitizer, {tool}: kernels on the CUDA back end", flush=True)
        # Refused calls of the driver are none of its findings: bindings ask for functions that a driver may lack.
        options = ["--error-exitcode", "9", "--target-processes", "all", "--report-api-errors", "no"]
        command = [program, "--tool", tool, *options, *pytest, "-k", "cuda"]
        environment = {**os.environ, "REPRO_SANITIZE": "memory"}  # it cannot follow loops in graphs
        bad += subprocess.run(command, cwd=ROOT, env=environment, check=False).returncode not in (0, 5)
    return int(bad > 0)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
