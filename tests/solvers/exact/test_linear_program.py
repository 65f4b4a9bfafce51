"""The SVM of norm 1 as a linear program, against an interior-point method; the best intercept against a grid."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import FREE, INTERCEPTS, dense_samples, random_problem
from references import linear_svm, linear_svm_value
from semisvm.balance import Mean
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.exact import linear_program
from semisvm.solvers.exact.linear_program import (
    HingeLosses,
    best_intercept,
    labeled_losses,
    scaled_features,
    solve_lp,
    trivial_solution,
)
from semisvm.spaces import Features

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS)
every_balance = pytest.mark.parametrize("balance", [FREE, Mean(0.2), Mean(0.0)], ids=str)


def lp_problem(seed=0, space="features", **options):
    defaults = {"n_labeled": 8, "n_features": 4, "weighted": True, "norm": 1, "zero_below": 0.2}
    return random_problem(seed, space=space, **(defaults | options))


def mean_of(problem):
    return (problem.mean_weights, problem.balance.m) if isinstance(problem.balance, Mean) else None


@every_intercept
@every_balance
@pytest.mark.parametrize("space", ["features", "csr"])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_program_is_solved_on_every_scale(intercept, balance, space, scale):
    for seed in range(2):
        problem = lp_problem(seed, space, balance=balance, intercept=intercept)
        w, b, value = linear_svm(dense_samples(problem), problem.signs, problem.cost, intercept, mean=mean_of(problem))
        if intercept != "regularized":  # whose cost has a scale of its own
            problem = replace(problem, space=Features(problem.space.X * scale), cost=problem.cost / scale)
            w, value = w / scale, value / scale
        X = dense_samples(problem)
        point = solve_lp(problem, labeled_losses(problem))
        found = linear_svm_value(X, problem.signs, problem.cost, point.coef, point.intercept, intercept)
        assert found == pytest.approx(value, rel=1e-7)
        assert value * (1.0 - 1e-7) <= point.lower_bound <= value * (1.0 + 1e-9)
        np.testing.assert_allclose(X @ point.coef + point.intercept, X @ w + b, atol=1e-5)
        if isinstance(balance, Mean):
            assert problem.mean_weights @ (X @ point.coef + point.intercept) == pytest.approx(balance.m, abs=1e-9)
        else:  # optimality: X'a is the sign of w where w is not zero, and in [-1, 1] elsewhere
            gradient, used = X.T @ point.multipliers, np.abs(point.coef) * scale > 1e-9
            np.testing.assert_allclose(gradient[used], np.sign(point.coef[used]), atol=1e-7)
            assert (np.abs(gradient) <= 1.0 + 1e-7).all()
            assert (problem.signs * point.multipliers >= -1e-9).all()
            assert (np.abs(point.multipliers) <= problem.cost + 1e-9).all()


def test_sample_may_have_both_hinges():
    problem = lp_problem()
    labeled, searched = labeled_losses(problem), problem.searched[[0, 0, 1]]
    added = (searched, [1.0, -1.0, -1.0], [0.5, 0.5, 0.8])
    losses = HingeLosses(*(np.r_[old, new] for old, new in zip(labeled, added)))
    point, X = solve_lp(problem, losses), dense_samples(problem)[losses.samples]
    value = linear_svm(X, losses.signs, losses.cost)[2]
    found = linear_svm_value(X, losses.signs, losses.cost, point.coef, point.intercept)
    assert found == pytest.approx(value, rel=1e-8)


@pytest.mark.parametrize("price", [0.0, 0.7])
def test_best_intercept_is_the_midpoint_of_all_optimal_ones(price):
    rng = np.random.default_rng(0)
    grid = np.linspace(-6.0, 6.0, 12001)
    for trial in range(40):
        n = 2 + trial % 5
        f, signs = np.round(rng.standard_normal(n), 1), np.where(rng.random(n) < 0.5, 1.0, -1.0)
        cost = rng.integers(1, 3, n).astype(float)
        if (signs == signs[0]).all():
            signs[0] = -signs[0]
        b = best_intercept(f, HingeLosses(np.arange(n), signs, cost), price)
        loss = (cost * np.maximum(1.0 - signs * (f + grid[:, None]), 0.0)).sum(axis=1) + price * np.abs(grid)
        best = grid[loss <= loss.min() + 1e-9]
        assert b == pytest.approx(0.5 * (best[0] + best[-1]), abs=1e-9)
    assert best_intercept(np.zeros(2), HingeLosses(np.arange(2), np.ones(2), np.ones(2))) == 1.0
    assert best_intercept(np.zeros(0), HingeLosses(np.arange(0), np.zeros(0), np.zeros(0))) == 0.0


@every_intercept
@every_balance
def test_trivial_solution_is_feasible_and_needs_no_time(intercept, balance):
    problem = lp_problem(balance=balance, intercept=intercept)
    assert solve_lp(problem, labeled_losses(problem), StoppingRule(max_time=-1.0)) is None
    point = trivial_solution(problem)
    f = dense_samples(problem) @ point.coef + point.intercept
    if isinstance(balance, Mean):
        assert problem.mean_weights @ f == pytest.approx(balance.m, abs=1e-12)
    else:
        assert not point.coef.any()
    assert point.intercept == 0.0 or intercept is not False
    value = linear_svm_value(
        dense_samples(problem), problem.signs, problem.cost, point.coef, point.intercept, intercept
    )
    assert point.lower_bound <= solve_lp(problem, labeled_losses(problem)).lower_bound <= value


@pytest.mark.parametrize("space", ["features", "csr"])
def test_features_are_scaled_to_size_one_once_per_space(space, monkeypatch):
    monkeypatch.setattr(linear_program, "MAX_DENSE", 0)  # sparse features stay sparse
    problem = lp_problem(space=space)
    scaled = scaled_features(problem)
    Z = scaled.Z.toarray() if sparse.issparse(scaled.Z) else scaled.Z
    assert np.abs(Z).max() == pytest.approx(1.0)
    assert scaled_features(replace(problem, signs=-problem.signs)) is scaled
    shift = Z * scaled.scale - dense_samples(problem)
    np.testing.assert_allclose(shift, np.tile(shift[0], (len(shift), 1)), atol=1e-12)  # the same for all samples
    if space == "csr":
        np.testing.assert_allclose(shift, 0.0, atol=1e-12)
    assert np.abs(scaled_features(replace(problem, intercept=False)).Z).max() == pytest.approx(1.0)


def test_mean_that_no_model_has_is_refused():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    problem = lp_problem(n_labeled=2, n_unlabeled=2, balance=Mean(0.5), intercept=False, weighted=False)
    problem = replace(problem, space=Features(X), signs=np.array([1.0, -1.0, 0.0, 0.0]))
    with pytest.raises(ValueError, match=r"the mean 0.5.*fit_intercept=True or balance=None"):
        solve_lp(problem, labeled_losses(problem))


def test_second_tolerance_is_tried_before_a_failure_is_reported(monkeypatch):
    problem, linprog, tolerances = lp_problem(), linear_program.linprog, []

    def failing(*args, options, **kwargs):
        tolerances.append(options["primal_feasibility_tolerance"])
        result = linprog(*args, options=options, **kwargs)
        result.status = 0 if len(tolerances) == 2 else 4
        return result

    monkeypatch.setattr(linear_program, "linprog", failing)
    assert solve_lp(problem, labeled_losses(problem)).lower_bound > 0.0
    assert tolerances == [1e-10, 1e-7]
    with pytest.raises(ValueError, match=r"did not solve.*scale or center X, or lower C"):
        solve_lp(problem, labeled_losses(problem))
