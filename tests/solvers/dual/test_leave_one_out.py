"""Scores without a sample, from the solution with it, against models that are trained without it."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, blobs
from semisvm.losses import Hinge, SquaredHinge
from semisvm.problem import Problem
from semisvm.solvers.dual import SMO, leave_one_out
from semisvm.solvers.dual.leave_one_out import active_samples, leave_one_out_scores
from semisvm.spaces import Gram, Kernel

SOLVER = SMO(tol=1e-9)
HINGE = Hinge()


def make_problem(loss=HINGE, intercept=True, samples=None, cost=1.0, distance=1.2):
    X, y = blobs(2, 40, 40, 3, distance=distance)
    samples = np.arange(40) if samples is None else samples
    space, signs = Gram(Kernel("rbf", 0.3), X[samples]), 2.0 * y[samples] - 1.0
    return Problem(space, signs, np.broadcast_to(cost, len(samples)).copy(), loss, intercept=intercept)


def without(problem, samples):
    cost = problem.cost.copy()
    cost[samples] = 0.0
    return replace(problem, cost=cost)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_scores_are_those_of_models_without_the_sample_where_no_other_changes_its_set(loss, intercept):
    problem = make_problem(loss, intercept, cost=0.3)
    solution = SOLVER.solve(problem)
    found, active = (
        leave_one_out_scores(problem, solution, np.arange(40)),
        active_samples(problem, solution.multipliers),
    )
    compared = {"free": 0, "bounded": 0, "rest": 0}
    for i in range(40):
        trained = SOLVER.solve(without(problem, [i]))
        now = active_samples(problem, trained.multipliers)
        if not all(np.array_equal(np.setdiff1d(a, i), b) for a, b in zip(active[:2], now[:2])):
            continue
        compared["free" if i in active.free else "bounded" if i in active.bounded else "rest"] += 1
        assert found[i] == pytest.approx(trained.scores[i], abs=1e-6)
    assert compared["free"] >= 1
    assert compared["bounded"] >= isinstance(loss, Hinge)


def test_scores_are_close_to_those_of_models_without_the_sample_whatever_changes():
    problem = make_problem(cost=1.0)
    solution = SOLVER.solve(problem)
    trained = np.array([SOLVER.solve(without(problem, [i])).scores[i] for i in range(40)])
    error = np.abs(leave_one_out_scores(problem, solution, np.arange(40)) - trained)
    assert error.mean() < 0.33 * np.abs(solution.scores - trained).mean()


@pytest.mark.parametrize("loss", [Hinge(), SquaredHinge()])
def test_equal_samples_are_left_out_together_and_count_like_weights(loss):
    times = 1 + np.arange(40) % 3
    repeated = np.repeat(np.arange(40), times)
    weighted, copies = make_problem(loss, cost=0.5 * times), make_problem(loss, cost=0.5, samples=repeated)
    expected = leave_one_out_scores(weighted, SOLVER.solve(weighted), np.arange(40))
    found = leave_one_out_scores(copies, SOLVER.solve(copies), repeated)
    np.testing.assert_allclose(found, expected[repeated], atol=1e-6)


def test_equal_samples_of_both_classes_are_one_sample():
    """Where both are at their bound and all others are free or far away, as in a fit without both."""
    problem = make_problem(cost=0.3)
    solution = SOLVER.solve(problem)
    twin = int(active_samples(problem, solution.multipliers).bounded[0])
    samples = np.r_[np.arange(40), twin]
    both = make_problem(cost=0.3, samples=samples)
    both.signs[-1] = -both.signs[twin]
    found = leave_one_out_scores(both, SOLVER.solve(both), samples)
    trained = SOLVER.solve(without(both, [twin, 40])).scores
    assert found[twin] == pytest.approx(found[40])
    assert abs(found[twin] - trained[twin]) < 0.1


@pytest.mark.parametrize("cost", [1e-6, 1e3])
def test_bounded_samples_alone_or_a_single_free_one_give_finite_scores(cost):
    problem = make_problem(cost=cost, distance=6.0)  # all at their bounds; few support vectors
    found = leave_one_out_scores(problem, SOLVER.solve(problem), np.arange(40))
    assert np.isfinite(found).all()


def test_many_free_samples_are_left_to_folds(monkeypatch):
    problem = make_problem()
    solution = SOLVER.solve(problem)
    n_free = len(active_samples(problem, solution.multipliers).free)
    monkeypatch.setattr(leave_one_out, "LIMIT", n_free)
    assert leave_one_out_scores(problem, solution, np.arange(40)) is not None
    monkeypatch.setattr(leave_one_out, "LIMIT", n_free - 1)
    assert leave_one_out_scores(problem, solution, np.arange(40)) is None
