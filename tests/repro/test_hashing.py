"""Keys are compared in words."""

import pytest

from repro.cache.hashing import differences, fingerprint_of, machine_facts, without_effect
from repro.cache.keys import changes, of_one_processor

KEY = {
    "data": {"fu2014/regular": "x"},
    "machine": {"driver": "580", "packages.numpy": "2.4"}, "seed": 0,
}  # fmt: skip


def test_each_component_is_put_in_words():
    assert differences(KEY, dict(KEY)) == []
    now = {
        "data": {"fu2014/regular": "y"},
        "machine": {"driver": "590", "packages.scipy": "1.17"}, "seed": 4,
    }  # fmt: skip
    assert differences(KEY, now) == [
        "dataset fu2014/regular changed", "driver 580 -> 590", "numpy 2.4 -> none", "scipy none -> 1.17", "seed 0 -> 4",
    ]  # fmt: skip


def test_only_what_a_measurement_depends_on_enters():
    facts = machine_facts(
        {
            "cpu": "X",
            "memory_bytes": 5,
            "packages": {"numpy": "2", "matplotlib": "3", "cupy-cuda13x": "14", "pyamgcl": "1.0"},
            "gpu": ["G"],
        }
    )
    assert facts == {"cpu": "X", "packages.numpy": "2", "packages.cupy-cuda13x": "14", "gpu": "['G']"}


def test_a_fingerprint_can_be_made_of_facts():
    fingerprint = {"cpu": "X", "cores": 12, "packages": {"numpy": "2", "cupy-cuda13x": "14"}, "gpu": ["G", "H"]}
    variables = {"CUDA_VISIBLE_DEVICES": "1"}
    assert fingerprint_of(machine_facts(fingerprint, variables)) == (fingerprint, variables)


def test_which_of_several_gpus_of_one_kind_does_not_matter():
    one, four = ({"gpu": ["G"] * count} for count in (1, 4))
    assert machine_facts(one) == machine_facts(four, {"CUDA_VISIBLE_DEVICES": "3"}) == {"gpu": "['G']"}
    for hiding in ("", "-1"):  # all of them
        assert machine_facts(four, {"CUDA_VISIBLE_DEVICES": hiding}) != machine_facts(four)


def test_a_patch_of_the_driver_does_not_matter():
    of = [machine_facts({"driver": each}) for each in ("580.159.03", "580.159.04", "580.95.05")]
    assert of[0] == of[1] != of[2]


def test_which_of_several_kinds_of_gpu_matters():
    first, second = (machine_facts({"gpu": ["G", "H"]}, {"CUDA_VISIBLE_DEVICES": which}) for which in "01")
    assert first != second
    assert machine_facts({"gpu": ["G", "H"]}) != machine_facts({"gpu": ["G"]})


def record(
    backend="host", device="X", status="done", samples=("solve",), metric="solve", uses=(), kernels=(), **machine
):
    rows = [{"device": device, "metric": metric}, {"device": "", "metric": "n"}]
    return {
        "status": status, "identity": {"backend": backend}, "rows": rows, "uses": uses,
        "samples": {metric: [1.0] for metric in samples}, "key": {"machine": {"cpu": "X", "gpu": "['G']", **machine}},
    }  # fmt: skip


CORES, HIDDEN = {"cores": "4"}, {"$CUDA_VISIBLE_DEVICES": ""}


@pytest.mark.parametrize(
    ("measured", "other", "said"),
    [
        (record("cuda", "G", cores="12"), CORES, []),
        (record("cuda", "G", **{"$OMP_NUM_THREADS": "12"}), {}, []),
        (record("openmp", **{"$CC": "gcc"}), {}, ["$CC gcc -> none"]),
        (record("cuda", "G", **{"$CC": "gcc"}), {}, []),
        (record("host", **{"$CC": "gcc"}), {}, []),
        (record("cuda", "G"), HIDDEN, ["$CUDA_VISIBLE_DEVICES none -> "]),
        (record("opencl", "G", cores="12"), CORES, []),
        (record("opencl", "X", cores="12"), CORES, ["cores 12 -> 4"]),
        (record("opencl", "X"), HIDDEN, ["$CUDA_VISIBLE_DEVICES none -> "]),
        (record("openmp", "X", cores="12"), CORES, ["cores 12 -> 4"]),
        (record("openmp", "X"), HIDDEN, []),
        (record("cuda", "G", cores="12", uses=("cores",)), CORES, ["cores 12 -> 4"]),
        (record("opencl", "G", cores="12", uses=("cores",)), CORES, ["cores 12 -> 4"]),
        (record("cuda", "G", cores="12", uses=("other",)), CORES, []),
        (record("host", "", cores="12"), CORES, ["cores 12 -> 4"]),
        (record("host", "", cores="12", samples=()), CORES, []),
        (record("host", "", cores="12", samples=(), metric="threads"), CORES, ["cores 12 -> 4"]),
        (record("cuda", "", status="skipped", cores="12"), CORES, []),
        (record("opencl", "G", **{"packages.intel-opencl-rt": "1"}), {}, []),
        (record("openmp", "X", **{"packages.intel-opencl-rt": "1"}), {}, []),
        (record("opencl", "X", **{"packages.intel-opencl-rt": "1"}), {}, ["intel-opencl-rt 1 -> none"]),
        (record("openmp", "", status="failed", cores="12"), CORES, []),
        *(
            (record("cuda", "G", cores="12", **{f"${name}": "1"}), CORES, [])
            for name in ("OMP_NUM_THREADS", "POCL_MAX_PTHREAD_COUNT", "OMP_PLACES", "OMP_PROC_BIND", "POCL_AFFINITY")
        ),
    ],
)
def test_facts_that_a_record_does_not_depend_on_do_not_void_it(measured, other, said):
    now = {"machine": {"cpu": "X", "gpu": "['G']", **other}}
    if "cores" not in other:
        now["machine"] |= {name: value for name, value in measured["key"]["machine"].items() if name == "cores"}
    assert changes(measured, now) == said


def test_with_a_gpu_another_processor_voids_nothing_but_is_told_from_the_first():
    there = {"machine": {"cpu": "Y", "gpu": "['G']"}}
    on_gpu, on_processor = record("cuda", "G"), record("openmp")
    on_both = record("cuda", "G")
    on_both["rows"] = [*on_both["rows"], {"device": "X", "metric": "packing"}]  # by the host's clock
    assert changes(on_gpu, there) == changes(on_processor, there) == changes(on_both, there) == []
    assert [of_one_processor(each, there) for each in (on_gpu, on_processor, on_both)] == [True, False, False]
    del on_processor["key"]["machine"]["gpu"], there["machine"]["gpu"]
    assert changes(on_processor, there) == ["cpu X -> Y"]


def test_a_baseline_that_launches_a_kernel_of_the_processor_depends_on_its_compiler():
    alone = record("host")
    assert "$CC" in without_effect(alone)
    alone["key"]["kernels"] = {"a.c openmp 1x1x1 0": {}}
    assert "$CC" not in without_effect(alone)


@pytest.mark.parametrize(
    "damage", [{"identity": None}, {"identity": {}}, {"rows": None}, {"rows": [{}]}, {"samples": None, "rows": [{}]}]
)
def test_a_damaged_record_depends_on_all(damage):
    damaged = record("opencl", "G", cores="12") | damage
    assert changes(damaged, {"machine": record()["key"]["machine"] | CORES}) == ["cores 12 -> 4"]
