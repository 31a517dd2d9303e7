"""ThreadSanitizer sees a race that is planted between blocks, and none in kernels that have none."""

import sys

import pytest

from tests import races

KERNEL = """KERNEL tally(const int n, GLOBAL int *RESTRICT total)
{
    OUTER(b);
    INNER(t) { %s }
}
"""
PROGRAM = """
import sys
from kernels.device import open_device
device = open_device("openmp")
total = device.zeros(1, "int32")
device.build(sys.argv[1], 32, {}).tally(100, 5, total)
"""


@pytest.mark.parametrize(
    ("body", "is_race"), [("ATOMIC_ADD_GLOBAL(total, 1);", False), ("if (t == 0) total[0] += 1;", True)]
)
def test_a_planted_race_is_found(tmp_path, body, is_race):
    if races.thread_sanitizer() is None:
        pytest.skip("there is no gcc with libtsan")
    source = tmp_path / "tally.c"
    source.write_text(KERNEL % body)
    command = [sys.executable, "-c", PROGRAM, str(source)]
    status, found = races.under_thread_sanitizer(command, str(tmp_path / "cache"), tmp_path / "log")
    assert status == 0
    assert bool(found) == is_race, found
    assert not is_race or ("data race" in found[0] and "tally" in found[0])
