"""Arrays that a kernel was given before are not checked again, and others are, whatever their ids were before."""

import gc

import numpy as np
import pytest

from kernels.sem import gather


def scattered(device, kernels, x, y, count=4):
    table = device.array(np.array([2, 0, -1, 1], "int32"))
    kernels.scatter(1, count, table, x, y)
    return np.array(device.to_host(y)).tolist()


def test_the_same_arrays_again_with_other_numbers(device):
    kernels = device.build(*gather.build("float64"))
    table, x = device.array(np.array([2, 0, -1, 1], "int32")), device.array(np.array([1.0, 2.0, 3.0]))
    for count, expected in ((4, [3.0, 1.0, 0.0, 2.0]), (2, [3.0, 1.0, 7.0, 7.0]), (4, [3.0, 1.0, 0.0, 2.0])) * 2:
        y = device.zeros(4, "float64")
        for _ in range(3):
            device.fill(y, 7.0)
            kernels.scatter(1, count, table, x, y)
        assert np.array(device.to_host(y)).tolist() == expected
    with pytest.raises(TypeError):
        kernels.scatter(1, 4.5, table, x, y)
    with pytest.raises(TypeError):
        kernels.scatter(1, 4, table, x)
    with pytest.raises(ValueError, match="negative"):
        kernels.scatter(-1, 4, table, x, y)


def test_arrays_that_take_the_place_of_others(device):
    kernels = device.build(*gather.build("float64"))
    for factor in range(1, 200):
        x, y = device.array(np.array([1.0, 2.0, 3.0]) * factor), device.zeros(4, "float64")
        for _ in range(3):
            assert scattered(device, kernels, x, y) == [3.0 * factor, 1.0 * factor, 0.0, 2.0 * factor]
        del x, y
    gc.collect()
    y = device.zeros(4, "float64")
    for wrong in ("float32", "int64"):  # which may lie where an array of the right type lay
        for _ in range(50):
            with pytest.raises(TypeError):
                scattered(device, kernels, device.zeros(3, wrong), y)


def test_known_arrays_are_not_kept(openmp):
    kernels = openmp.build(*gather.build("float64"))
    kernel = kernels.scatter
    table, y = openmp.array(np.array([2, 0, -1, 1], "int32")), openmp.zeros(4, "float64")
    before = len(kernel._known)
    x = openmp.array(np.array([1.0, 2.0, 3.0]))
    for _ in range(3):
        kernel(1, 4, table, x, y)
    assert len(kernel._known) == before + 1
    del x
    gc.collect()
    assert len(kernel._known) == before
