"""Set up the project's Python environment with nothing but the standard library; `make` calls this before each target.

``python3 repro/bootstrap.py`` makes ``.venv``, installs the pinned dependencies and the project itself (editable), and
CuPy for the CUDA of the NVIDIA driver, if there is one. It returns at once when nothing has changed since, and needs no
network then. An environment whose set-up was killed half-way is made anew. The file keeps to a syntax that older
Pythons read, so that they can say that they are too old.
"""

import sys

OLDEST = (3, 11)
if sys.version_info < OLDEST:
    sys.exit(
        "repro needs Python %d.%d or newer, and %s is %d.%d; name another: make PYTHON=python3.12"
        % (OLDEST + (sys.executable,) + sys.version_info[:2])
    )

import argparse
import contextlib
import ctypes
import fcntl
import hashlib
import importlib.util
import json
import os
import re
import shutil
import subprocess
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
ALWAYS = ("test", "bench", "dev")
STAMP, STARTED, LOG = "repro-setup.json", "repro-setup.started", "repro-setup.log"
UNREACHABLE = re.compile(
    r"connection broken by|Max retries exceeded|Could not fetch URL|Temporary failure in name resolution"
)


class SetupError(Exception):
    """A set-up that cannot go on, in one line that says what to do."""


class PipError(SetupError):
    """Pip refused: what it said last, and whether it was for want of a package index."""

    def __init__(self, output, log):
        errors = [line for line in output if line.startswith("ERROR") or re.match(r"\s*\w+Error: ", line)] or output
        self.unreachable = any(UNREACHABLE.search(line) for line in output)
        self.summary = errors[-1].strip() if errors else "pip said nothing"
        if self.unreachable:
            message = (
                "pip cannot reach a package index. Connect to the network, or name a mirror (PIP_INDEX_URL) or a "
                f"folder of wheels (PIP_NO_INDEX=1 PIP_FIND_LINKS=folder); what pip said: {log}"
            )
        else:
            message = f"pip failed: {self.summary} (everything it said: {log})"
        super().__init__(message)


def cuda_of_driver():
    """Return the CUDA version that the NVIDIA driver is for, as (major, minor); None without a driver or a GPU."""
    try:
        driver = ctypes.CDLL("libcuda.so.1")
    except OSError:
        return None
    version = ctypes.c_int()
    if driver.cuInit(0) != 0 or driver.cuDriverGetVersion(ctypes.byref(version)) != 0:
        return None
    return version.value // 1000, version.value % 1000 // 10


def choose_cuda(wanted):
    """Return ('13' | '12' | 'none', why), the CUDA to install CuPy for; `wanted` is one of these or 'auto'."""
    if wanted != "auto":
        return wanted, "as asked"
    version = cuda_of_driver()
    if version is None:
        return "none", "no NVIDIA GPU and driver here: without CuPy"
    said = "the NVIDIA driver is for CUDA {}.{}".format(*version)
    if version[0] < 12:
        return "none", f"{said}, and CuPy needs 12.0 or newer: without CuPy"
    major = "13" if version[0] >= 13 else "12"
    return major, f"{said}: CuPy for CUDA {major}"


def groups(project, cuda):
    """Return the optional groups of requirements for this machine, by name: the set-up does without one that fails."""
    names = ["pocl", "report"]
    if any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        names.append("browser")
    if shutil.which("ld") is None:
        names.append("linker")
    if cuda != "12":
        names.append("nvrtc")
    if cuda != "none":
        names.append(f"cuda{cuda}")
    return {name: project["optional-dependencies"][name] for name in names}


def digest(pyproject, constraints):
    """Return the hash of all that decides what is installed, and of where, since an editable install holds the path."""
    material = json.dumps([pyproject["build-system"], pyproject["project"], constraints, str(ROOT)], sort_keys=True)
    return hashlib.sha256(material.encode()).hexdigest()


def read_stamp(venv):
    """Return what the last completed set-up of `venv` left, or an empty mapping."""
    try:
        return json.loads((venv / STAMP).read_text())
    except (OSError, ValueError):
        return {}


def write_stamp(venv, stamp):
    """Record a completed set-up, in one step."""
    temporary = venv / (STAMP + ".tmp")
    temporary.write_text(json.dumps(stamp, indent=1) + "\n")
    os.replace(temporary, venv / STAMP)


def is_usable(venv):
    """Tell whether `venv` has a Python, new enough, with pip."""
    question = f"import pip, sys; sys.exit(sys.version_info < {OLDEST})"
    try:
        return subprocess.run([venv / "bin/python", "-I", "-c", question], capture_output=True).returncode == 0
    except OSError:
        return False


def create(venv):
    """Make `venv` a fresh virtual environment with pip."""
    if importlib.util.find_spec("ensurepip") is None:
        package = "python{}.{}-venv".format(*sys.version_info)
        raise SetupError(
            f"{sys.executable} cannot make virtual environments, since it has no ensurepip; install it "
            f"(Debian, Ubuntu: apt install {package}), or name another Python: make PYTHON=..."
        )
    shutil.rmtree(venv, ignore_errors=True)
    venv.mkdir(parents=True)
    (venv / STARTED).touch()
    made = subprocess.run([sys.executable, "-m", "venv", venv], capture_output=True, text=True)
    if made.returncode != 0 or not is_usable(venv):
        said = (made.stdout + made.stderr).strip().splitlines() or ["nothing was said"]
        shutil.rmtree(venv, ignore_errors=True)
        raise SetupError(f"{sys.executable} -m venv {venv} failed: {said[-1]}")


def pip(venv, *arguments):
    """Run pip install in `venv`, its output into the log, and on a terminal the line it is at."""
    command = [venv / "bin/python", "-I", "-m", "pip", "--disable-pip-version-check", "install", "--progress-bar=off"]
    environment = {name: value for name, value in os.environ.items() if name not in ("PYTHONPATH", "PYTHONHOME")}
    environment["PIP_USER"] = "0"
    output = []
    everything = [*command, "-c", "constraints.txt", *arguments]
    said = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT, "text": True, "errors": "replace"}
    with (venv / LOG).open("a") as log, subprocess.Popen(everything, cwd=ROOT, env=environment, **said) as process:
        for line in process.stdout:
            log.write(line)
            output.append(line)
            if sys.stdout.isatty():
                print("\r\033[K  " + line.strip()[: shutil.get_terminal_size().columns - 3], end="", flush=True)
    if sys.stdout.isatty():
        print("\r\033[K", end="", flush=True)
    if process.returncode != 0:
        raise PipError(output, venv / LOG)


def install(venv, pyproject, optional):
    """Install the project, its dependencies and the optional groups.

    Returns
    -------
    dict of str to str
        The optional groups that could not be installed, and why. Anything else that fails raises.
    """
    # The build system first, under the constraints as well, so that a later change to pyproject.toml needs no network.
    pip(venv, *pyproject["build-system"]["requires"])
    project = ["--no-build-isolation", "--editable", ".[{}]".format(",".join(ALWAYS))]
    try:
        pip(venv, *project, *[requirement for group in optional.values() for requirement in group])
        return {}
    except PipError as error:
        if error.unreachable or not optional:
            raise
    pip(venv, *project)
    missing = {}
    for name, requirements in optional.items():
        try:
            pip(venv, *requirements)
        except PipError as error:
            missing[name] = error.summary
    return missing


@contextlib.contextmanager
def one_at_a_time():
    """Keep two set-ups of this checkout from meeting."""
    folder = ROOT / ".cache"
    folder.mkdir(exist_ok=True)
    with (folder / "setup.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up(venv, wanted_cuda, again, say):
    """Bring `venv` up to date.

    Parameters
    ----------
    venv : pathlib.Path
        Made when it is not there; an environment of the user's own is installed into, and never deleted.
    wanted_cuda : {'auto', 'none', '12', '13'}
    again : bool
        Try once more what an earlier set-up could not install.
    say : callable
        Takes the lines for the user.
    """
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    want = digest(pyproject, (ROOT / "constraints.txt").read_text())
    asked, why = choose_cuda(wanted_cuda)

    def plan(stamp):
        # A machine without a GPU leaves the CuPy that one with a GPU has put into a shared folder.
        cuda = stamp.get("cuda", asked) if (asked, wanted_cuda) == ("none", "auto") else asked
        return cuda, groups(pyproject["project"], cuda)

    def is_current(stamp):
        has_all = set(plan(stamp)[1]) <= set(stamp.get("groups", ()))
        return stamp.get("digest") == want and has_all and not (again and stamp.get("missing"))

    if is_current(read_stamp(venv)) and (venv / "bin/python").exists():
        return False
    with one_at_a_time():
        stamp = read_stamp(venv)
        if is_current(stamp) and is_usable(venv):
            return False
        began = time.monotonic()
        killed = (venv / STARTED).exists()
        ours = bool(stamp.get("created"))
        cuda, optional = plan(stamp)
        # Two CuPys in one environment hide each other.
        other_cuda = cuda != "none" and stamp.get("cuda", cuda) not in ("none", cuda)
        if other_cuda and not ours:
            raise SetupError(f"{venv} has CuPy for CUDA {stamp['cuda']}, and {why}: pip uninstall it, or make VENV=...")
        if killed or other_cuda or not is_usable(venv):
            if not (killed or ours) and venv.exists() and any(venv.iterdir()):
                raise SetupError(
                    f"{venv} is there but has no Python {'.'.join(map(str, OLDEST))} or newer with pip: "
                    "remove it, or name another: make VENV=..."
                )
            reason = "again, since a set-up was killed half-way, " if killed else ""
            say(f"making {venv} {reason}with Python {sys.version.split()[0]}")
            create(venv)
            ours = True
        say(f"{why}; installing, which takes a minute or more the first time")
        if ours:
            (venv / STARTED).touch()
        (venv / STAMP).unlink(missing_ok=True)
        try:
            missing = install(venv, pyproject, optional)
        except SetupError:
            # Pip has put back what it had changed, so the environment is as good as before; a kill leaves the mark.
            write_stamp(venv, {"created": ours, "cuda": stamp.get("cuda", "none")})
            (venv / STARTED).unlink(missing_ok=True)
            raise
        stamp = {"digest": want, "cuda": cuda, "groups": sorted(optional), "created": ours, "missing": missing}
        write_stamp(venv, stamp)
        (venv / STARTED).unlink(missing_ok=True)
        for name, reason in missing.items():
            say(f"without the optional {name}: {reason} (`make setup` tries again)")
        say(f"ready in {time.monotonic() - began:.0f} s")
        return True


def main(arguments=None):
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Set up the project's Python environment.")
    parser.add_argument("--venv", default=".venv", help="the environment's folder (default .venv)")
    parser.add_argument("--cuda", default="auto", choices=("auto", "none", "12", "13"), help="CuPy for this CUDA")
    parser.add_argument("--again", action="store_true", help="say so when all is up to date; try again what failed")
    options = parser.parse_args(arguments)
    try:
        changed = set_up(
            ROOT / Path(options.venv).expanduser(), options.cuda, options.again, lambda line: print(f"setup: {line}")
        )
    except SetupError as error:
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: stopped; the next make starts it over", file=sys.stderr)
        return 130
    if options.again and not changed:
        print("setup: all is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
