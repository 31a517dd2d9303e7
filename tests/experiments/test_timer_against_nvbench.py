"""On a GPU the timer agrees with NVIDIA's own benchmark library (package cuda-bench), warm and cold, on three kernels.

Run as a program, this file is the nvbench side: a process of its own, since nvbench parses the command line and owns
the device.
"""

import json
import subprocess
import sys
from pathlib import Path

import pytest

TOLERANCE = 0.03


def workloads(device):
    """Return three kernels of 50 µs and more: streaming, bound by arithmetic in shared memory, bound by atomics."""
    from datasets.structured import kuhn
    from kernels import assembly
    from kernels.assembly.problem import Problem
    from kernels.stream.probes import memory_probes

    triad = next(probe for probe in memory_probes(device, 128 << 20) if probe.kind == "triad")
    problem = Problem(*kuhn(80)[:2])
    return {"triad": triad.function} | {
        method: assembly.prepare(method, device, problem).launch for method in ("ring", "atomic")
    }


def nvbench(path):
    """Time the workloads with nvbench; it writes its JSON to `path`."""
    import cupy
    from cuda import bench

    from kernels.device import open_device

    functions = workloads(open_device("cuda"))

    def benchmark_of(name):
        def benchmark(state):
            def launch(launch):
                with cupy.cuda.ExternalStream(launch.get_stream().addressof()):
                    functions[name]()

            state.exec(launch)

        benchmark.__name__ = name
        return benchmark

    for name in functions:
        bench.register(benchmark_of(name))
    bench.run_all_benchmarks([sys.argv[0], "--json", path])


def seconds(report, tag):
    """Return the value of a summary of every benchmark in nvbench's report."""
    return {
        benchmark["name"]: float(data["value"])
        for benchmark in report["benchmarks"]
        for state in benchmark["states"]
        for summary in state["summaries"]
        if summary["tag"] == tag
        for data in summary["data"]
        if data["name"] == "value"
    }


def test_warm_and_cold_times_agree_with_nvbench(tmp_path):
    pytest.importorskip("cupy", reason="needs CuPy and an NVIDIA GPU")
    pytest.importorskip("cuda.bench", reason="needs the package cuda-bench")
    from kernels.device import Unavailable, open_device
    from repro.run.statistics import summarise
    from repro.run.timing import sample

    try:
        device = open_device("cuda")
    except Unavailable as missing:
        pytest.skip(str(missing))
    report = tmp_path / "nvbench.json"
    done = subprocess.run(
        [sys.executable, __file__, str(report)], cwd=Path(__file__).parents[2], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    theirs = json.loads(report.read_text())
    warm, cold = seconds(theirs, "nv/batch/time/gpu/mean"), seconds(theirs, "nv/cold/time/gpu/mean")
    for name, function in workloads(device).items():
        for expected, evict in ((warm, False), (cold, True)):
            ours = summarise(sample(function, device, cold=evict).seconds).median
            print(f"{name} {'cold' if evict else 'warm'}: {ours * 1e6:.2f} us, nvbench {expected[name] * 1e6:.2f} us")
            assert ours == pytest.approx(expected[name], rel=TOLERANCE), (name, "cold" if evict else "warm")


if __name__ == "__main__":
    nvbench(sys.argv[1])
