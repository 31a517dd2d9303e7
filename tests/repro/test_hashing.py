"""Keys are compared in words."""

from repro.hashing import differences, fingerprint_of, in_short, machine_facts

KEY = {
    "sources": {"kernels/a.c": "1", "kernels/b.py": "2"}, "data": {"fu2014/regular": "x"},
    "machine": {"driver": "580", "packages.numpy": "2.4"}, "seed": 0,
}  # fmt: skip


def test_equal_keys_do_not_differ():
    assert differences(KEY, dict(KEY)) == []


def test_each_component_is_put_in_words():
    now = {
        "sources": {"kernels/a.c": "9", "kernels/c.py": "3"}, "data": {"fu2014/regular": "y"},
        "machine": {"driver": "590", "packages.scipy": "1.17"}, "seed": 4,
    }  # fmt: skip
    assert differences(KEY, now) == [
        "kernels/a.c changed",
        "kernels/c.py is now used",
        "kernels/b.py is no longer used",
        "dataset fu2014/regular changed",
        "driver 580 -> 590",
        "numpy 2.4 -> none",
        "scipy none -> 1.17",
        "seed 0 -> 4",
    ]


def test_long_lists_are_cut():
    assert in_short(["a", "b", "c", "d", "e"]) == "a; b; c; and 2 more"


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


def test_which_of_several_kinds_of_gpu_matters():
    first, second = (machine_facts({"gpu": ["G", "H"]}, {"CUDA_VISIBLE_DEVICES": which}) for which in "01")
    assert first != second
    assert machine_facts({"gpu": ["G", "H"]}) != machine_facts({"gpu": ["G"]})
