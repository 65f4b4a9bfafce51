"""Features against the linear kernel on the same samples."""

import numpy as np
import pytest
from scipy import sparse

from semisvm.spaces import Features, Gram, Kernel, MappedFeatures


@pytest.mark.parametrize("to", [np.asarray, sparse.csr_matrix, sparse.csr_array], ids=["dense", "matrix", "array"])
def test_features_are_the_space_of_the_linear_kernel(to):
    rng = np.random.default_rng(0)
    X, a = rng.standard_normal((90, 4)), rng.standard_normal(90)
    space, gram = Features(to(X)), Gram(Kernel("linear"), to(X))
    w = space.from_dual(a)
    np.testing.assert_allclose(w, X.T @ a, atol=1e-12)
    np.testing.assert_allclose(space.scores(w, -0.4), gram.scores(a, -0.4), atol=1e-10)
    assert space.norm2(w) == pytest.approx(gram.norm2(a), rel=1e-10)
    assert space.norm1(w) == pytest.approx(np.abs(w).sum(), rel=1e-12)
    np.testing.assert_allclose(space.gram().compute(), X @ X.T, atol=1e-10)
    assert space.gram() is space.gram()
    assert space.n == 90
    assert space.design.X is space.X


def test_mapped_features_give_the_coefficients_of_the_landmarks():
    rng = np.random.default_rng(1)
    Z, T, w = rng.standard_normal((6, 3)), rng.standard_normal((4, 3)), rng.standard_normal((3, 2))
    space = MappedFeatures(Z, None, None, T)
    np.testing.assert_allclose(space.landmark_coef(w), T @ w)
    np.testing.assert_allclose(space.scores(w[:, 0], 0.5), Z @ w[:, 0] + 0.5)
