"""Set up the project's Python environment with nothing but the standard library; `make` calls this before each target.

``python3 repro/install/bootstrap.py`` makes ``.venv`` and installs what measuring needs, pinned, and the project itself
(editable); ``--with`` names optional groups of ``pyproject.toml``. By itself it takes a C compiler where the machine
has none, and CuPy for the CUDA of the NVIDIA driver, if there is one. It returns at once when nothing has changed
since, and needs no network then. An environment whose set-up was killed half-way is made anew. The file keeps to a
syntax that older Pythons read, so that they can say that they are too old.
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
import errno
import fcntl
import hashlib
import importlib.util
import json
import os
import shlex
import shutil
import subprocess
import tempfile
import time
import tomllib
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
if __name__ == "__main__":
    sys.path.insert(0, str(ROOT))

from repro.install.installing import DiskFull, PipError, SetupError, pip, say

NEEDED = {"test", "dev"}  # the groups without which the target that asks for them is nothing
ELSE = {"compiler": "; install gcc or clang"}
STAMP, STARTED = "repro-setup.json", "repro-setup.started"
ROOM = 30e6  # bytes that an environment of pip alone takes, about
PROGRAM = "#include <math.h>\nint main(int count, char **words) { return words[0] && floor(count) > 9; }\n"


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


def compilers():
    """Return the C compilers that are here, by their names or by $CC."""
    named = [shlex.split(os.environ.get("CC", "")), ["gcc"], ["clang"], ["cc"]]
    return [shlex.join(words) for words in named if words and shutil.which(words[0])]


def compiles(compiler):
    """Tell whether a C compiler makes a program, headers, libraries, linker and all."""
    with tempfile.TemporaryDirectory(prefix="repro-setup-") as folder:
        source, program = Path(folder, "program.c"), Path(folder, "program")
        source.write_text(PROGRAM)
        words = [*shlex.split(compiler), str(source), "-o", str(program), "-lm"]
        try:
            done = subprocess.run(words, stdin=subprocess.DEVNULL, capture_output=True, timeout=20)
        except (OSError, subprocess.TimeoutExpired):
            return False
        return done.returncode == 0 and program.is_file()


def has_opencl_driver():
    """Tell whether an OpenCL driver is registered here."""
    folder = Path(os.environ.get("OCL_ICD_VENDORS") or "/etc/OpenCL/vendors")
    return any(folder.glob("*.icd"))


def groups(asked, cuda, compiler):
    """Return the names of the groups for this machine: the groups asked for, and any that it has a use for."""
    names = set(asked)
    if not compiler:
        names.add("compiler")
    if cuda != "none":
        names.add(f"cuda{cuda}")
    if cuda != "none" or has_opencl_driver():
        names.add("opencl")
    if cuda == "12":
        names.discard("nvrtc")  # CuPy for CUDA 12 would load this newer compiler in place of its own
    if not any(map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))):
        names.discard("browser")
    return names


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
        full = shutil.disk_usage(venv).free < ROOM
        said = (made.stdout + made.stderr).strip().splitlines() or ["nothing was said"]
        shutil.rmtree(venv, ignore_errors=True)
        raise DiskFull() if full else SetupError(f"{sys.executable} -m venv {venv} failed: {said[-1]}")


def install(venv, required, optional):
    """Install requirements, and groups of them that can be done without.

    Parameters
    ----------
    optional : dict of str to list of str
        Requirements by the name of the group.

    Returns
    -------
    dict of str to str
        The groups that could not be installed, and why. Anything else that fails raises.
    """
    if not required and not optional:
        return {}
    try:
        pip(venv, ROOT, *required, *[requirement for group in optional.values() for requirement in group])
        return {}
    except PipError as error:
        if error.for_all or not optional:
            raise
        if not required and len(optional) == 1:
            return dict.fromkeys(optional, error.summary)
    missing = install(venv, required, {})
    for name, requirements in optional.items():
        missing |= install(venv, [], {name: requirements})
    return missing


@contextlib.contextmanager
def one_at_a_time(venv):
    """Keep two set-ups of an environment from meeting: of any checkouts, if a file can be made beside it."""
    path = venv.resolve()
    path.parent.mkdir(parents=True, exist_ok=True)
    path = path.with_name(f".{path.name.lstrip('.')}.lock")
    if not os.access(path.parent, os.W_OK):  # as of an environment of the user's own
        path = ROOT / ".cache/setup.lock"
        path.parent.mkdir(exist_ok=True)
    with path.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        yield


def set_up(venv, asked, wanted_cuda, again):
    """Bring `venv` up to date.

    Parameters
    ----------
    venv : pathlib.Path
        Made when it is not there; an environment of the user's own is installed into, and never deleted.
    asked : iterable of str
        Optional groups; the groups of earlier calls stay.
    wanted_cuda : {'auto', 'none', '12', '13'}
    again : bool
        Try once more what an earlier set-up could not install.

    Returns
    -------
    bool
        Whether there was anything to do.
    """
    pyproject = tomllib.loads((ROOT / "pyproject.toml").read_text())
    want = digest(pyproject, (ROOT / "constraints.txt").read_text())
    known = pyproject["project"]["optional-dependencies"]
    unknown = sorted(set(asked) - known.keys())
    if unknown:
        raise SetupError(f"there is no group {', '.join(unknown)}; there are {', '.join(sorted(known))}")
    on_machine, why = choose_cuda(wanted_cuda)
    here = compilers()

    def plan(stamp):
        # A machine without a GPU leaves the CuPy that one with a GPU has put into a shared folder.
        cuda = stamp.get("cuda", on_machine) if (on_machine, wanted_cuda) == ("none", "auto") else on_machine
        compiler = stamp.get("compilers") == here or "compiler" in stamp.get("groups", ()) or any(map(compiles, here))
        return cuda, groups(asked, cuda, compiler)

    def is_current(stamp):
        if stamp.get("digest") != want or (again and stamp.get("missing")):
            return False
        return plan(stamp)[1] <= set(stamp["groups"])

    if is_current(read_stamp(venv)) and (venv / "bin/python").exists():
        return False
    with one_at_a_time(venv):
        stamp = read_stamp(venv)
        owner = stamp.get("root", "")
        if is_current(stamp) and is_usable(venv):
            return False
        began = time.monotonic()
        killed = (venv / STARTED).exists()
        ours = bool(stamp.get("created"))
        cuda, wanted = plan(stamp)
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
            ours, stamp = True, {}
        earlier = {name for name in stamp.get("groups", ()) if name in known and (name[:4] != "cuda" or name in wanted)}
        complete = stamp.get("digest") == want
        wanted |= earlier
        added = sorted(wanted - earlier | stamp.get("missing", {}).keys() & wanted if complete else wanted)
        first = [] if complete else [why, "installing what measuring needs"]
        say("; ".join(first + ([f"installing what is for {', '.join(added)}"] if added else [])))
        if ours:
            (venv / STARTED).touch()
        (venv / STAMP).unlink(missing_ok=True)
        project = pyproject["project"]
        # The build system under the constraints as well, so that a later change to pyproject.toml needs no network.
        required = [] if complete else [*pyproject["build-system"]["requires"], *project.get("dependencies", [])]
        required += [requirement for name in added if name in NEEDED for requirement in known[name]]
        try:
            missing = {name: said for name, said in stamp.get("missing", {}).items() if complete and name not in added}
            missing |= install(venv, required, {name: known[name] for name in added if name not in NEEDED})
            if not complete:
                pip(venv, ROOT, "--no-index", "--no-deps", "--no-build-isolation", "--editable", ".")
        except SetupError:
            # Pip has put back what it had changed, so the environment is as good as before; a kill leaves the mark.
            write_stamp(venv, {"created": ours, "cuda": "none", **stamp} | ({} if complete else {"digest": ""}))
            (venv / STARTED).unlink(missing_ok=True)
            raise
        stamp = {
            "digest": want, "root": str(ROOT), "cuda": cuda, "groups": sorted(wanted), "created": ours,
            "missing": missing, "compilers": None if "compiler" in wanted else here,
        }  # fmt: skip
        write_stamp(venv, stamp)
        (venv / STARTED).unlink(missing_ok=True)
        for name, reason in missing.items():
            say(f"without the optional {name}: {reason}{ELSE.get(name, '')} (`make setup` tries again)")
        if owner not in ("", str(ROOT)) and Path(owner, "pyproject.toml").is_file():
            say(f"this environment belonged to {owner}; its `repro` now runs this checkout")
        say(f"ready in {time.monotonic() - began:.0f} s")
        return True


def main(arguments=None):
    """Run the command line; returns the exit status."""
    parser = argparse.ArgumentParser(description="Set up the project's Python environment.")
    parser.add_argument("--venv", default=".venv", help="the environment's folder (default .venv)")
    parser.add_argument("--with", default="", dest="groups", help="optional groups of pyproject.toml, in one word")
    parser.add_argument("--cuda", default="auto", choices=("auto", "none", "12", "13"), help="CuPy for this CUDA")
    parser.add_argument("--again", action="store_true", help="say so when all is up to date; try again what failed")
    options = parser.parse_args(arguments)
    venv = ROOT / Path(options.venv).expanduser()
    try:
        changed = set_up(venv, options.groups.replace(",", " ").split(), options.cuda, options.again)
    except (SetupError, OSError) as error:
        error = DiskFull() if getattr(error, "errno", None) == errno.ENOSPC else error
        print(f"setup: {error}", file=sys.stderr)
        return 1
    except KeyboardInterrupt:
        print("setup: stopped; the next make starts it over", file=sys.stderr)
        return 130
    if options.again and not changed:
        say("all is up to date")
    return 0


if __name__ == "__main__":
    sys.exit(main())
