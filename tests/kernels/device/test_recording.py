"""Kernels that were launched are told by their text after the preprocessor, and no others."""

import numpy as np
import pytest

from kernels import device as devices
from kernels.device import macros, recording

TEXT = "#define USED 2\n#define UNUSED 3\nKERNEL twice(GLOBAL double *RESTRICT x)\n{\n" \
       "    OUTER(b);\n#ifdef MORE\n    // more\n#endif\n    INNER(t) { x[b * BLOCK + t] *= USED; }\n}\n"  # fmt: skip


@pytest.fixture
def launched(tmp_path):
    device, path = devices.open_device("openmp"), tmp_path / "twice.c"
    path.write_text(TEXT)
    recording.begin_record()
    device.build(path, block=8).twice(1, device.array(np.ones(8)))
    yield path, recording.described(recording.recorded())
    recording.now = None


def test_a_kernel_is_noted_in_each_recording_in_which_it_is_launched(launched):
    path, found = launched
    device = devices.open_device("openmp")
    assert [name.split()[1:3] for name in found] == [["openmp", "8x1x1"]]
    for is_launched in (False, True):
        recording.begin_record()
        if is_launched:
            device.build(path, block=8).twice(1, device.array(np.ones(8)))
        assert bool(recording.recorded()) is is_launched
    recording.begin_record()
    with recording.paused():
        device.build(path, block=8).twice(1, device.array(np.ones(8)))
    assert not recording.recorded()


@pytest.mark.parametrize(
    ("old", "new", "is_another"),
    [
        ("// more", "// less", False), ("#define UNUSED 3\n", "", False), ("// more", "x[0] = 1;", False),
        ("OUTER(b);\n", "OUTER(b);  /* why */\n\n", False), ("USED 2", "USED (1 + 1)", True),
        ("*= USED", "+= USED", True),
    ],
)  # fmt: skip
def test_comments_unused_macros_and_branches_not_taken_make_no_other_kernel(launched, old, new, is_another):
    path, found = launched
    ((name, entry),) = found.items()
    path.write_text(TEXT.replace(old, new))
    now = recording.current(name, entry)
    assert now["text"] != entry["text"] and (now["preprocessed"] != entry["preprocessed"]) is is_another


OPENMP, CUDA, OPENCL = (f"prelude_{each}.h" for each in ("openmp", "cuda", "opencl"))


@pytest.mark.parametrize("prelude", [OPENMP, CUDA, OPENCL])
def test_conditions_on_the_compiler_keep_both_branches(prelude):
    given = "#ifdef DIALECT_CPU\nthree\n#endif\n#if __CUDA_ARCH__ >= 800\none\n#else\ntwo\n#endif\n" \
            "#ifdef cl_khr_fp64\nfour\n#endif\n"  # fmt: skip
    assert {"one", "two", "three", "four"} <= set(macros.expanded(given, prelude).split())


WIDE = """#define SUM ADD(1)
#if WIDEST
#define WIDTH 8
#define ADD(x) BOTH(x, 8)
#elif WIDER && SIZE == 4
#define WIDTH 4
#define ADD(x) (x)
#if SIZE
#define NESTED 5
#endif
#else
#define WIDTH 2
#define ADD(x) (x) - 1
#define UNUSED 6
#endif
#define BOTH(x, y) (x) + (y)
#if WIDTH == 8
eight
#else
WIDTH NESTED
#endif
SUM
"""


@pytest.mark.parametrize(
    ("prelude", "widest", "wider"),
    [
        (OPENMP, "defined(__AVX512F__)", "defined(__AVX__)"),
        (CUDA, "__CUDA_ARCH__ >= 900", "defined(__CUDACC_RTC__) && __CUDA_ARCH__ >= 800"),
        (OPENCL, "__OPENCL_VERSION__ >= 300", "defined(cl_khr_fp64)"),
        (OPENCL, "defined(DIALECT_PTX)", "!defined(DIALECT_CPU)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize(
    ("old", "new", "is_another"),
    [
        ("WIDTH 8", "WIDTH 9", True), ("WIDTH 4", "WIDTH 5", True), ("WIDTH 2", "WIDTH 1", True),
        ("BOTH(x, 8)", "BOTH(x, 9)", True), ("(x) + (y)", "(x) - (y)", True), ("NESTED 5", "NESTED 6", True),
        ("WIDER", "defined(__SSE__)", True), ("eight", "8", True),
        ("UNUSED 6", "UNUSED 7", False), ("WIDTH 8", "WIDTH  8 // why", False),
    ],
)  # fmt: skip
def test_macros_of_each_branch_that_a_compiler_may_take_count(prelude, widest, wider, old, new, is_another):
    texts = ("#define SIZE 4\n" + each.replace("WIDEST", widest).replace("WIDER", wider)
             for each in (WIDE, WIDE.replace(old, new)))  # fmt: skip
    before, now = (macros.expanded(each, prelude) for each in texts)
    assert (before != now) is is_another


UNROLLED = """#define LANES 4
#define TIMES (LANES > 2 ? 1 : LANES)
#define OTHERS 3
#define UNUSED OTHERS
#define EACH _Pragma("unroll TIMES") for
#if CONDITION
#define MORE 1
#endif
LOOP
"""


@pytest.mark.parametrize("loop", ["#pragma unroll TIMES\nfor", '_Pragma("unroll TIMES") for', "EACH"])
@pytest.mark.parametrize("condition", ["0", "__SOME"])
@pytest.mark.parametrize("prelude", [OPENMP, CUDA, OPENCL])
@pytest.mark.parametrize(
    ("old", "new", "is_another"),
    [
        ("? 1", "? 2", True), ("LANES 4", "LANES 2", True), ("OTHERS 3", "OTHERS 4", False),
        ("#define UNUSED OTHERS\n", "", False), ("TIMES (", "TIMES  /* why */ (", False),
    ],
)  # fmt: skip
def test_macros_that_a_pragma_names_count(prelude, condition, loop, old, new, is_another):
    """Compilers expand them there, and no other text of a kernel may name them."""
    text = UNROLLED.replace("CONDITION", condition).replace("LOOP", loop)
    before, now = (macros.expanded(each, prelude) for each in (text, text.replace(old, new)))
    assert (before != now) is is_another


@pytest.mark.parametrize(
    ("condition", "takers"),
    [("defined(__CUDACC__)", {CUDA}), ("defined(__OPENCL_VERSION__)", {OPENCL}),
     ("!defined(__CUDACC__) && !defined(__OPENCL_VERSION__)", {OPENMP})],
)  # fmt: skip
@pytest.mark.parametrize("prelude", [OPENMP, CUDA, OPENCL])
def test_a_branch_that_another_back_end_takes_defines_no_macro_of_a_text(prelude, condition, takers):
    text = f"#if {condition}\n#define A 1\n#else\n#define A 2\n#endif\nA\n"
    for old, is_own in (("A 1", prelude in takers), ("A 2", prelude not in takers)):
        now = macros.expanded(text.replace(old, "A 3"), prelude)
        assert (now != macros.expanded(text, prelude)) is is_own


def test_what_is_kept_of_a_text_is_of_the_same_preprocessor(monkeypatch, tmp_path):
    monkeypatch.setenv("REPRO_CACHE", str(tmp_path))
    before = recording.preprocessed("text", OPENMP)
    monkeypatch.setattr(macros, "expanded", lambda *_: "another")
    assert recording.preprocessed("text", OPENMP) == before
    monkeypatch.setattr(recording, "_preprocessor", lambda: "another")
    assert recording.preprocessed("text", OPENMP) != before


def test_a_kernel_that_is_gone_is_none(launched):
    path, found = launched
    path.unlink()
    assert recording.current(*next(iter(found.items()))) is None


def test_a_source_that_appears_beside_another_and_is_preferred_is_noticed(launched):
    path, found = launched
    ((name, entry),) = found.items()
    path.with_suffix(".cu").write_text(TEXT.replace("*=", "+="))  # which another back end prefers
    assert recording.current(name, entry) == entry
    path.with_suffix(".cpu.c").write_text(TEXT.replace("*=", "+="))
    assert recording.current(name, entry)["preprocessed"] != entry["preprocessed"]
    device = devices.open_device("openmp")
    recording.begin_record()
    device.build(path, block=8, portable=True).twice(1, device.array(np.ones(8)))
    ((name, entry),) = recording.described(recording.recorded()).items()
    assert recording.current(name, entry) == entry  # it was asked for all the same
