"""libCEED's product against sums over the elements, where the library is installed."""

import numpy as np
import pytest

import datasets
from baselines.sem import libceed
from baselines.sem.sums import Sums
from kernels.sem.numbering import number_nodes
from repro import Skip


def test_product_is_the_operator():
    mesh = datasets.load("remacle2016/mesh3-8", "smoke")
    for order in (1, 2, 5):
        numbering = number_nodes(mesh.cells, order)
        try:
            product = libceed.Product(mesh.points, mesh.cells, order, numbering.table, numbering.nodes, "host")
        except Skip as missing:
            pytest.skip(str(missing))
        x = np.random.default_rng(order).normal(size=numbering.nodes)
        y = np.empty_like(x)
        parts = Sums(mesh.points, mesh.cells, order).multiply(x[numbering.table])
        expected = np.bincount(numbering.table.ravel(), weights=parts.ravel())
        for _ in range(2):
            product.multiply(x, y)
            np.testing.assert_allclose(y, expected, atol=1e-12 * np.abs(expected).max())
        made = [each for _, each in product._objects]
        assert len(made) > 10 and all(each.value for each in made)
        del product
        assert not any(each.value for each in made)  # their memory is given back
    assert libceed.version()


def test_what_is_not_there_is_told(monkeypatch, tmp_path):
    monkeypatch.setenv("LIBCEED", str(tmp_path / "libceed.so"))
    with pytest.raises(Skip, match="does not load"):
        libceed.load()
    assert libceed.version() == ""
