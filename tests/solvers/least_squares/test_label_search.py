"""Local search over labels against all labels of small problems, all single changes, and the published rule."""

import numpy as np
import pytest

from factories import INTERCEPTS, least_squares_problem
from references import (
    assert_least_squares_of_labels,
    label_changes,
    label_vectors,
    labeling_values,
    least_squares_svm,
    problem_form,
)
from semisvm.balance import Count, Free
from semisvm.solvers import LabelSearch
from semisvm.solvers.least_squares import flips, label_search
from semisvm.solvers.least_squares.labelings import DenseLabelings

SPACES = ["rbf", "features", "many features"]
BALANCES = [Free(), Count(0.4), Count(0.3, 0.15)]
every_space = pytest.mark.parametrize("space", SPACES)
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["free", "count", "slack"])
both_searches = pytest.mark.parametrize("search", ["round_robin", "steepest"])


def largest_gain(problem, y):
    """What the best allowed flip gains or, where the balance forbids some flip, the best flip or swap."""
    S, changed = problem_form(problem), label_changes(problem, y)
    is_flip = (changed != y).sum(axis=1) == 1
    if is_flip.sum() == len(problem.searched):
        changed = changed[is_flip]
    return labeling_values(S, y[None])[0] - labeling_values(S, changed).min()


@both_searches
@every_space
@every_balance
@pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
def test_objective_never_increases_and_no_change_gains_at_the_end(search, space, balance, intercept):
    problem = least_squares_problem(1, 24, space=space, balance=balance, intercept=intercept)
    solution = LabelSearch(search, 2).solve(problem, rng=0)
    assert solution.status == "converged"
    path = np.array([row["objective"] for row in solution.trace])
    assert (np.diff(path) <= 1e-12 * path[0]).all()
    assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
    assert_least_squares_of_labels(problem, solution)
    assert largest_gain(problem, solution.labels) <= 1e-9
    assert solution.certificate.kind == "no_flip"
    assert solution.certificate.value == 0.0


@every_space
@every_balance
def test_objective_is_at_least_that_of_the_best_labels(space, balance):
    reached = []
    for seed in range(3):
        problem = least_squares_problem(seed, 8 + seed % 2, space=space, balance=balance)
        smallest = labeling_values(problem_form(problem), label_vectors(problem)).min()
        for solver in (LabelSearch("round_robin", 3), LabelSearch("steepest", 2), LabelSearch("largest")):
            solution = solver.solve(problem, rng=0)
            assert_least_squares_of_labels(problem, solution)
            assert solution.objective >= smallest - 1e-9
            reached.append(solution.objective <= smallest + 1e-9)
    assert np.mean(reached) > 0.5


def published_rule(problem, n_positive):
    """Labels by S2LS-SVM 1, every objective computed from scratch; and those at the start."""
    S, searched, known = problem_form(problem), problem.searched, np.flatnonzero(problem.is_labeled)
    K = np.asarray(problem.space.gram().compute())
    f = least_squares_svm(K, problem.cost, problem.signs, True, known)[2]
    y = problem.signs.copy()
    y[searched] = np.where(f[searched] > 0, 1.0, -1.0)
    if n_positive is not None:
        y[searched] = -1.0
        y[searched[np.argsort(-f[searched])[:n_positive]]] = 1.0
    start = y
    while True:
        error = np.where(problem.is_labeled, -np.inf, y * (S @ y))
        classes = [np.abs(y) > 0] if n_positive is None else [y > 0, y < 0]
        samples = [int(np.where(members, error, -np.inf).argmax()) for members in classes]
        trial = y.copy()
        trial[samples] *= -1.0
        before, after = labeling_values(S, np.array([y, trial]))
        if error[samples].min() <= 0 or after >= before:
            return y, start
        y = trial


@every_space
@pytest.mark.parametrize("balance, n_positive", [(Free(), None), (Count(0.4), 12)], ids=["free", "count"])
def test_largest_error_is_the_published_rule(balance, n_positive, space):
    n_changed = 0
    for seed in range(4):
        problem = least_squares_problem(seed, 30, space=space, balance=balance)
        y, start = published_rule(problem, n_positive)
        solution = LabelSearch("largest").solve(problem)
        np.testing.assert_array_equal(solution.labels, y)
        first = labeling_values(problem_form(problem), start[None])[0]
        assert solution.trace[0]["objective"] == pytest.approx(first, rel=1e-9)
        n_changed += (y != start).sum()
        if n_positive is None:  # it ends before all flips that gain are made
            gain = max(largest_gain(problem, y), 0.0)
            assert solution.certificate.value == pytest.approx(gain, abs=1e-9)
            assert solution.certificate.kind == ("no_flip" if gain < 1e-9 else "monotone")
    assert n_changed > 0


@both_searches
@every_space
@every_balance
def test_more_starts_are_never_worse_and_threads_do_not_matter(search, space, balance, monkeypatch):
    problem, found = least_squares_problem(2, 30, space=space, balance=balance, C_unlabeled=2.0), []
    for n_init, n_threads in ((1, 1), (3, 1), (9, 2), (20, 1), (20, 4)):
        monkeypatch.setattr(label_search, "n_available_threads", lambda n_threads=n_threads: n_threads)
        found.append(LabelSearch(search, n_init).solve(problem, rng=0))
    objectives = np.array([solution.objective for solution in found])
    assert (np.diff(objectives) <= 1e-9).all()
    assert objectives[-1] < objectives[0] - 1e-9 or space != "rbf"
    np.testing.assert_array_equal(found[-1].labels, found[-2].labels)


def test_search_goes_on_from_a_start():
    problem = least_squares_problem(2, 30, balance=Count(0.4))
    best = LabelSearch(n_init=30).solve(problem, rng=0)
    again = LabelSearch().solve(problem, start=best)
    np.testing.assert_array_equal(again.labels, best.labels)
    assert best.objective < LabelSearch().solve(problem).objective


def test_rounding_errors_of_many_flips_do_not_end_a_search(monkeypatch):
    problem, sweep, flips_of_sweeps = least_squares_problem(9, 40), DenseLabelings.sweep, []

    def sweep_then_hide_all_gains(labelings, order):
        n_flips = sweep(labelings, order)
        flips_of_sweeps.append(n_flips)
        if len(flips_of_sweeps) == 1:
            labelings.A[:] = -10.0 * labelings.Y
        return n_flips

    monkeypatch.setattr(DenseLabelings, "sweep", sweep_then_hide_all_gains)
    monkeypatch.setattr(label_search, "MANY_FLIPS", 0)
    solution = LabelSearch().solve(problem)
    assert flips_of_sweeps[0] > 0 == flips_of_sweeps[1] < flips_of_sweeps[2]
    assert solution.status == "converged"
    assert_least_squares_of_labels(problem, solution)
    assert largest_gain(problem, solution.labels) <= 1e-9


def test_largest_number_of_rounds():
    problem = least_squares_problem(2, 40, balance=Count(0.45, 0.1), C=0.1, C_unlabeled=0.05)
    assert LabelSearch(n_init=3).solve(problem, rng=0).n_iter > 2
    limited = LabelSearch(n_init=3, max_iter=1).solve(problem, rng=0)
    assert limited.status == "max_iter"
    assert len(limited.trace) == limited.n_iter == 2
    assert_least_squares_of_labels(problem, limited)


def test_swaps_that_never_end_are_limited_by_the_rounds(monkeypatch):
    """With samples around 1e11 and costs of 1e3 and 1e-6 rounding errors let two samples swap labels without end."""
    monkeypatch.setattr(flips, "steepest_swaps", lambda *_: 1)
    problem = least_squares_problem(1, 30, balance=Count(0.4))
    solution = LabelSearch(max_iter=5).solve(problem)
    assert (solution.status, solution.n_iter) == ("max_iter", 6)
    assert_least_squares_of_labels(problem, solution)


@pytest.mark.parametrize("search, move", [("round_robin", "sweep"), ("steepest", "descend"), ("steepest", "swap")])
def test_ctrl_c_between_labels_and_alpha_leaves_a_solution_of_its_labels(search, move, monkeypatch):
    problem = least_squares_problem(1, 30, balance=Count(0.4))
    original = getattr(DenseLabelings, move)

    def interrupted(labelings, *given):
        original(labelings, *given)
        labelings.A[:] = 0.0
        raise KeyboardInterrupt

    monkeypatch.setattr(DenseLabelings, move, interrupted)
    solution = LabelSearch(search, 2).solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert_least_squares_of_labels(problem, solution)
    assert solution.certificate.value == pytest.approx(max(largest_gain(problem, solution.labels), 0.0), abs=1e-9)
