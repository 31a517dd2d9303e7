"""Everything that the harness may use: the kernels' devices, the baselines and the datasets."""

from __future__ import annotations

import functools
import importlib
import os
import tomllib
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import baselines
import datasets
from kernels import device as devices
from kernels.device import ahead, cache, recording
from repro import Presence, Skip
from repro.run.ceilings import CeilingKernel


def device(backend: str) -> Any:
    """Open the device of a back end; Skip when it is not on this machine."""
    try:
        return devices.open_device(backend)
    except devices.Unavailable as missing:
        raise Skip(missing.reason, missing.remedy) from None


begin_record, recorded, record = recording.begin_record, recording.recorded, recording.record
described, kernel_now = recording.described, recording.current
#: Files whose code is accounted for by `launching` and by the kernels' texts: building is done once in a process. The
#: code that reads a device's energy is none of them, nor are the ways of `passage`, which few cells take.
_DEVICES, TRACED = Path(devices.__file__).parent, ("passage", "power")
UNTRACED = tuple(f"kernels/device/{path.name}" for path in sorted(_DEVICES.glob("*.py")) if path.stem not in TRACED)


def keep_apart(folder: str) -> None:
    """Have this process keep meshes and what it tunes in a folder; kernels for CUDA stay where CuPy looks for them."""
    theirs = Path("~/.cupy/kernel_cache").expanduser()  # CuPy's own choice
    kernels = cache.folder("cuda") if "REPRO_CACHE" in os.environ else theirs
    os.environ.setdefault("CUPY_CACHE_DIR", str(kernels))
    os.environ["REPRO_CACHE"] = folder


def building_seconds() -> float:
    """Return for how long, until now, kernels were built or waited for."""
    return ahead.waited


def launching(kernels: Mapping[str, Any]) -> list[str]:
    """Return the files that run when kernels, as `described` names them, are launched, by their paths."""
    backends = {name.split()[1] for name in kernels}
    of = {backend: importlib.import_module(f"kernels.device.{backend}").Device.launching for backend in backends}
    return sorted({f"kernels/device/{file}" for files in of.values() for file in files})


def presences() -> list[Presence]:
    """Return the back ends with their devices, and the baselines."""
    found = [Presence(s.backend, "back end", s.available, s.detail, s.remedy) for s in devices.survey()]
    return found + [Presence(s.name, "baseline", s.available, s.detail, s.remedy) for s in baselines.survey()]


def libraries(paths: Iterable[str]) -> dict[str, str]:
    """Return the libraries that modules call, with their versions; see `experiments.libraries`."""
    from experiments.libraries import called

    return called(paths)


def library(name: str) -> str:
    """Return the version of a library that is here; empty where there is none, or it does not tell."""
    from experiments.libraries import version

    return version(name)


def device_probes(device: Any) -> Iterator[CeilingKernel]:
    """Yield the probes of a device; by this and by `host_probes` alone are ceilings known to be of other sources."""
    from kernels.stream.probes import ceiling_probes

    yield from _as_ceilings(ceiling_probes(device))


def host_probes() -> Iterator[CeilingKernel]:
    """Yield the probes of the host."""
    from kernels.stream.host import probes

    yield from _as_ceilings(probes())


def _as_ceilings(probes: Iterable[Any]) -> Iterator[CeilingKernel]:
    for probe in probes:
        yield CeilingKernel(
            probe.name, probe.kind, probe.size_bytes, probe.function, probe.bytes, probe.flops, probe.precision
        )


def dataset(name: str, scale: str, override: str | None = None) -> Any:
    """Return a mesh, or the user's own file in its place."""
    return datasets.load(name, scale, override)


def dataset_key(name: str, scale: str, override: str | None = None) -> str:
    """Return the hash of a mesh's recipe, or of the user's file."""
    return datasets.key(name, scale, override)


def dataset_packages(name: str) -> tuple[str, ...]:
    """Return the packages that build a mesh or matrix, and whether it may have been downloaded."""
    return datasets.entry(name).packages


def dataset_digest(name: str, scale: str, override: str | None = None) -> str:
    """Return the SHA-256 of a mesh's content."""
    return datasets.digest(name, scale, override)


def dataset_cost(name: str, scale: str) -> tuple[float, float]:
    """Return about how many seconds a mesh or matrix takes to be built, and how many bytes: ``datasets/costs.toml``."""
    seconds, gigabytes = _costs().get(scale, {}).get(name, (0.1, 0.25))
    return float(seconds), 1e9 * gigabytes


@functools.cache
def _costs() -> dict[str, Any]:
    return tomllib.loads(Path(datasets.__file__).with_name("costs.toml").read_text())


def catalogue() -> list:
    """Return the meshes there are."""
    return list(datasets.catalogue())
