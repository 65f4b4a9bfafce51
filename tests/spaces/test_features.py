"""Features against the linear kernel on the same samples."""

import numpy as np
import pytest
from scipy import sparse

from semisvm.spaces import Features, Gram, Kernel, MappedFeatures, is_far_from_origin, linear_features


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


def test_samples_far_from_the_origin_are_centered_where_the_intercept_is_free():
    X = np.random.default_rng(2).standard_normal((30, 3)) + [1e8, 0.0, -5.0]
    space = linear_features(X, free_intercept=True)
    np.testing.assert_allclose(space.center, X.mean(axis=0))
    np.testing.assert_allclose(space.X, X - X.mean(axis=0))
    assert linear_features(X, free_intercept=False).center is None
    assert linear_features(X - X.mean(axis=0) + 20.0, free_intercept=True).center is None


def test_sparse_samples_are_centered_in_the_features_without_a_zero():
    X = np.random.default_rng(2).standard_normal((30, 4)) + [1e8, 0.0, -50.0, 0.0]
    X[::2, 1] = 0.0
    given = sparse.csr_array(X)
    kept = given.data.copy()
    space = linear_features(given, free_intercept=True)
    np.testing.assert_allclose(space.center, [X[:, 0].mean(), 0.0, X[:, 2].mean(), X[:, 3].mean()])
    np.testing.assert_allclose(space.X.toarray(), X - space.center)
    assert space.X.nnz == given.nnz
    np.testing.assert_array_equal(given.data, kept)
    assert linear_features(given, free_intercept=False).center is None
    assert linear_features(sparse.csr_array(X[:, 1:2]), free_intercept=True).center is None


def test_far_is_measured_by_the_range_of_the_samples():
    X = np.random.default_rng(3).uniform(0.0, 1.0, (40, 2))
    assert [is_far_from_origin(scale * (X + offset)) for scale in (1e-9, 1e200) for offset in (5.0, 50.0)] == [
        *(False, True, False, True)
    ]
    assert not is_far_from_origin(np.full((5, 2), 1e9))  # without a range there is nothing to lose
    assert is_far_from_origin(sparse.csr_array(X + 50.0))
    with_zeros = X + 50.0
    with_zeros[0] = 0.0  # then no mean is larger than the range
    assert not is_far_from_origin(with_zeros)
    assert not is_far_from_origin(sparse.csr_array(with_zeros))
