"""Launches that are noted once and repeated: nothing happens before, and what is wrong is refused where it is noted."""

import numpy as np
import pytest

from kernels.device.base import taped
from kernels.sem import gather


def test_launches_are_repeated_with_the_same_arrays(device):
    kernels = device.build(*gather.build("float64"))
    table = device.array(np.array([2, 0, -1, 1], "int32"))
    x, y = device.array(np.array([1.0, 2.0, 3.0])), device.zeros(4, "float64")
    repeat = taped(lambda: kernels.scatter(1, 4, table, x, y))
    assert (np.array(device.to_host(y)) == 0).all()
    for factor in (1.0, 5.0):
        device.fill(x, factor)
        repeat()
        assert np.array(device.to_host(y)).tolist() == [factor, factor, 0.0, factor]
    kernels.scatter(1, 3, table, x, y)  # and afterwards they are done at once
    with pytest.raises(TypeError):
        taped(lambda: kernels.scatter(1, 4, table, x))
    device.fill(x, 7.0)
    kernels.scatter(1, 4, table, x, y)
    assert np.array(device.to_host(y)).max() == 7.0
