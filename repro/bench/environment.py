"""An environment of asv's: a commit checked out and put before this Python's own packages.

asv's own environments build a wheel and install every library anew, for each commit. Here both sides of a comparison
have the same libraries, the driver's among them, so that only the project's code differs; and nothing is downloaded.
asv's own `existing` does that, too, but has no commits and no requirements. The versions that are here are told to asv
as this environment's requirements: it draws a line for each, so that a new CuPy is no regression of the project's.
"""

import os
import re
import shutil
import subprocess
import sys
from importlib import metadata
from pathlib import Path

from asv import util
from asv.environment import Environment

LIBRARIES = re.compile(r"numpy|scipy|numba|(cupy|nvidia-cuda-nvrtc)(-cu\S+)?|ziglang")
COMPILERS = ("gcc", "clang", "cc")  # the first that is here compiles, unless CC names one


def versions() -> dict[str, str]:
    """Return the versions that times depend on, whatever the commit: libraries' and the C compiler's."""
    found = {}
    for package in metadata.distributions():
        if named := LIBRARIES.fullmatch(package.metadata["Name"].lower()):
            found[named[1] or named[0]] = package.version
    for name in os.environ.get("CC", "").split()[:1] or COMPILERS:
        if path := shutil.which(name):
            said = subprocess.run([path, "--version"], capture_output=True, text=True, check=False).stdout
            version = re.search(r"\d+(\.\d+)+", said)
            found["compiler"] = f"{Path(name).name}-{version[0] if version else 'unknown'}"
            break
    return found


class Checkout(Environment):
    """A checkout of the commit; what is run sees its packages first."""

    tool_name = "checkout"

    def __init__(self, conf, python, requirements, tagged_env_vars):
        self._executable, self._python = sys.executable, python
        self._requirements = requirements | versions()
        super().__init__(conf, python, self._requirements, tagged_env_vars)

    @classmethod
    def matches(cls, python):
        """Whether it can be made for a Python: for the one that runs."""
        return python == f"{sys.version_info[0]}.{sys.version_info[1]}"

    def check_presence(self):
        """Whether there is nothing to set up; there never is."""
        return Path(self._path).is_dir()

    def _setup(self):
        os.makedirs(self._path, exist_ok=True)

    def install_project(self, conf, repo, commit_hash):
        """Check the commit out."""
        os.makedirs(self._path, exist_ok=True)
        if self._get_installed_commit_hash() != commit_hash:
            self.checkout_project(repo, commit_hash)
            self._set_installed_commit_hash(commit_hash)
        self._set_commit_hash(commit_hash)

    def find_executable(self, executable):
        """Return this Python, or what the path has of another name."""
        return self._executable if executable == "python" else util.which(executable)

    def run_executable(self, executable, args, **kwargs):
        """Run a program with the checkout first on Python's path."""
        environment = {**kwargs.pop("env", os.environ), **self._global_env_vars}
        # asv's own program takes PYTHONPATH back, unless it finds the same under its own name.
        environment |= dict.fromkeys(("PYTHONPATH", "ASV_PYTHONPATH"), self._build_root)
        kwargs["timeout"] = kwargs.get("timeout") or self._install_timeout
        return util.check_output([self.find_executable(executable), *args], env=environment, **kwargs)

    def run(self, args, **kwargs):
        """Run Python."""
        return self.run_executable("python", list(args), **kwargs)
