"""A small world for the harness: one device that is there, one that is not, one dataset."""

import hashlib
import os
from dataclasses import dataclass
from pathlib import Path

from repro import Presence, Skip
from repro.run.timing import HostClock


class Device(HostClock):
    """The host, posing as a device."""

    backend, is_gpu, details = "opencl", False, {"driver": "1.0"}

    def __init__(self):
        super().__init__()
        self.name, self.lost = "Pretend device", False

    def lose(self):
        """Be lost, as a CUDA context after an illegal access: every later call in this process fails."""
        self.lost = True
        self.use()

    def use(self):
        if self.lost:
            raise RuntimeError("CUDA_ERROR_ILLEGAL_ADDRESS, on purpose")


def device(backend):
    if backend == "opencl":
        return Device()
    raise Skip(f"no {backend} device", f"plug one in for {backend}")


UNTRACED = ()


def keep_apart(folder):
    pass


def building_seconds():
    return 0.0


def begin_record():
    """Its device launches no kernel."""


def recorded():
    return {}


def record(launched):
    pass


def described(launched):
    return {}


def kernel_now(name, entry):
    return None


def launching(kernels):
    return []


def presences():
    return [
        Presence("opencl", "backend", True, "Pretend device 1.0"),
        Presence("cuda", "backend", False, "no driver", "plug one in for cuda"),
    ]


def library(name):
    return os.environ.get("FAKELAB_ADDER", "") if name == "adder" else ""


def libraries(paths):
    return {"adder": library("adder")} if any(path.endswith("/looping.py") for path in paths) else {}


def device_probes(device):
    return []


def host_probes():
    return []


def dataset(name, scale, override=None):
    if override:
        return [int(line) for line in Path(override).read_text().split()]
    return list(range({"smoke": 10, "small": 100, "paper": 1000, "large": 10000}[scale]))


def dataset_key(name, scale, override=None):
    return hashlib.sha256(Path(override).read_bytes()).hexdigest()[:12] if override else f"range-{scale}"


def dataset_packages(name):
    return ()


def dataset_digest(name, scale, override=None):
    return hashlib.sha256(repr(dataset(name, scale, override)).encode()).hexdigest()


def dataset_cost(name, scale):
    return 5.0, 1e6


@dataclass
class Entry:
    """A dataset of the catalogue."""

    name: str = "demo2020/numbers"
    title: str = "The first numbers"
    scales: tuple = ("smoke", "small", "paper", "large")
    stand_in_for: str = ""

    def build(self, scale):
        return Path("nowhere")

    def facts(self, scale):
        return {"count": len(dataset(self.name, scale))}

    def verify(self, scale):
        return []

    def is_cached(self, scale):
        return scale == "smoke"


def catalogue():
    return [Entry()]
