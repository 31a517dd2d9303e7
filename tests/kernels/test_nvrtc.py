"""Every kernel source is built for CUDA by NVRTC, which needs no GPU, and on the other back ends that are here.

A source that no build is listed for fails: each module that builds kernels lists them in ``BUILDS``, as
``(path or file name beside the module, block, defines)``.
"""

import functools
import importlib
import re
from pathlib import Path

import pytest

from kernels.device import BACKENDS, Unavailable, compiler, open_device, opencl, source

ROOT = Path(__file__).resolve().parents[2]
NOT_KERNELS = {ROOT / "kernels/device/pool.c"}
SOURCES = sorted({path for path in (ROOT / "kernels").rglob("*") if path.suffix in (".c", ".cu")} - NOT_KERNELS)
PROCESSORS = ".cpu.c"  # bodies for the C back end alone


def listed_builds():
    """Return ``(path, block, defines)`` of the builds that the modules under kernels/ list."""
    builds = []
    for module_path in sorted((ROOT / "kernels").rglob("*.py")):
        if "\nBUILDS" not in module_path.read_text(encoding="utf-8"):
            continue
        parts = module_path.relative_to(ROOT).with_suffix("").parts
        module = importlib.import_module(".".join(parts[:-1] if parts[-1] == "__init__" else parts))
        for name, block, defines in module.BUILDS:
            path = module_path.parent / name
            builds.append((path, block, defines))
            builds += [(path.with_suffix(suffix), block, defines) for suffix in (".cu", PROCESSORS)
                       if path.with_suffix(suffix).exists()]  # fmt: skip
    return list({repr(build): build for build in builds}.values())  # what two modules list is built once


BUILDS = listed_builds()


def name_of(build):
    path, block, defines = build
    told = {
        name: value if "," not in str(value) else f"{str(value).count(',') + 1} values"
        for name, value in defines.items()
    }
    return "-".join([path.name, str(block).replace(" ", ""), *(f"{name}={value}" for name, value in told.items())])


def check(nvrtc, result):
    code, *values = result
    assert code == nvrtc.nvrtcResult.NVRTC_SUCCESS, code
    return values[0] if values else None


def compile_with_nvrtc(text, architecture, product="CUBIN", hurry=("--Ofast-compile=max",)):
    """Return the cubin of `text`, or its PTX, and the compiler's log; None and the log when the compiler refuses it."""
    nvrtc = pytest.importorskip("cuda.bindings.nvrtc", reason="cuda-bindings and nvidia-cuda-nvrtc are not installed")
    try:
        program = check(nvrtc, nvrtc.nvrtcCreateProgram(text.encode(), b"kernel.cu", 0, [], []))
    except RuntimeError as error:
        pytest.skip(f"no NVRTC library: {error}")
    options = [each.encode() for each in ("--std=c++17", f"-arch={architecture}", *hurry)]  # nobody runs it
    code = nvrtc.nvrtcCompileProgram(program, len(options), options)[0]
    log = b" " * max(2, check(nvrtc, nvrtc.nvrtcGetProgramLogSize(program)))  # written to: one byte is Python's own
    check(nvrtc, nvrtc.nvrtcGetProgramLog(program, log))
    if code != nvrtc.nvrtcResult.NVRTC_SUCCESS:
        return None, log.decode()
    made = b" " * max(2, check(nvrtc, getattr(nvrtc, f"nvrtcGet{product}Size")(program)))
    check(nvrtc, getattr(nvrtc, f"nvrtcGet{product}")(program, made))
    return made, log.decode()


@pytest.mark.parametrize("path", SOURCES, ids=lambda path: path.relative_to(ROOT).as_posix())
def test_source_has_a_listed_build(path):
    assert path in [build[0] for build in BUILDS], "no module beside it lists a build of it in BUILDS"


def architectures(builds):
    """Pair every build with sm_90; with sm_80, too, what is CUDA's alone or differs by architecture, and each first.

    Blocks of one thread are the C back end's: of a source that has no others the first is enough.
    """
    seen, wide = set(), {path for path, block, _ in builds if block != 1}
    for build in builds:
        path, block, _ = build
        if path.name.endswith(PROCESSORS) or (block == 1 and path in wide | seen):
            continue
        yield build, "sm_90"
        if build[0].suffix == ".cu" or "__CUDA_ARCH__" in build[0].read_text() or build[0] not in seen:
            yield build, "sm_80"
        seen.add(build[0])


@pytest.mark.parametrize(
    ("build", "architecture"), list(architectures(BUILDS)), ids=lambda v: v if isinstance(v, str) else name_of(v)
)
def test_builds_for_cuda_without_a_gpu(build, architecture):
    kernels = source.load(*build)
    cubin, log = compile_with_nvrtc(kernels.text("prelude_cuda.h"), architecture)
    assert cubin, log
    for signature in kernels.signatures:
        assert signature.name.encode() in cubin


def test_short_rows_of_slices_ask_for_all_x_of_a_round_at_once():
    """No branch stands between the loads of x, which would have each wait for the one before."""
    defines = {"real": "double", "SLICE": 32, "SORTED": 0, "LANES": 1, "SHORT": 1, "WALKS": 0, "MIN_BLOCKS": 1}
    text = source.load(ROOT / "kernels/spmv/sell.cu", 128, defines).text("prelude_cuda.h")
    ptx, log = compile_with_nvrtc(text, "sm_90", "PTX", ())
    assert ptx, log
    met = re.findall(r"\b(?:ld\.global\.nc\.f64|bra)\b", ptx.decode())
    assert "ld.global.nc.f64 " * 5 in " ".join(met) + " "


def test_nvrtc_names_the_line_of_the_source(tmp_path):
    path = tmp_path / "wrong.c"
    path.write_text("KERNEL wrong(GLOBAL int *x)\n{\n    OUTER(b);\n    x[b] = missing;\n}\n")
    cubin, log = compile_with_nvrtc(source.load(path).text("prelude_cuda.h"), "sm_90")
    assert cubin is None
    assert f"{path}(4)" in log and "missing" in log


@pytest.fixture(scope="module")
def unoptimised():
    """Return a function that opens a device whose kernels nobody runs; compilers spend no time on making them fast."""
    with pytest.MonkeyPatch.context() as patch:
        flags = ("-O0" if flag == "-O3" else flag for flag in compiler.FLAGS)
        patch.setattr(compiler, "FLAGS", (*flags, "-fno-sanitize=all"))  # zig's clang checks what it does not optimise
        patch.setattr(opencl, "OPTIONS", (*opencl.OPTIONS, "-cl-opt-disable"))
        yield functools.cache(lambda backend: importlib.import_module(f"kernels.device.{backend}").open_device())


@pytest.mark.parametrize("backend", BACKENDS)
@pytest.mark.parametrize("build", BUILDS, ids=name_of)
def test_builds_on_every_back_end_here(build, backend, unoptimised):
    path, block, defines = build
    if path.suffix == ".cu" and backend != "cuda":
        pytest.skip("a CUDA body")
    if path.name.endswith(PROCESSORS) and backend != "openmp":
        pytest.skip("a body for processors")
    try:
        open_device(backend)
    except Unavailable as missing:
        pytest.skip(str(missing))
    device, kernels = unoptimised(backend), source.load(path, block, defines)
    if kernels.shared_bytes > device.shared_bytes:
        pytest.skip(f"{device.name} has {device.shared_bytes} bytes of shared memory a block")
    names = [signature.name for signature in kernels.signatures]
    built = device.build(path, block, defines, portable=path.suffix == ".c")
    assert sorted(vars(built)) == sorted(names)
