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


def test_reports_of_compute_sanitizer_are_read():
    """As version 2025.3 writes them."""
    race = "========= {}: Race reported between Write access at {}+0xd50 in relax.c:84\n"
    and_so = "=========     and Read access at {}+0x630 [384 hazards]\n========= \n"
    out_of_bounds = "========= Invalid __global__ read of size 8 bytes\n=========     at sell(int, double *)+0x90\n"
    launched = "=========     Saved host backtrace up to driver entry point at kernel launch time\n"
    nonzero = "cupy_nonzero_kernel_incomplete_scan"
    assert races.reported("...F..\n========= RACECHECK SUMMARY: 0 hazards displayed (0 errors, 0 warnings)") == ([], [])
    assert races.reported(race.format("Warning", nonzero) + and_so.format(nonzero)) == ([], [nonzero])
    both = ".F" + race.format("Error", "postrelax") + race.format("Error", "postrelax") + out_of_bounds + launched
    assert races.reported(both) == (["postrelax", "sell"], [])
