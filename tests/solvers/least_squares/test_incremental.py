"""Least-squares SVMs to which samples are added, against numpy's solution and inverse of the whole system."""

import numpy as np
import pytest
from scipy import sparse

from factories import INTERCEPTS
from references import assert_close, least_squares_matrix, least_squares_svm
from semisvm.solvers.least_squares import IncrementalLSSVM, incremental
from semisvm.spaces import Gram, Kernel, gram

N = 60
KERNELS = {
    "rbf": Kernel("rbf", 0.4),
    "linear": Kernel("linear"),
    "poly": Kernel("poly", 0.5, 50.0, 2),  # a constant of 2500
    "multiquadric": Kernel("multiquadric", 1.0, 1.0),
}
CASES = [
    (name, intercept) for name in KERNELS for intercept in INTERCEPTS if name != "multiquadric" or intercept is True
]
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_case = pytest.mark.parametrize(("name", "intercept"), CASES, ids=str)


def two_classes(n=N, n_outputs=2, seed=0):
    """Samples far from the origin, columns of labels of which the first is the class, costs, a random order.

    The first four samples of the order have all pairs of labels in the first two columns.
    """
    rng = np.random.default_rng(seed)
    Y = np.vstack([[[1, 1], [-1, -1], [1, -1], [-1, 1]], rng.choice([-1, 1], (n - 4, 2))]).astype(float)
    Y = np.hstack([Y, rng.choice([-1.0, 1.0], (n, max(n_outputs - 2, 0)))])[:, :n_outputs]
    X = rng.standard_normal((n, 3)) + 0.6 * Y[:, :1] + [0.0, 1.0, -2.0]
    return X, Y, 2.0 * rng.uniform(0.3, 3.0, n), np.r_[:4, 4 + rng.permutation(n - 4)]


def blocks(samples, largest=4, seed=1):
    """The samples in pieces of 1 to ``largest``, the first of two."""
    sizes = np.random.default_rng(seed).integers(1, largest + 1, len(samples))
    return [block for block in np.split(samples, 2 + np.r_[0, np.cumsum(sizes)]) if len(block)]


def added(model, samples, Y, largest=4):
    for block in blocks(samples, largest):
        model.add(block, Y[block])
    return model


def centered(K):
    middle = np.eye(len(K)) - 1.0 / len(K)
    return middle @ K @ middle


@every_case
def test_model_of_added_samples_is_that_of_the_whole_system(name, intercept):
    X, Y, cost, order = two_classes(n_outputs=3)
    space = Gram(KERNELS[name], X)
    model, K = IncrementalLSSVM(space, cost, intercept, 3), space.compute()
    for block in blocks(order):
        model.add(block, Y[block])
        assert_close(model.scores(np.arange(N)), least_squares_svm(K, cost, Y, intercept, model.samples)[2])
    np.testing.assert_array_equal(model.samples, order)
    np.testing.assert_array_equal(model.signs, Y[order])
    some = np.array([5, 0, 5, 33])
    assert_close(model.scores(some), least_squares_svm(K, cost, Y, intercept, order)[2][some])


@every_intercept
def test_sparse_features_one_output_and_labels_that_are_not_signs(intercept):
    X, _, cost, order = two_classes()
    X[np.abs(X) < 0.7] = 0.0
    Y = 100.0 * np.random.default_rng(3).standard_normal((N, 1))
    model = added(IncrementalLSSVM(Gram(KERNELS["rbf"], sparse.csr_array(X)), cost, intercept, 1), order[:40], Y)
    K = Gram(KERNELS["rbf"], X).compute()
    assert_close(model.scores(np.arange(N)), least_squares_svm(K, cost, Y, intercept, order[:40])[2])


@every_intercept
def test_coefficients_solve_the_system_in_centered_kernel_values(intercept):
    X, Y, cost, order = two_classes()
    K, samples = Gram(KERNELS["poly"], X).compute(), order[:31]
    model = added(IncrementalLSSVM(Gram(KERNELS["poly"], X), cost, intercept, 2), samples, Y)
    if intercept is True:
        K = centered(K)
        assert_close(model.alpha.sum(axis=0), np.zeros(2), tolerance=1e-11)
    else:
        K = K + float(intercept == "regularized")
        np.testing.assert_array_equal(model.bias, np.zeros(2))
    f = K[:, samples] @ model.alpha + model.bias
    assert_close(f[samples] + model.alpha / cost[samples, None], Y[samples])
    assert_close(model.scores(np.arange(N)), f)


@every_intercept
def test_kernel_values_of_single_precision_are_solved_in_double(intercept):
    X, Y, cost, order = two_classes()
    K = Gram(KERNELS["rbf"], X).compute().astype(np.float32)
    K = np.tril(K) + np.tril(K, -1).T
    model = added(IncrementalLSSVM(Gram(Kernel("precomputed"), K), cost, intercept, 2), order, Y)
    assert model.scores(order).dtype == np.float64
    assert_close(model.scores(np.arange(N)), least_squares_svm(K.astype(float), cost, Y, intercept, order)[2])


@every_intercept
@pytest.mark.parametrize("name", ["rbf", "linear"])
def test_kernel_values_of_many_samples_have_single_precision_and_are_seldom_solved_again(name, intercept, monkeypatch):
    """They are symmetric up to rounding only, which no inverse puts right."""
    n = 4 * incremental.CHECK_PERIOD + 10
    X, Y, cost, order = two_classes(n)
    expected = least_squares_svm(Gram(KERNELS[name], X).compute(), cost, Y, intercept, order)[2]
    monkeypatch.setattr(gram, "FLOAT64_SAMPLES", n - 1)
    inversions, system = [], IncrementalLSSVM._system
    monkeypatch.setattr(IncrementalLSSVM, "_system", lambda self: inversions.append(1) or system(self))
    space = Gram(KERNELS[name], X)
    assert space.dtype == np.float32
    model = added(IncrementalLSSVM(space, cost, intercept, 2), order, Y, largest=1)
    assert_close(model.scores(np.arange(n)), expected, tolerance=1e-4)
    assert len(inversions) <= 2  # of four strict checks


@every_intercept
def test_inverse_is_that_of_numpy_after_hundreds_of_samples(intercept):
    X, Y, cost, order = two_classes(330)
    K, samples, border = Gram(KERNELS["rbf"], X).compute(), order[:310], int(intercept is True)
    model = added(IncrementalLSSVM(Gram(KERNELS["rbf"], X), cost, intercept, 2), samples, Y, largest=1)
    expected = least_squares_matrix((centered(K) if border else K)[np.ix_(samples, samples)], cost[samples], intercept)
    expected = np.roll(np.linalg.inv(expected), border, axis=(0, 1))  # the border comes first
    assert_close(model._inverse.product(np.eye(len(expected))), expected)
    assert_close(model.scores(np.arange(330)), least_squares_svm(K, cost, Y, intercept, samples)[2])


@every_case
def test_left_out_samples_are_scored_by_a_model_without_them(name, intercept):
    X, Y, cost, order = two_classes(16)
    samples, K = order[:14], Gram(KERNELS[name], X).compute()
    model = added(IncrementalLSSVM(Gram(KERNELS[name], X), cost, intercept, 2), samples, Y)
    expected = np.array(
        [least_squares_svm(K, cost, Y, intercept, np.delete(samples, j))[2][samples[j]] for j in range(14)]
    )
    assert np.abs(expected - model.scores(samples)).max() > 0.05
    assert_close(model.leave_one_out(), expected, tolerance=1e-8)


@every_intercept
@pytest.mark.parametrize("noise", [1e-3, 1e-7])
def test_a_wrong_inverse_is_computed_again_at_once_or_at_the_next_strict_check(intercept, noise):
    X, Y, cost, order = two_classes(80)
    K, period = Gram(KERNELS["rbf"], X).compute(), incremental.CHECK_PERIOD
    model = IncrementalLSSVM(Gram(KERNELS["rbf"], X), cost, intercept, 2)

    def error():
        expected = least_squares_svm(K, cost, Y, intercept, model.samples)[2]
        return np.abs(model.scores(np.arange(80)) - expected).max()

    model.add(order[:10], Y[order[:10]])
    size = model._inverse.size
    wrong = noise * np.random.default_rng(5).standard_normal((size, size))
    model._inverse._buffer[:size, :size] += wrong + wrong.T
    for sample in order[10 : 8 + period]:
        model.add(np.array([sample]), Y[[sample]])
        assert error() < 10 * incremental.LOOSE_TOL
    assert error() > 0.1 * noise or noise > incremental.LOOSE_TOL
    model.add(order[60:61], Y[order[60:61]])  # the addition at which the check is strict
    assert error() < 1e-9
    model.add(order[62:75], Y[order[62:75]])
    assert error() < 1e-9
    samples = model.samples
    np.testing.assert_array_equal(samples, np.r_[order[: 8 + period], order[60], order[62:75]])
    border, m = int(intercept is True), len(samples)
    expected = np.linalg.inv(least_squares_matrix(K[np.ix_(samples, samples)], cost[samples], intercept))[:m, :m]
    assert_close(model._inverse.product(np.eye(border + m))[border:, border:], expected)
    assert_close(model.leave_one_out(), Y[samples] - model.alpha / expected.diagonal()[:, None])


@every_intercept
def test_a_right_inverse_is_checked_and_kept(intercept, monkeypatch):
    period = incremental.CHECK_PERIOD
    X, Y, cost, order = two_classes(3 * period + 10)
    tolerances, check = [], IncrementalLSSVM._check
    monkeypatch.setattr(IncrementalLSSVM, "_check", lambda self, tol: tolerances.append(tol) or check(self, tol))
    monkeypatch.setattr(IncrementalLSSVM, "_system", lambda self: pytest.fail("inverted again"))
    added(IncrementalLSSVM(Gram(KERNELS["rbf"], X), cost, intercept, 2), order, Y, largest=1)
    assert len(tolerances) == len(order) - 1
    strict = [number % period == 0 for number in range(1, len(order))]
    assert tolerances == [incremental.STRICT_TOL if s else incremental.LOOSE_TOL for s in strict]


@pytest.mark.parametrize("intercept", [True, False])
def test_large_costs_stay_accurate_between_strict_checks(intercept):
    """The solution of the whole system is right to 1e-6 of the largest score here."""
    X, Y, _, order = two_classes(300)
    K, cost = Gram(KERNELS["rbf"], X).compute(), np.full(300, 1e8)
    model = IncrementalLSSVM(Gram(KERNELS["rbf"], X), cost, intercept, 2)
    for block in blocks(order, largest=1):
        model.add(block, Y[block])
        if len(model.samples) % 24 == 0:
            expected = least_squares_svm(K, cost, Y, intercept, model.samples)[2]
            assert_close(model.scores(np.arange(300)), expected, tolerance=1e-2)


def test_kernel_matrix_and_inverse_are_within_the_memory_limit(monkeypatch):
    space, need = Gram(KERNELS["rbf"], two_classes()[0]), 16 * N * N
    monkeypatch.setenv("SEMISVM_MEMORY", str(need))
    IncrementalLSSVM(space, np.ones(N), True, 1)
    monkeypatch.setenv("SEMISVM_MEMORY", str(need - 1))
    with pytest.raises(MemoryError, match="raise SEMISVM_MEMORY"):
        IncrementalLSSVM(space, np.ones(N), True, 1)
