"""Dense spectra and a product by SciPy that the polynomial preconditioners' tests go through."""

import numpy as np
import pytest
import scipy.sparse


class ByScipy:
    """The parts of a packed matrix that the preconditioner needs, by SciPy on the host."""

    def __init__(self, device, matrix, dtype):
        self.device, self.matrix = device, matrix.astype(dtype)
        self.shape, self.dtype = matrix.shape, np.dtype(dtype)
        self.products = 0

    def multiply(self, x, y):
        product = self.matrix @ self.device.to_host(x)
        self.products += 1
        if self.device.is_gpu:
            y.set(product)
        else:
            self.device.to_host(y)[:] = product


@pytest.fixture
def by_scipy():
    return ByScipy


@pytest.fixture(scope="session")
def elasticity():
    """A cantilever of 24 × 8 bilinear plane-stress elements by scikit-fem, clamped at x = 0, loaded at its end."""
    from skfem import Basis, BoundaryFacetBasis, ElementQuad1, ElementVector, LinearForm, MeshQuad, condense
    from skfem.models.elasticity import lame_parameters, linear_elasticity

    mesh = MeshQuad.init_tensor(np.linspace(0, 3, 25), np.linspace(0, 1, 9))
    element = ElementVector(ElementQuad1())
    basis = Basis(mesh, element)
    matrix = linear_elasticity(*lame_parameters(1.0, 0.3)).assemble(basis)
    end = BoundaryFacetBasis(mesh, element, facets=mesh.facets_satisfying(lambda x: x[0] == 3))
    load = LinearForm(lambda v, w: -v[1]).assemble(end)
    inner, rhs, *_ = condense(matrix, load, D=basis.get_dofs(lambda x: x[0] == 0))
    return scipy.sparse.csr_array(inner), rhs


@pytest.fixture(scope="session")
def scaled_dense(elasticity):
    """The scaled matrix, sparse, and its eigenvalues and vectors."""
    matrix = elasticity[0]
    factors = scipy.sparse.diags_array(1 / np.sqrt(matrix.diagonal()))
    scaled = (factors @ matrix @ factors).tocsr()
    return scaled, *np.linalg.eigh(scaled.toarray())
