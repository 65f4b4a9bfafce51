"""Samples labeled one at a time against a loop that trains a model for every sample and label."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem
from references import assert_close, assert_least_squares_of_labels, least_squares_svm
from semisvm.balance import Count, Free
from semisvm.solvers import Progressive
from semisvm.solvers.least_squares import progressive
from semisvm.solvers.least_squares.schur_complement import DenseComplement

BALANCES = [Free(), Count(0.4), Count(0.3, 0.15)]
every_space = pytest.mark.parametrize("space", ["rbf", "features", "many features"])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["free", "count", "slack"])


def allowed_counts(balance, n):
    """Numbers of positive samples within the slack, or the nearest one."""
    if balance == Free():
        return range(n + 1)
    distance = np.abs(np.arange(n + 1) - balance.r * n)
    return np.flatnonzero(distance <= max(balance.slack * n, distance.min()) + 1e-9)


def naive_progress(problem, selection, label_order, share):
    """Labels, and the objective after each sample, by a model for every sample and label that may be next."""
    K, y, searched = np.asarray(problem.space.gram().compute()), problem.signs.copy(), problem.searched
    allowed = allowed_counts(problem.balance, len(searched))
    quota = {1.0: max(allowed), -1.0: len(searched) - min(allowed)}
    added, objectives = list(np.flatnonzero(y)), []
    while len(added) < len(y):
        labeled_now = np.intersect1d(searched, added)
        deficit = share * (len(labeled_now) + 1) - (y[labeled_now] > 0).sum() - 0.5
        turn = np.sign(deficit) if label_order == "turns" and abs(deficit) > 1e-9 else 0.0
        candidates = []
        for j in np.setdiff1d(searched, added):
            growth = {}
            for label in (1.0, -1.0):
                if quota[label] and (label != -turn or not quota[turn]):
                    y[j] = label
                    alpha, _, _ = least_squares_svm(K, problem.cost, y, problem.intercept, [*added, j])
                    growth[label] = 0.5 * y[[*added, j]] @ alpha, abs(alpha[-1])
            label = min(growth, key=lambda label: growth[label][0])
            candidates.append((growth[label][0 if selection == "growth" else 1], j, label, growth[label][0]))
        _, j, label, value = min(candidates)
        y[j] = label
        quota[label] -= 1
        added.append(j)
        objectives.append(value)
    return y, objectives


@every_space
@every_balance
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
@pytest.mark.parametrize("selection, label_order", [("growth", "turns"), ("alpha", "turns"), ("growth", "objective")])
def test_progress_is_that_of_a_loop_that_trains_every_model(
    selection, label_order, space, balance, intercept, monkeypatch
):
    problem = least_squares_problem(3, 8, space=space, balance=balance, intercept=intercept, C=4.0, C_unlabeled=1.6)
    labeled_share = (problem.signs > 0).sum() / problem.is_labeled.sum()
    y, objectives = naive_progress(problem, selection, label_order, getattr(balance, "r", labeled_share))
    for panel in (3, 64):
        monkeypatch.setattr(progressive, "PANEL", panel)
        solution = Progressive(selection, label_order).solve(problem)
        np.testing.assert_array_equal(solution.labels, y)
        assert_least_squares_of_labels(problem, solution)
        n_labeled = [min(panel * k, 8) for k in range(1, len(solution.trace))]
        assert [row["n_labeled"] for row in solution.trace] == [0, *n_labeled]
        assert_close([row["objective"] for row in solution.trace[1:]], [objectives[n - 1] for n in n_labeled])
        assert solution.status == "converged"
        assert solution.certificate.value == 0.0


@pytest.mark.parametrize("weight, n_positive", [(1.0, 7), (8.0, 9)])
def test_turns_without_a_balance_are_those_of_the_labeled_weight(weight, n_positive):
    """14 of 20 labeled samples are positive, each of a weight of 1 or 8: shares of 0.7 and 112/118."""
    problem = least_squares_problem(3, 10, n_labeled=20)
    signs, weights = problem.signs.copy(), np.ones(30)
    signs[problem.is_labeled] = np.where(np.arange(20) < 14, 1.0, -1.0)
    weights[signs > 0] = weight
    problem = replace(problem, signs=signs, weights=weights)
    y, _ = naive_progress(problem, "growth", "turns", 14 * weight / (14 * weight + 6))
    np.testing.assert_array_equal(Progressive().solve(problem).labels, y)
    assert (y[problem.searched] > 0).sum() == n_positive


@pytest.mark.filterwarnings("error::RuntimeWarning")
def test_rounding_errors_below_zero_are_not_divided_by(monkeypatch):
    """p is above 1/(2c); with kernel values of 1e5 and C = 1e11 what is computed may be zero or negative."""
    problem = least_squares_problem(0, 12)
    build = progressive.build_complement

    def build_with_errors(*args):
        complement = build(*args)
        monkeypatch.setattr(type(complement), "diagonal", lambda _: np.linspace(-1e-16, 1e-16, 12))
        return complement

    monkeypatch.setattr(progressive, "build_complement", build_with_errors)
    assert_least_squares_of_labels(problem, Progressive().solve(problem))


@pytest.mark.parametrize("space", ["rbf", "features"])
def test_size_of_the_panels_does_not_matter(space, monkeypatch):
    problem, found = least_squares_problem(5, 150, space=space, balance=Count(0.3, 0.15)), []
    for panel in (3, 64, 150):
        monkeypatch.setattr(progressive, "PANEL", panel)
        found.append(Progressive().solve(problem))
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)
        assert other.trace[-1]["objective"] == pytest.approx(found[0].objective, rel=1e-9)


@pytest.mark.parametrize("slack", [0.0, 0.1])
def test_share_of_uneven_weights(slack):
    for seed in range(10):
        problem = least_squares_problem(seed, 30, balance=Count(0.3, slack), weighted=True)
        solution = Progressive(label_order="objective").solve(problem)
        weights = problem.weights_of(problem.searched)
        difference = abs(weights @ (solution.labels[problem.searched] > 0) - 0.3 * weights.sum())
        assert difference <= max(slack * weights.sum(), 0.5 * weights.max()) + 1e-9


@pytest.mark.parametrize("share, n_positive", [(0.3, 12), (0.9, 36)])
@pytest.mark.parametrize("status", ["stopped", "interrupted"])
def test_remaining_samples_get_signs_within_the_balance_after_an_early_end(share, n_positive, status, monkeypatch):
    monkeypatch.setattr(progressive, "PANEL", 3)
    problem = least_squares_problem(1, 40, balance=Count(share))
    label_next, n_labeled = progressive._RemainingSamples.label_next, []

    def interrupted(remaining, *given):
        n_labeled.append(1)
        if len(n_labeled) == 5:
            raise KeyboardInterrupt
        label_next(remaining, *given)

    if status == "interrupted":
        monkeypatch.setattr(progressive._RemainingSamples, "label_next", interrupted)
    solution = Progressive().solve(problem, callback=lambda row: status == "stopped")
    assert solution.status == status
    assert solution.certificate.value == (37 if status == "stopped" else 36)
    assert_least_squares_of_labels(problem, solution)
    assert (solution.labels[problem.searched] > 0).sum() == n_positive


def test_errors_that_grow_without_end_are_refused_in_a_sentence(monkeypatch):
    """As with kernel values of 1e45, whose rounding errors are divided by 1/C: scores would end in an overflow."""
    monkeypatch.setattr(DenseComplement, "column", lambda self, j: 1e60 * self._C[j])
    with pytest.raises(ValueError, match="no digits for 1/C"):
        Progressive().solve(least_squares_problem())
