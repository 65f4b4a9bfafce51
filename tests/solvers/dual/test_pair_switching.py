"""Pair switching against all labelings of small problems, and what it promises about every step and every end."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import (
    assert_svm_of_labels,
    hinge_losses,
    keeps_balance,
    kernel_svm_value,
    label_changes,
    label_vectors,
    largest_label_gain,
    smallest_objective,
)
from semisvm.balance import Count, Free
from semisvm.problem import violation
from semisvm.solvers.dual import SMO, LabelMoves, PairSwitching, fixed_labels, pair_switching, solve_supervised
from semisvm.spaces import Gram

EXACT = PairSwitching(tol=1e-7)
KEYS = ["step", "objective", "level_objective", "level", "changed", "pair_steps", "violation"]
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_loss = pytest.mark.parametrize("losses", ["hinge", "squared_hinge"])
every_balance = pytest.mark.parametrize("balance", [Free(), Count(0.5), Count(0.35, 0.15)], ids=str)


def assert_levels_decrease(trace):
    """A change of labels happens within a level and decreases its objective."""
    for before, after in itertools.pairwise(trace):
        if after["changed"]:
            assert after["level"] == before["level"]
            assert after["level_objective"] < before["level_objective"]


def from_labels(problem, y):
    """A start with given labels."""
    return replace(solve_supervised(problem, 1e-3, None), labels=np.where(y == 0, 1.0, y))


def overlapping(seed=4, n_unlabeled=120, **options):
    """Enough samples for many changes."""
    options = {"n_labeled": 6, "n_features": 8, "separation": 0.25, "gamma": 0.03, "balance": Count(0.5)} | options
    return random_problem(seed, n_unlabeled, C_unlabeled=2.0, **options)


# ---- against all labelings ----


@every_balance
@every_intercept
@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
def test_small_problems_of_every_kind(balance, intercept, losses, weighted):
    """Not below the best labeling, an SVM of its labels, no change gains, and descent on the way."""
    if weighted and balance == Count(0.5):
        balance = Count(0.5, 0.15)
    problem = random_problem(
        3, 6, balance=balance, intercept=intercept, losses=losses, weighted=weighted, n_zero_weight=2 * weighted
    )
    solution = EXACT.solve(problem)
    assert solution.status == "converged"
    assert_svm_of_labels(problem, solution)
    y = np.where(problem.cost > 0, solution.labels, 0.0)
    assert solution.objective >= smallest_objective(problem) * (1.0 - 1e-6)
    assert solution.objective == pytest.approx(kernel_svm_value(problem, y), rel=1e-6)
    assert largest_label_gain(problem, solution.scores, y) < 1e-5
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.value == violation(problem.with_labels(y), solution.multipliers, solution.scores) < 1e-6
    trace = solution.trace
    assert_levels_decrease(trace)
    assert list(trace[0]) == KEYS
    assert len(trace) == solution.n_iter
    levels = [row["level"] for row in trace]
    assert levels == sorted(levels)
    assert levels[-1] == 1.0
    assert trace[-1]["objective"] == pytest.approx(solution.objective, rel=1e-9)
    assert trace[-1]["level_objective"] == trace[-1]["objective"]


def test_best_labeling_is_often_found():
    n_best = 0
    for seed in range(10):
        problem = random_problem(100 + seed, 9, balance=Count(0.3), intercept=False, separation=0.9)
        found, best = EXACT.solve(problem).objective, smallest_objective(problem)
        assert found >= best * (1.0 - 1e-6)
        n_best += found <= best * (1.0 + 1e-5)
    assert n_best >= 6


def test_best_labeling_is_not_left():
    problem = random_problem(5, 7, balance=Count(0.5))
    best = min(label_vectors(problem), key=lambda y: kernel_svm_value(problem, y))
    np.testing.assert_array_equal(EXACT.solve(problem, from_labels(problem, best)).labels, best)


def test_clusters_get_their_own_labels():
    problem = random_problem(0, 26, separation=6.0, balance=Count(0.5))
    truth = np.where(problem.space.X.sum(axis=1) > 0, 1.0, -1.0)
    share = np.mean(truth[problem.searched] > 0)
    np.testing.assert_array_equal(PairSwitching().solve(replace(problem, balance=Count(share))).labels, truth)


# ---- levels ----


def level_costs(problem, labels, positive_share, negative_share):
    cost = problem.cost.copy()
    searched = problem.searched
    cost[searched] *= np.where(labels[searched] > 0, positive_share, negative_share)
    return cost


def test_levels_double_from_a_small_share_of_the_cost_and_positive_labels_start_by_their_ratio():
    """A fifth of the labels is positive: the cost of positive labels starts at a fourth of that of negative ones."""
    problem = overlapping(n_unlabeled=40, balance=Count(0.2))
    trace = PairSwitching().solve(problem).trace
    levels = np.unique([row["level"] for row in trace])
    np.testing.assert_allclose(levels[:-1], 0.25e-5 * 2.0 ** np.arange(len(levels) - 1))
    assert levels[-1] == 1.0
    assert levels[-2] > 0.5
    other = PairSwitching().solve(replace(problem, signs=-problem.signs, balance=Count(0.8))).trace
    assert other[0]["level"] == 1e-5  # that of negative labels


@every_loss
def test_objective_of_a_level_is_that_of_its_costs(losses):
    problem = random_problem(3, 8, balance=Count(0.25), losses=losses)
    solution = PairSwitching(1e-6, max_iter=5).solve(problem)
    row, labels, K = solution.trace[-1], solution.labels, problem.space.compute()
    assert row["level"] < 1e-3
    cost = level_costs(problem, labels, row["level"], 3.0 * row["level"])  # two of eight labels are positive
    f = K @ solution.dual + solution.intercept
    value = 0.5 * solution.dual @ K @ solution.dual + cost @ hinge_losses(problem, labels * f)
    assert row["level_objective"] == pytest.approx(value, rel=1e-6)
    assert row["objective"] == pytest.approx(solution.objective, rel=1e-6)
    assert row["objective"] > row["level_objective"]


@every_loss
def test_level_objective_decreases_with_every_swap_where_classes_differ_in_size(losses):
    n_early = 0
    for seed in range(5):
        problem = overlapping(seed, 40, balance=Count(0.2), losses=losses)
        solution = PairSwitching().solve(problem)
        assert_levels_decrease(solution.trace)
        assert_svm_of_labels(problem, solution)
        changes = [row for row in solution.trace if row["changed"]]
        assert all(row["changed"] == 2 for row in changes)
        n_early += sum(row["level"] < 0.1 for row in changes)
    assert n_early >= 3  # where a label makes a difference to the cost


@every_loss
@pytest.mark.parametrize("balance", [Free(), Count(0.2, 0.1)], ids=str)
def test_no_change_gains_at_the_end_of_a_level_by_its_own_costs(losses, balance):
    """A flip moves a sample to the cost of its new label."""
    n_levels = 0
    for seed in range(3):
        problem = random_problem(seed, 12, balance=balance, losses=losses, separation=0.3)
        trace = EXACT.solve(problem).trace
        ratio = positive_ratio(problem)
        last_rows = [k for k, (row, after) in enumerate(itertools.pairwise(trace), 1) if row["level"] < after["level"]]
        for k in last_rows[-6:]:
            solution = replace(EXACT, max_iter=k).solve(problem)
            share = trace[k - 1]["level"]
            shares = (min(share * max(ratio, 1.0), 1.0), min(share * max(1.0 / ratio, 1.0), 1.0))
            labels = np.vstack([solution.labels, label_changes(problem, solution.labels)])
            losses_of = [level_costs(problem, y, *shares) @ hinge_losses(problem, y * solution.scores) for y in labels]
            assert min(losses_of) > losses_of[0] - 1e-5
            n_levels += 1
    assert n_levels > 10


@pytest.mark.parametrize(("seed", "balance"), [(11, Count(0.5)), (8, Free())], ids=str)
def test_changes_go_on_at_the_full_cost(seed, balance):
    problem = overlapping(seed, balance=balance)
    solution = PairSwitching().solve(problem)
    assert any(row["changed"] for row in solution.trace if row["level"] == 1.0)
    assert largest_label_gain(problem, solution.scores, solution.labels) < 1e-6


def positive_ratio(problem):
    """Positive over negative labels of the supervised SVM."""
    y = solve_supervised(problem, 1e-7, None).labels[problem.searched]
    return (y > 0).sum() / (y < 0).sum() if 0 < (y > 0).sum() < len(y) else 1.0


# ---- other starts ----


@every_intercept
@every_loss
@every_balance
def test_objective_is_never_above_that_of_the_start(intercept, losses, balance):
    problem = random_problem(4, 9, balance=balance, intercept=intercept, losses=losses)
    Y, n_moved = label_vectors(problem), 0
    for y in Y[np.random.default_rng(0).integers(len(Y), size=4)]:
        solution = EXACT.solve(problem, from_labels(problem, y))
        first = kernel_svm_value(problem, y)
        assert solution.objective <= first + 1e-6
        assert_svm_of_labels(problem, solution)
        assert_levels_decrease(solution.trace)
        assert {row["level"] for row in solution.trace} == {1.0}
        assert solution.trace[0]["objective"] == pytest.approx(first, abs=1e-4)
        assert largest_label_gain(problem, solution.scores, solution.labels) < 1e-5
        n_moved += (solution.labels != y).any()
    assert n_moved >= 1


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_start_that_breaks_the_balance_is_brought_into_it(weighted, label):
    problem = random_problem(5, 8, balance=Count(0.5, 0.15), weighted=weighted)
    start = from_labels(problem, np.where(problem.is_labeled, problem.signs, label))
    assert_svm_of_labels(problem, EXACT.solve(problem, start))


# ---- limit cases and invariances ----


@every_balance
@pytest.mark.parametrize("with_start", [False, True])
def test_unlabeled_samples_without_cost_give_the_supervised_svm(balance, with_start):
    problem = random_problem(6, balance=balance, C_unlabeled=0.0)
    expected = SMO(1e-7).solve(problem.labeled_only())
    solution = EXACT.solve(problem, expected if with_start else None)
    np.testing.assert_allclose(solution.scores, expected.scores, atol=1e-5)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-6)
    as_searched = replace(problem, cost=np.ones(len(problem.cost)))
    assert keeps_balance(as_searched, solution.labels[None]).all()
    assert solution.status == "converged"


@pytest.mark.parametrize("change", ["all labeled", "no unlabeled loss"])
def test_problems_without_searched_samples_give_the_supervised_svm(change):
    problem = random_problem(7, 0, n_labeled=9, n_zero_weight=3)
    if change == "no unlabeled loss":
        problem = replace(random_problem(7), unlabeled=None)
    solution = EXACT.solve(problem)
    assert solution.objective == pytest.approx(kernel_svm_value(problem, problem.signs), rel=1e-6)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)


@pytest.mark.parametrize("r", [0.0, 1.0])
def test_all_samples_of_one_class(r):
    problem = random_problem(8, 6, balance=Count(r))
    solution = EXACT.solve(problem)
    y = np.where(problem.is_labeled, problem.signs, 2.0 * r - 1.0)
    np.testing.assert_array_equal(solution.labels, y)
    assert solution.objective == pytest.approx(kernel_svm_value(problem, y), rel=1e-6)


@every_loss
@pytest.mark.parametrize("balance", [Free(), Count(0.25)], ids=str)
def test_swapped_classes_give_the_opposite_solution(losses, balance):
    problem = random_problem(9, 12, balance=balance, losses=losses)
    swapped = Count(1.0 - balance.r) if isinstance(balance, Count) else balance
    one, other = EXACT.solve(problem), EXACT.solve(replace(problem, signs=-problem.signs, balance=swapped))
    np.testing.assert_array_equal(one.labels, -other.labels)
    np.testing.assert_allclose(one.scores, -other.scores, atol=1e-5)


def subproblem(problem, samples):
    """The problem of some samples, in some order."""
    weights = None if problem.weights is None else problem.weights[samples]
    space = Gram(problem.space.kernel, problem.space.X[samples])
    return replace(problem, space=space, signs=problem.signs[samples], cost=problem.cost[samples], weights=weights)


@pytest.mark.parametrize("weighted", [False, True], ids=["equal weights", "weights"])
def test_order_of_samples_and_samples_without_weight_do_not_matter(weighted):
    problem = random_problem(10, 12, balance=Count(0.4, 0.1), weighted=weighted, n_zero_weight=6)
    order = np.random.default_rng(0).permutation(len(problem.signs))
    kept = order[problem.weights[order] > 0]
    one = EXACT.solve(problem)
    for samples in (order, kept):
        other = EXACT.solve(subproblem(problem, samples))
        used = problem.weights[samples] > 0
        np.testing.assert_array_equal(one.labels[samples][used], other.labels[used])
        np.testing.assert_allclose(one.scores[samples], other.scores, atol=1e-5)


def test_samples_twice_at_half_the_cost_do_not_increase_the_objective():
    problem = random_problem(12, 8, balance=Count(0.5))
    samples = np.tile(np.arange(len(problem.signs)), 2)
    twice = subproblem(replace(problem, cost=0.5 * problem.cost), samples)
    once = EXACT.solve(problem)
    both = EXACT.solve(twice, replace(once, labels=once.labels[samples], scores=once.scores[samples]))
    assert both.objective <= once.objective + 1e-6


# ---- ends ----


def assert_usable(problem, solution, status):
    assert solution.status == status
    assert_svm_of_labels(problem, solution)
    left = largest_label_gain(problem, solution.scores, solution.labels)
    if solution.certificate.kind == "monotone":
        assert solution.certificate.value == pytest.approx(left, rel=1e-6)
    else:
        assert solution.certificate.kind == "stationary"
        assert left < 1e-9


@pytest.mark.parametrize("max_iter", [1, 2, 12, 19, 25])
def test_max_iter_is_the_number_of_svms(max_iter):
    problem = overlapping()
    solution = PairSwitching(max_iter=max_iter).solve(problem)
    assert_usable(problem, solution, "max_iter")
    assert len(solution.trace) == solution.n_iter == max_iter


@pytest.mark.parametrize("number", [0, 1, 25])
@pytest.mark.parametrize("status", ["stopped", "interrupted"])
def test_callback_stops_or_interrupts_at_any_svm(number, status):
    problem, seen = overlapping(), []

    def callback(row):
        seen.append(row)
        if status == "interrupted" and row["step"] == number:
            raise KeyboardInterrupt
        return row["step"] == number

    solution = PairSwitching().solve(problem, callback=callback)
    assert_usable(problem, solution, status)
    assert seen == solution.trace
    assert solution.n_iter == number + 1


@pytest.mark.parametrize(("target", "number"), [("train", 1), ("train", 9), ("best", 12)])
def test_ctrl_c_between_pair_steps(target, number, monkeypatch):
    """Before the first SVM, before a later one, and while the next change is looked for."""
    owner, name = (fixed_labels, "solve_dual") if target == "train" else (LabelMoves, "best")
    run, calls = getattr(owner, name), []

    def interrupt(*args, **options):
        calls.append(name)
        if len(calls) == number:
            raise KeyboardInterrupt
        return run(*args, **options)

    monkeypatch.setattr(owner, name, interrupt)
    problem = overlapping()
    solution = PairSwitching().solve(problem)
    assert_usable(problem, solution, "interrupted")
    assert (solution.trace == []) == ((target, number) == ("train", 1))


@pytest.mark.parametrize("status", ["interrupted", "max_time"])
@pytest.mark.parametrize("number", [2, 3, 13, 16, 20, 28])
def test_early_end_within_the_pair_steps_of_any_svm_is_reported(number, status, end_pair_steps):
    """Those of levels and those of changes, which are undone."""
    problem = overlapping()
    calls = end_pair_steps(number, status)
    solution = PairSwitching().solve(problem)
    assert len(calls) == number
    assert solution.status == status
    assert_svm_of_labels(problem, solution)


@pytest.mark.parametrize("status", ["interrupted", "max_time"])
def test_early_end_within_the_supervised_svm_has_the_objective_of_all_labels(status, end_pair_steps):
    problem = overlapping()
    end_pair_steps(1, status)
    solution = PairSwitching().solve(problem)
    assert solution.status == status
    assert_svm_of_labels(problem, solution)
    assert solution.certificate.kind == "stationary"
    at_labels = problem.with_labels(solution.labels)
    assert solution.certificate.value == violation(at_labels, solution.multipliers, solution.scores) > 0.1


def test_change_that_decreases_nothing_is_undone():
    problem = overlapping()
    rule = pair_switching.StoppingRule()
    search = pair_switching._Search(problem, EXACT.solve(problem), 1e-7, rule)
    search.run_level(np.ones(2))
    rule.status = None
    y, value = search.y.copy(), search.trainer.objective()
    f = search.trainer.scores()[search.samples]
    positives, negatives = (np.flatnonzero(side * y[search.samples] > 0) for side in (1.0, -1.0))
    most_certain = np.array([positives[f[positives].argmax()], negatives[f[negatives].argmin()]])
    assert not search._change_labels(most_certain, 1e-3, np.ones(2))
    assert rule.running
    np.testing.assert_array_equal(search.y, y)
    np.testing.assert_array_equal(search.trainer.problem.signs, y)
    assert search.trainer.objective() == value
