"""Which method solves a convex model, and that all of them solve the same one, that of liblinear and libsvm."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.svm import SVC, LinearSVC

from factories import dense_samples, random_problem
from semisvm import SVM, RampSVM
from semisvm.balance import Mean
from semisvm.losses import Hinge, SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers.dual import SMO, AugmentedLagrangian, SupervisedSVM, convex
from semisvm.solvers.dual.convex import choose_method
from semisvm.spaces import Features

LOSSES = {"hinge": Hinge(), "squared_hinge": SquaredHinge()}


def samples(n=400, d=6, seed=0):
    """Overlapping classes, some features zero, one sample in four twice, with weights."""
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, d)) * (rng.random((n, d)) < 0.7)
    X[: n // 4] = X[n // 4 : n // 2]
    y = np.where(X[:, 0] + 0.5 * X[:, 1] + rng.standard_normal(n) > 0.2, 1.0, -1.0)
    return X, y, rng.integers(1, 4, n).astype(float)


def linear_problem(X, y, cost, loss, intercept=True):
    return Problem(Features(X), y, cost, loss, intercept=intercept)


def test_method_follows_from_the_samples(monkeypatch):
    X, y, _ = samples()
    problem = linear_problem(X, y, np.ones(400), Hinge())
    assert choose_method(problem) == "newton"
    assert choose_method(replace(problem, space=Features(sparse.csr_array(X)))) == "newton"
    assert choose_method(replace(problem, space=problem.space.gram())) == "pairs"
    few = linear_problem(X[:150], y[:150], np.ones(150), Hinge())
    assert choose_method(few) == "pairs"
    assert choose_method(replace(problem, cost=np.where(np.arange(400) < 150, 1.0, 0.0))) == "pairs"
    wide = np.tile(X, (1, 70))
    assert choose_method(linear_problem(wide, y, np.ones(400), Hinge())) == "pairs"
    text = sparse.csr_array(np.where(np.random.default_rng(0).random(wide.shape) < 0.1, wide, 0.0))
    assert choose_method(linear_problem(text, y, np.ones(400), Hinge())) == "coordinates"
    monkeypatch.setattr(convex, "MAX_FEATURES", 5)
    assert choose_method(problem) == "coordinates"


def test_a_mean_that_is_fixed_is_left_to_coordinate_descent_or_smo():
    problem = random_problem(0, 300, n_labeled=10, n_features=4, losses="ramp", space="features")
    assert choose_method(problem) == "newton"
    assert choose_method(replace(problem, balance=Mean(0.1))) == "coordinates"
    centered = dense_samples(problem) - problem.mean_weights @ dense_samples(problem)
    at_origin = replace(problem, space=Features(centered), balance=Mean(0.0), intercept=False)
    assert choose_method(at_origin) == "pairs"


@pytest.mark.parametrize("C", [1e-3, 1.0, 300.0])
@pytest.mark.parametrize("intercept", [True, False, "regularized"])
@pytest.mark.parametrize("loss", LOSSES)
def test_every_method_finds_the_same_solution(loss, intercept, C, monkeypatch):
    X, y, weights = samples()
    problem = linear_problem(X, y, C * weights, LOSSES[loss], intercept)
    best = AugmentedLagrangian(1e-8).solve(problem).objective if C > 10.0 else SMO(1e-7).solve(problem).objective
    for max_features in (1000, 5) if C < 10.0 else (1000,):  # SMO and sweeps take millions of steps where C is large
        monkeypatch.setattr(convex, "MAX_FEATURES", max_features)
        for one in (problem, replace(problem, space=Features(sparse.csr_array(X)))):
            solution = SupervisedSVM().solve(one)
            assert solution.status == "converged"
            assert solution.certificate.value <= 1e-3
            assert best * (1 - 1e-8) <= solution.objective <= best * (1 + 2e-4)
            assert solution.certificate.lower_bound <= best * (1 + 1e-8)


@pytest.mark.parametrize("loss", LOSSES)
def test_estimator_is_that_of_liblinear_and_libsvm(loss):
    X, y, weights = samples()
    ours = SVM(0.5, loss=loss, kernel="linear", fit_intercept="regularized", tol=1e-6, unlabeled=None)
    theirs = LinearSVC(C=0.5, loss=loss, tol=1e-9, max_iter=1_000_000).fit(X, y, sample_weight=weights)
    problem = linear_problem(X, y, 0.5 * weights, LOSSES[loss], "regularized")
    for given in (X, sparse.csr_array(X)):
        ours.fit(given, y, sample_weight=weights)
        assert ours.objective_ == pytest.approx(objective(problem, theirs.coef_[0], theirs.intercept_[0]), rel=1e-6)
        np.testing.assert_allclose(ours.coef_[0], X[ours.support_].T @ ours.dual_coef_[0], atol=1e-10)
    if loss == "hinge":
        free = SVM(0.5, kernel="linear", tol=1e-6, unlabeled=None).fit(X, y, sample_weight=weights)
        theirs = SVC(C=0.5, kernel="linear", tol=1e-8).fit(X, y, sample_weight=weights)
        np.testing.assert_allclose(free.coef_, theirs.coef_, atol=1e-4)
        np.testing.assert_allclose(free.intercept_, theirs.intercept_, atol=1e-4)


def test_classes_and_samples_far_from_the_origin():
    X, y, _ = samples()
    y = y + (X[:, 2] > 0.5) * (y > 0)
    near = SVM(1.0, kernel="linear", tol=1e-6, unlabeled=None).fit(X, y)
    far = SVM(1.0, kernel="linear", tol=1e-6, unlabeled=None).fit(X + 1e5, y)
    assert len(near.objective_) == 3
    np.testing.assert_allclose(far.objective_, near.objective_, rtol=1e-6)
    np.testing.assert_allclose(far.coef_, near.coef_, atol=1e-3)


def test_gap_is_small_where_the_tolerance_alone_is_not_enough():
    """Of classes that can be separated by many features at a large C a violation of 1e-3 is most of the objective."""
    rng = np.random.default_rng(1)
    X = rng.standard_normal((250, 200))
    y = np.sign(X @ rng.standard_normal(200))
    problem = linear_problem(X, y, np.full(250, 100.0), Hinge())
    solution = SupervisedSVM().solve(problem)
    assert solution.certificate.gap <= 1.1e-4 * solution.objective
    assert solution.objective == pytest.approx(SMO(1e-8).solve(problem).objective, rel=2e-4)


def test_ramp_with_a_free_intercept_needs_no_kernel_matrix(monkeypatch):
    X, y, _ = samples()
    with monkeypatch.context() as patch:
        patch.setattr(convex, "choose_method", lambda problem: "pairs")
        expected = RampSVM(kernel="linear", unlabeled=None).fit(X, y)
    monkeypatch.setattr(convex, "solve_dual", None)
    found = RampSVM(kernel="linear", unlabeled=None).fit(X, y)
    assert found.converged_
    assert found.certificate_.value <= 1e-3
    assert found.objective_ == pytest.approx(expected.objective_, rel=1e-2)


def test_limits_hold_for_all_tolerances_together():
    X, y, _ = samples()
    problem = linear_problem(X, y, np.full(400, 1e3), Hinge())
    rows = []
    solution = SupervisedSVM(max_iter=7).solve(problem, callback=lambda row: rows.append(row))
    assert solution.status == "max_iter"
    assert solution.n_iter == len(rows) == 7
