"""Dependencies of a measurement, as components that can be compared and explained in words.

A cell's key has the hashes of the sources it uses, the keys of its datasets, the machine and the seed. It is kept as a
mapping rather than one digest, so that `differences` can say what changed.
"""

import ast
from collections.abc import Collection, Iterator, Mapping
from types import MappingProxyType
from typing import Any

from repro.machine import PACKAGES
from repro.model import DONE

#: First words of packages whose versions a measurement depends on; a machine's others (plots, tests) may change freely.
#: One that some modules call, as a baseline's, is none of them: to install it would void all that is measured. Its
#: version is a fact of the cells that run them, see `RIVALS`.
NUMERIC_PACKAGES = {"numpy", "scipy", "pyopencl", "pocl", "intel", "cupy", "cuda", "nvidia"}


#: Facts for the manifest alone: they vary by a reboot or an update, and change no measurement to speak of.
UNIMPORTANT = ("memory_bytes", "system")


#: Variables that choose the device, the threads and the compiler.
VARIABLES = (
    "CC", "CUDA_VISIBLE_DEVICES", "MKL_NUM_THREADS", "NUMBA_NUM_THREADS", "OMP_NUM_THREADS", "OMP_PLACES",
    "OMP_PROC_BIND", "OPENBLAS_NUM_THREADS", "POCL_AFFINITY", "POCL_MAX_PTHREAD_COUNT", "REPRO_OPENCL_DEVICE",
)  # fmt: skip


#: Values of ``CUDA_VISIBLE_DEVICES`` that name no device.
HIDING = ("", "-1")


#: Facts of the threads that a process may have.
THREADS = frozenset({"cores", "$OMP_PLACES", "$OMP_PROC_BIND", "$POCL_AFFINITY"}
                    | {f"${name}" for name in VARIABLES if "THREAD" in name})  # fmt: skip


#: First words of the packages that cells depend on by their device, and facts that cells on the other kind do not.
CUDA, OPENCL = frozenset({"cupy", "cuda", "nvidia"}), frozenset({"pyopencl"})
HOST, DRIVERS = frozenset({"numpy", "scipy"}), frozenset({"pocl", "intel"})  # drivers: OpenCL's, of processors
ON_PROCESSORS = frozenset({"cpu", "architecture", "python"})
ON_GPUS = frozenset({"gpu", "driver", "$CUDA_VISIBLE_DEVICES"})


#: Prefix of the facts that are versions of the libraries that a cell's modules call, most often a rival's.
RIVALS = "rivals."


def machine_facts(
    fingerprint: Mapping[str, Any], variables: Mapping[str, str] = MappingProxyType({})
) -> dict[str, str]:
    """Return the facts of a machine that a measurement depends on, as ``packages.numpy`` is ``2.4.6``.

    A measurement uses one GPU: where all are of one kind, it depends neither on their number nor on which one it is.
    A driver's third number is a patch of it: machines that a cluster lends may differ in that.

    `variables`: the process's environment, of which `VARIABLES` count.
    """
    facts = {}
    for name, value in _flatten(fingerprint):
        group, _, package = name.rpartition(".")
        if name in UNIMPORTANT or (group == "packages" and package.lower().partition("-")[0] not in NUMERIC_PACKAGES):
            continue
        value = ".".join(str(value).split(".")[:2]) if name == "driver" else value
        facts[name] = str(list(dict.fromkeys(value)) if name == "gpu" else value)
    counting = {name: variables[name] for name in VARIABLES if name in variables}
    if len(set(fingerprint.get("gpu", ()))) == 1 and counting.get("CUDA_VISIBLE_DEVICES") not in HIDING:
        counting.pop("CUDA_VISIBLE_DEVICES", None)
    return facts | {f"${name}": value for name, value in counting.items()}


def is_gpu(backend: str, device: str | None, facts: Mapping[str, str]) -> bool:
    """Return whether a device, by its name, is a GPU of the machine that some facts are of."""
    return backend == "cuda" or (bool(device) and repr(device) in facts.get("gpu", ""))


def rival_facts(versions: Mapping[str, str]) -> dict[str, str]:
    """Return the known versions of a rival's libraries as facts of its cells' machine."""
    return {f"{RIVALS}{name}": version for name, version in versions.items() if version}


def rivals_of(record: Mapping[str, Any]) -> dict[str, str]:
    """Return the versions of the libraries of rivals that a record depends on."""
    facts = record["key"].get("machine", {})
    return {name.removeprefix(RIVALS): version for name, version in facts.items() if name.startswith(RIVALS)}


def without_effect(record: Mapping[str, Any]) -> frozenset[str]:
    """Return the facts of its machine that a record does not depend on.

    Times on a GPU do not depend on the processor, nor on the threads that the process may have: the work of kernels on
    the host is serial. Cells that use ``cores`` depend on both. Cells with a row timed on the processor depend on it.
    Counts without times do not depend on the threads, unless they count them. Cells of processors alone do not see
    which GPUs are hidden, and the C compiler matters to what it builds. A cell that is not done is measured again
    wherever it is asked for, and is told until then.

    `record`: what is stored of a cell; damaged ones depend on all.
    """
    try:
        backend, rows = record["identity"]["backend"], record["rows"]
        facts = record["key"].get("machine", {})
        is_on_gpu = any(is_gpu(backend, row["device"], facts) for row in rows) or backend == "cuda"
        gpus = facts.get("gpu", "")
        is_on_both = is_on_gpu and any(gpus and row["device"] and repr(row["device"]) not in gpus for row in rows)
        is_on_gpu &= "cores" not in record.get("uses", ())
        is_counted = not record["samples"] and all(row["metric"] != "threads" for row in rows)
        found = THREADS if is_on_gpu or is_counted or record["status"] != DONE else frozenset()
        others = {f"packages.{name}" for name in PACKAGES} - _libraries(backend, is_on_gpu)
        found |= others | (ON_PROCESSORS if is_on_gpu and not is_on_both else frozenset())
        if not _is_compiled(record):
            found |= {"$CC"}
    except (LookupError, TypeError, AttributeError):
        return frozenset()
    return found | ON_GPUS if backend in ("host", "openmp") else found


def _is_compiled(record: Mapping[str, Any]) -> bool:
    """Return whether a cell runs what the machine's C compiler builds: a baseline of the host most often does not."""
    kernels = record["key"].get("kernels", {})
    return record["identity"]["backend"] == "openmp" or any(" openmp " in name for name in kernels)


def _libraries(backend: str, is_on_gpu: bool) -> set[str]:
    """Return the packages that a cell depends on by its device; rivals' packages are facts of their own."""
    first = {"cuda": CUDA, "opencl": OPENCL}.get(backend, frozenset())
    if not is_on_gpu:
        first = first | HOST | (DRIVERS if backend == "opencl" else frozenset())
    return {f"packages.{name}" for name in PACKAGES if name.partition("-")[0] in first}


def is_library(name: str) -> bool:
    """Return whether a fact of a machine is the version of a library."""
    return name.startswith(("packages.", RIVALS))


def is_unknown_rival(name: str, was: str, now: str) -> bool:
    """Return whether a fact is the version of a rival's library that is not known of both: it is of any."""
    return name.startswith(RIVALS) and not (was and now)


def fingerprint_of(facts: Mapping[str, str]) -> tuple[dict[str, Any], dict[str, str]]:
    """Return the fingerprint and the variables that `machine_facts` made facts of, but for what it leaves out."""
    fingerprint: dict[str, Any] = {}
    for name, text in facts.items():
        if name.startswith("$"):
            continue
        group, _, last = name.rpartition(".")
        place = fingerprint.setdefault(group, {}) if group else fingerprint
        place[last] = ast.literal_eval(text) if text.startswith("[") or last == "cores" else text
    return fingerprint, {name[1:]: text for name, text in facts.items() if name.startswith("$")}


def _flatten(mapping: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in mapping.items():
        if isinstance(value, Mapping):
            yield from _flatten(value, f"{prefix}{name}.")
        elif isinstance(value, list | tuple) and any(isinstance(item, Mapping) for item in value):
            yield from _flatten({str(k): item for k, item in enumerate(value)}, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def differences(old: Mapping[str, Any], new: Mapping[str, Any], but: Collection[str] = ()) -> list[str]:
    """Say in words how two keys differ, but for some facts of the machine; empty when they agree."""
    words = []
    before, now = old.get("data", {}), new.get("data", {})
    words += [f"dataset {name} changed" for name in sorted(now) if before.get(name) != now[name]]
    before, now = old.get("machine", {}), new.get("machine", {})
    for name in sorted(before.keys() | now.keys()):
        if is_unknown_rival(name, before.get(name, ""), now.get(name, "")):
            continue
        if before.get(name) != now.get(name) and name not in but:
            bare = name.removeprefix("packages.").removeprefix(RIVALS)
            label = name if name.startswith("$") else bare.replace(".", " ").replace("_", " ")
            words.append(f"{label} {before.get(name, 'none')} -> {now.get(name, 'none')}")
    if old.get("protocol") != new.get("protocol"):
        words.append(f"protocol of timing {old.get('protocol')} -> {new.get('protocol')}")
    if old.get("seed") != new.get("seed"):
        words.append(f"seed {old.get('seed')} -> {new.get('seed')}")
    return words


def in_short(words: list[str], most: int = 3) -> str:
    """Join differences to one line, the first few of them in full."""
    rest = len(words) - most
    return "; ".join(words[:most]) + (f"; and {rest} more" if rest > 0 else "")
