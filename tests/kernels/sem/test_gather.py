"""Places of numbers against NumPy's stable sort."""

import numpy as np
import pytest

from kernels.sem.gather import places_of


@pytest.mark.parametrize(
    "numbers",
    [[], [-1, -1], [0], [3, -1, 0, 3, 3, -1, 1], np.random.default_rng(0).integers(-2, 50, 1000).tolist()],
    ids=["none", "all left out", "one", "some", "many"],
)
@pytest.mark.parametrize("dtype", ["int32", "int64"])
def test_places_are_those_of_a_stable_sort(device, numbers, dtype):
    count, numbers = 51, np.array(numbers, dtype)
    offsets, places = (
        np.array(device.to_host(device.array(a))) for a in places_of(device.xp.asarray(numbers), count, device.xp)
    )
    assert (offsets.dtype, places.dtype) == ("int32", "int32")
    np.testing.assert_array_equal(places, np.argsort(numbers, kind="stable")[(numbers < 0).sum() :])
    np.testing.assert_array_equal(offsets, [(numbers[numbers >= 0] < k).sum() for k in range(count + 1)])
