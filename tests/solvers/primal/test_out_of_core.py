"""Multiple switching without a number per sample: the exact objective, its derivatives, and where a search ends."""

from itertools import combinations

import numpy as np
import pytest

from factories import INTERCEPTS
from semisvm.balance import Count, Free
from semisvm.losses import SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers import FiniteNewton
from semisvm.solvers.primal import OutOfCoreProblem, OutOfCoreSwitch, Start
from semisvm.solvers.primal.out_of_core import MAX_LAST_PASSES
from semisvm.solvers.primal.threshold_objective import ThresholdObjective
from semisvm.spaces import DesignMatrix, Features, design_matrix

N_LABELED = 12


def table(n=600, d=4, seed=0, dtype=np.float64):
    """Two overlapping classes; the labeled samples are spread over the table."""
    rng = np.random.default_rng(seed)
    y = np.where(rng.random(n) < 0.4, 1.0, -1.0)
    X = (rng.standard_normal((n, d)) + 0.7 * y[:, None]).astype(dtype)
    return X, y


def stated(X, y, balance=None, intercept=True, cost=1.0, n_labeled=N_LABELED):
    positions = np.linspace(0, len(X) - 1, n_labeled).astype(int)
    y = y.copy()
    y[positions[:2]] = 1.0, -1.0
    balance = Count(0.4) if balance is None else balance
    return OutOfCoreProblem(
        X[positions], y[positions], np.full(n_labeled, cost), cost * n_labeled / (len(X) - n_labeled), balance,
        intercept, positions,
    )  # fmt: skip


def with_labels(X, problem, labels):
    """The problem with fixed labels of the unlabeled samples."""
    signs, cost = np.empty(len(X)), np.full(len(X), problem.unlabeled_cost)
    rest = np.setdiff1d(np.arange(len(X)), problem.left_out)
    signs[problem.left_out], signs[rest] = problem.signs, labels
    cost[problem.left_out] = problem.cost
    return Problem(Features(X.astype(np.float64)), signs, cost, SquaredHinge(), intercept=problem.intercept)


def best_labels(X, problem, w, b):
    """Labels by sorting the scores."""
    f = np.delete(X.astype(np.float64) @ w + b, problem.left_out)
    if isinstance(problem.balance, Free):
        return np.where(f > 0.0, 1.0, -1.0)
    low = int(np.ceil(len(f) * (problem.balance.r - problem.balance.slack) - 1e-9))
    high = int(np.floor(len(f) * (problem.balance.r + problem.balance.slack) + 1e-9))
    if low > high:
        low = high = round(len(f) * problem.balance.r)
    k = int(np.clip(np.count_nonzero(f > 0.0), low, high))
    labels = np.full(len(f), -1.0)
    labels[np.argsort(-f, kind="stable")[:k]] = 1.0
    return labels


def value_at(X, problem, w, b):
    return objective(with_labels(X, problem, best_labels(X, problem, w, b)), w, b)


BALANCES = [Count(0.4), Count(0.5, 0.2), Count(0.05), Free()]


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES)
def test_objective_is_that_of_the_labels_by_rank(balance, intercept):
    X, y = table()
    problem, rng = stated(X, y, balance, intercept), np.random.default_rng(1)
    target = ThresholdObjective(DesignMatrix(X), problem)
    for scale in (0.1, 1.0, 10.0):
        w, b = scale * rng.standard_normal(4), rng.standard_normal() * (intercept is not False)
        point = target.first(w, b, tau=5.0)  # a guess that is far off
        for _ in range(MAX_LAST_PASSES):
            point = point if point.is_clean else target.again(point)
        assert point.is_clean
        assert point.value == pytest.approx(value_at(X, problem, w, b), rel=1e-10)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_gradient_and_hessian_at_fixed_labels(intercept):
    X, y = table()
    problem, rng = stated(X, y, intercept=intercept), np.random.default_rng(2)
    target = ThresholdObjective(DesignMatrix(X), problem)
    w, b = rng.standard_normal(4), 0.3 * (intercept is not False)
    point = target.again(target.first(w, b, 0.0))
    fixed = with_labels(X, problem, best_labels(X, problem, w, b))
    theta = np.append(w, b)[: target.size]

    def value(theta):
        return objective(fixed, *target.split(theta))

    h = 1e-6
    steps = h * np.eye(target.size)
    numeric = np.array([(value(theta + s) - value(theta - s)) / (2 * h) for s in steps])
    np.testing.assert_allclose(point.gradient, numeric, rtol=1e-6, atol=1e-6)
    h = 1e-4
    steps = h * np.eye(target.size)
    second = np.array([[value(theta + a + b) - value(theta + a - b) - value(theta - a + b) + value(theta - a - b)
                        for b in steps] for a in steps]) / (4 * h * h)  # fmt: skip
    np.testing.assert_allclose(point.hessian, second, rtol=1e-3, atol=0.2)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES)
def test_end_is_the_best_model_of_its_labels_and_its_labels_are_the_best_of_the_model(balance, intercept):
    X, y = table()
    problem = stated(X, y, balance, intercept)
    found = OutOfCoreSwitch().solve(DesignMatrix(X), problem)
    assert found.status == "converged"
    f = np.delete(X @ found.coef + found.intercept, problem.left_out)
    labels = np.where(f > found.tau, 1.0, -1.0)
    np.testing.assert_array_equal(labels, best_labels(X, problem, found.coef, found.intercept))
    fixed = with_labels(X, problem, labels)
    assert found.objective == pytest.approx(objective(fixed, found.coef, found.intercept), rel=1e-9)
    assert found.objective == pytest.approx(FiniteNewton(1e-9).solve(fixed).objective, rel=1e-6)
    assert found.share == pytest.approx(np.mean(labels > 0))
    assert [row["objective"] for row in found.trace] == sorted((row["objective"] for row in found.trace), reverse=True)


@pytest.mark.parametrize("seed", range(3))
def test_never_below_the_best_of_all_labelings(seed):
    X, y = table(16, 2, seed)
    problem = stated(X, y, Count(0.5), n_labeled=6)
    n, best = 10, np.inf
    for positive in combinations(range(n), 5):
        labels = np.full(n, -1.0)
        labels[list(positive)] = 1.0
        best = min(best, FiniteNewton(1e-9).solve(with_labels(X, problem, labels)).objective)
    starts = [None, Start(np.array([3.0, 0.0]), 0.0), Start(np.array([0.0, -3.0]), 0.0)]
    found = [OutOfCoreSwitch().solve(DesignMatrix(X), problem, start).objective for start in starts]
    assert min(found) >= best * (1 - 1e-9)
    assert min(found) == pytest.approx(best, rel=0.2)


def test_sums_do_not_depend_on_tiles_and_single_precision_is_close(monkeypatch):
    X, y = table(3000)
    problem = stated(X, y)
    expected = OutOfCoreSwitch().solve(DesignMatrix(X), problem)
    single = OutOfCoreSwitch().solve(
        DesignMatrix(X.astype(np.float32)), problem._replace(X=problem.X.astype(np.float32))
    )
    assert single.objective == pytest.approx(expected.objective, rel=1e-6)
    for size in (7, 100):
        monkeypatch.setattr(design_matrix, "LARGEST_TILE", size)
        found = OutOfCoreSwitch().solve(DesignMatrix(X), problem)
        assert found.objective == pytest.approx(expected.objective, rel=1e-9)
    again = OutOfCoreSwitch().solve(DesignMatrix(X), problem)
    np.testing.assert_array_equal(again.coef, found.coef)


@pytest.mark.parametrize("share", [0.4, 0.3])
def test_few_passes(share):
    """On a large table, also where the share is wrong."""
    X, y = table(40_000, 20, 3)
    found = OutOfCoreSwitch().solve(DesignMatrix(X), stated(X, y, Count(share), n_labeled=100))
    assert found.status == "converged"
    assert found.n_passes <= 40


def test_equal_scores_at_the_threshold():
    """Constant features, copies and one feature: labels of equal scores are shared out, and counted."""
    rng = np.random.default_rng(0)
    copies = np.repeat(rng.standard_normal((20, 3)), 30, axis=0)
    constant = np.column_stack([rng.standard_normal(600), np.ones(600), np.zeros(600)])
    for X in (copies, constant, rng.standard_normal((600, 1))):
        problem = stated(X, np.where(X[:, 0] > 0, 1.0, -1.0), Count(0.5))
        found = OutOfCoreSwitch().solve(DesignMatrix(X), problem)
        assert np.isfinite(found.objective)
        assert found.status in ("converged", "stalled")
        assert found.objective == pytest.approx(value_at(X, problem, found.coef, found.intercept), rel=1e-9)
    assert OutOfCoreSwitch().solve(
        DesignMatrix(np.zeros((600, 2))), stated(np.zeros((600, 2)), np.ones(600))
    ).share == (pytest.approx(0.4, abs=1e-3))


def test_limits_return_the_best_point():
    X, y = table(2000)
    problem, passes = stated(X, y, cost=10.0), DesignMatrix(X)
    whole = OutOfCoreSwitch().solve(passes, problem)
    assert whole.n_iter > 2
    short = OutOfCoreSwitch(max_iter=2).solve(passes, problem)
    assert short.status == "max_iter"
    timed = OutOfCoreSwitch(max_time=0.0).solve(passes, problem)
    assert timed.status == "max_time"
    stopped = OutOfCoreSwitch().solve(passes, problem, callback=lambda row: row["step"] == 1)
    assert stopped.status == "stopped"
    for found in (short, timed, stopped):
        assert whole.objective <= found.objective * (1 + 1e-9)
        assert found.objective == pytest.approx(value_at(X, problem, found.coef, found.intercept), rel=1e-9)
        assert found.certificate.kind == "stationary"


class Interrupting(DesignMatrix):
    """A table in which Ctrl-C comes in a pass."""

    n_left = 2

    def accumulate(self, function, *shared):
        self.n_left -= 1
        if self.n_left == 0:
            raise KeyboardInterrupt
        return super().accumulate(function, *shared)


def test_ctrl_c_keeps_the_best_point():
    X, y = table()
    found = OutOfCoreSwitch().solve(Interrupting(X), stated(X, y))
    assert found.status == "interrupted"
    assert np.isfinite(found.objective)


def test_mean_balance_is_refused():
    from semisvm.balance import Mean

    X, y = table()
    with pytest.raises(TypeError, match="is not a number of positive labels"):
        OutOfCoreSwitch().solve(DesignMatrix(X), stated(X, y, Mean(0.0)))
