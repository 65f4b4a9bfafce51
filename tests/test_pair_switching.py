"""Pair switching against all labelings of small problems, its own promises and its limits; and ``SwitchingTSVM``."""

import itertools
from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse
from sklearn.datasets import load_iris
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import SVC

from semisvm import SVM, SwitchingTSVM
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import Hinge, SymmetricHinge
from semisvm.problem import Problem, imbalance
from semisvm.solvers import SMO, PairSwitching, pair_switching, smo
from semisvm.solvers.held_labels import Changes, Trainer, filled, free_rows, supervised
from semisvm.solvers.limits import Limits
from semisvm.spaces import Gram
from test_held_labels import (
    BALANCES,
    INTERCEPTS,
    allowed,
    assert_sound,
    conditions,
    enumerated,
    every_balance,
    every_intercept,
    every_loss,
    kernel_of,
    labelings,
    largest_gain,
    machine_of,
    partly,
    value_at,
)

EXACT = PairSwitching(tol=1e-7)
KEYS = {"step", "objective", "level_objective", "level", "changed", "pair_steps", "violation"}

# every kind of problem, a few seeds of each: balance, intercept, loss, whether weights differ
KINDS = list(itertools.product(BALANCES, INTERCEPTS, [False, True], [False, True]))


def of_kind(number, u=7, **other):
    """A random problem; where weights differ the balance has a slack."""
    balance, intercept, squared, weighted = KINDS[number % len(KINDS)]
    if weighted and balance == Count(0.5):
        balance = Count(0.5, 0.12)
    return partly(number, u, balance, intercept, squared, weighted, lost=2 * (number % 2), **other)


def falls(trace):
    """Whether each row with changes is below the row before, at the same level."""
    pairs = list(itertools.pairwise(trace))
    assert all(after["level"] == before["level"] for before, after in pairs if after["changed"])
    return all(after["level_objective"] < before["level_objective"] for before, after in pairs if after["changed"])


# ------------------------------------------------------------------------------------------- against all labelings


@pytest.mark.parametrize("number", range(44))
def test_small_problems_of_every_kind(number):
    """Not below the best labeling, as good as reported, at rest, and falling on the way."""
    problem = of_kind(number, u=6 + number % 3)
    solution = EXACT.solve(problem)
    assert solution.status == "converged"
    assert_sound(problem, solution)
    best = enumerated(problem)
    assert solution.objective >= best - 1e-6 * best
    y = np.where(problem.cost > 0, solution.labels, 0.0)
    assert solution.objective == pytest.approx(machine_of(problem, y), rel=1e-6)
    assert conditions(problem, solution) < 1e-6
    assert largest_gain(problem, solution.scores, y) < 1e-5
    assert solution.certificate.kind == "stationary"
    assert solution.certificate.value == pytest.approx(conditions(problem, solution), abs=1e-6)
    assert set(solution.trace[0]) == KEYS
    assert [row["step"] for row in solution.trace] == list(range(solution.n_iter))
    assert falls(solution.trace)
    levels = [row["level"] for row in solution.trace]
    assert levels == sorted(levels)
    assert levels[-1] == 1.0
    assert solution.trace[-1]["objective"] == pytest.approx(solution.objective, rel=1e-9)
    assert solution.trace[-1]["level_objective"] == solution.trace[-1]["objective"]


def test_ten_rows_and_how_often_the_best_is_found():
    """A descent does not always find the best labeling, but often."""
    found = 0
    for seed in range(12):
        problem = partly(100 + seed, u=10 if seed % 4 else 9, balance=Count(0.3), gap=0.9)
        solution = EXACT.solve(problem)
        best = enumerated(problem)
        assert solution.objective >= best - 1e-6
        found += solution.objective <= best + 1e-5 * best
    assert found >= 6


def test_clusters_that_are_apart_get_their_own_labels():
    rng = np.random.default_rng(0)
    truth = np.where(np.arange(30) % 3 == 0, 1.0, -1.0)
    X = 3.0 * truth[:, None] + 0.4 * rng.standard_normal((30, 2))
    signs = np.zeros(30)
    signs[:4] = truth[:4]
    problem = Problem(Gram(Kernel("rbf", 0.3), X), signs, np.ones(30), Hinge(), SymmetricHinge(), Count(8 / 26))
    np.testing.assert_array_equal(PairSwitching().solve(problem).labels, truth)


# ------------------------------------------------------------------------------------------- levels and their costs


def unbalanced(seed, u=40, r=0.2, **other):
    """Classes of one to four that overlap, so that a positive label costs a fourth on the way."""
    return partly(seed, u, Count(r), few=6, gap=0.3, star=1.0, gamma=0.05, **other)


def test_levels_double_from_a_hundred_thousandth_and_positive_labels_start_by_their_share():
    problem = unbalanced(0)
    pairs = []

    class Noted(pair_switching.Search):
        def descend(self, plus, minus):
            pairs.append((plus, minus))
            return super().descend(plus, minus)

    first = supervised(problem, 1e-3, None)
    search = Noted(problem, first, PairSwitching())
    assert search.rise() == "converged"
    plus, minus = np.array(pairs).T
    positive = np.count_nonzero(first.labels[free_rows(problem)] > 0)
    assert minus[0] == 1e-5
    assert plus[0] == pytest.approx(1e-5 * positive / (40 - positive))
    assert plus[-1] == minus[-1] == 1.0
    assert min(pairs[-2]) < 1.0
    np.testing.assert_allclose(plus[1:], np.minimum(2.0 * plus[:-1], 1.0))
    np.testing.assert_allclose(minus[1:], np.minimum(2.0 * minus[:-1], 1.0))


def test_costs_belong_to_labels():
    """Every pair that Joachims' condition names lowers the objective if costs move with labels, not if rows keep them.

    His condition: opposite labels, both slacks positive, their sum above 2.
    """
    tried = raised = 0
    for seed in range(3):
        problem = partly(seed, u=16, few=2, gap=0.3, gamma=0.1)
        rows, rng = free_rows(problem), np.random.default_rng(seed)
        y = problem.signs.copy()
        y[rows] = rng.permutation(np.where(np.arange(16) < 4, 1.0, -1.0))

        def costs(labels, problem=problem, rows=rows):
            cost = problem.cost.copy()
            cost[rows] *= np.where(labels[rows] > 0, 0.1 * 4 / 12, 0.1)
            return cost

        trainer = Trainer(problem, Limits())
        value = trainer.train(y, costs(y), 1e-8)
        slack = np.maximum(1.0 - y * trainer.scores(), 0.0)
        for i, j in itertools.product(rows[y[rows] > 0], rows[y[rows] < 0]):
            if min(slack[i], slack[j]) > 0 and slack[i] + slack[j] > 2:
                other = y.copy()
                other[[i, j]] *= -1.0
                tried += 1
                assert machine_of(problem, other, costs(other)) < value - 1e-9
                raised += machine_of(problem, other, costs(y)) > value + 1e-9
    assert tried >= 20
    assert raised >= 10


@pytest.mark.parametrize("seed", range(6))
@every_loss
def test_the_objective_of_a_level_falls_with_every_change_where_classes_differ_in_size(seed, squared):
    problem = unbalanced(seed, squared=squared)
    solution = PairSwitching().solve(problem)
    assert falls(solution.trace)
    changed = [row for row in solution.trace if row["changed"]]
    assert all(row["changed"] == 2 for row in changed)
    assert_sound(problem, solution)
    if seed == 0:
        assert sum(row["level"] < 0.1 for row in changed) >= 3  # where a label makes a difference to the cost


@every_loss
@pytest.mark.parametrize("plus, minus", [(0.02, 0.3), (0.3, 0.02)])
@pytest.mark.parametrize("balance", [Free(), Count(0.4, 0.2)], ids=str)
def test_at_the_end_of_a_level_nothing_gains_by_its_own_costs(squared, plus, minus, balance):
    """With both labels' costs: a flip moves a row to the cost of its new label."""
    for seed in range(4):
        problem = partly(seed, u=12, balance=balance, squared=squared, gap=0.3)
        search = pair_switching.Search(problem, supervised(problem, 1e-3, None), EXACT)
        assert search.descend(plus, minus) == "converged"
        assert falls(search.trace)
        rows, f, y = search.rows, search.trainer.scores(), search.y

        def paid(labels, rows=rows, f=f, problem=problem):
            t = np.maximum(1.0 - labels[rows] * f[rows], 0.0) ** (2 if squared else 1)
            return problem.cost[rows] @ (np.where(labels[rows] > 0, plus, minus) * t)

        for few in [[i] for i in rows] + [[i, j] for i in rows for j in rows if y[i] > 0 > y[j]]:
            other = y.copy()
            other[few] *= -1.0
            assert not allowed(problem, other[rows]) or paid(other) > paid(y) - 1e-5


@every_loss
def test_the_objective_of_a_level_is_that_of_its_costs(squared):
    problem = partly(3, u=8, balance=Count(0.25), squared=squared)
    solution = PairSwitching(1e-6, max_iter=5).solve(problem)
    row = solution.trace[-1]
    rows = free_rows(problem)
    assert row["level"] < 1e-3
    minus = row["level"] * (1.0 if solution.labels[rows].sum() > 0 else 3.0)
    cost = problem.cost.copy()
    cost[rows] *= np.where(solution.labels[rows] > 0, row["level"], minus)  # a fourth positive: a third of the cost
    assert row["level_objective"] == pytest.approx(
        value_at(problem, solution.dual, solution.intercept, solution.labels, cost), rel=1e-6
    )
    assert row["objective"] == pytest.approx(solution.objective, rel=1e-6)
    assert row["objective"] > row["level_objective"]


# ------------------------------------------------------------------------------------------- from other labels


@every_intercept
@every_loss
@every_balance
def test_from_given_labels_it_never_ends_higher_than_their_machine(intercept, squared, balance):
    rng = np.random.default_rng(0)
    problem = partly(4, u=9, balance=balance, intercept=intercept, squared=squared)
    start = supervised(problem, 1e-3, None)
    every = list(labelings(problem))
    moved = 0
    for y in (every[k] for k in rng.integers(len(every), size=5)):
        solution = EXACT.solve(problem, replace(start, labels=y))
        first = machine_of(problem, y)
        assert solution.objective <= first + 1e-6
        assert_sound(problem, solution)
        assert falls(solution.trace)
        assert {row["level"] for row in solution.trace} == {1.0}  # at the whole cost at once
        assert solution.trace[0]["objective"] == pytest.approx(first, abs=1e-4)
        assert largest_gain(problem, solution.scores, solution.labels) < 1e-5
        moved += (solution.labels != y).any()
    assert moved >= 1


@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
@pytest.mark.parametrize("label", [-1.0, 1.0])
def test_labels_that_break_the_balance_are_brought_into_it(weighted, label):
    problem = partly(5, u=8, balance=Count(0.5, 0.15), weighted=weighted)
    start = supervised(problem, 1e-3, None)
    labels = np.where(problem.is_labeled, problem.signs, label)
    assert_sound(problem, EXACT.solve(problem, replace(start, labels=labels)))


def test_the_best_labeling_is_not_left():
    problem = partly(5, u=8, balance=Count(0.5))
    best = min(labelings(problem), key=lambda y: machine_of(problem, y))
    solution = EXACT.solve(problem, replace(supervised(problem, 1e-3, None), labels=best))
    np.testing.assert_array_equal(solution.labels, best)


# ------------------------------------------------------------------------------------------- the ends of the range


@every_intercept
@every_loss
@every_balance
@pytest.mark.parametrize("given", [False, True], ids=["no start", "start"])
def test_unlabeled_rows_that_cost_nothing_give_the_supervised_machine(intercept, squared, balance, given):
    problem = partly(6, u=8, balance=balance, intercept=intercept, squared=squared, star=0.0)
    start = SMO().solve(problem.alone()) if given else None
    solution = EXACT.solve(problem, start)
    expected = SMO(1e-7).solve(problem.alone())
    np.testing.assert_allclose(solution.scores, expected.scores, atol=1e-5)
    assert solution.objective == pytest.approx(expected.objective, rel=1e-6)
    assert allowed(problem, solution.labels[free_rows(problem)])
    assert solution.status == "converged"


@pytest.mark.parametrize("lost", [0, 3])
def test_no_rows_to_label_give_the_supervised_machine(lost):
    problem = partly(7, u=0, few=9, lost=lost)
    solution = EXACT.solve(problem)
    assert solution.objective == pytest.approx(machine_of(problem, problem.signs), rel=1e-6)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    without = partly(7, u=5)._replace(unlabeled=None)
    assert EXACT.solve(without).objective == pytest.approx(machine_of(without, without.signs), rel=1e-6)


@pytest.mark.parametrize("r", [0.0, 1.0])
def test_all_rows_of_one_class(r):
    problem = partly(8, u=6, balance=Count(r))
    solution = EXACT.solve(problem)
    assert (solution.labels[free_rows(problem)] == (1.0 if r else -1.0)).all()
    assert_sound(problem, solution)
    y = np.where(problem.is_labeled, problem.signs, 1.0 if r else -1.0)
    assert solution.objective == pytest.approx(machine_of(problem, y), rel=1e-6)


def test_one_row_to_label():
    for seed in range(6):
        problem = partly(seed, u=1)
        solution = EXACT.solve(problem)
        assert_sound(problem, solution)
        assert largest_gain(problem, solution.scores, solution.labels) < 1e-6


# ------------------------------------------------------------------------------------------- the same in other words


@every_intercept
@every_loss
@pytest.mark.parametrize("balance", [Free(), Count(0.25)], ids=str)
def test_swapped_classes_give_the_same_machine(intercept, squared, balance):
    problem = partly(9, u=12, balance=balance, intercept=intercept, squared=squared)
    turned = Count(1.0 - balance.r) if balance else balance
    one, other = EXACT.solve(problem), EXACT.solve(problem._replace(signs=-problem.signs, balance=turned))
    np.testing.assert_array_equal(one.labels, -other.labels)
    np.testing.assert_allclose(one.scores, -other.scores, atol=1e-5)
    assert one.objective == pytest.approx(other.objective, rel=1e-6)


@every_loss
@pytest.mark.parametrize("weighted", [False, True], ids=["even", "weighted"])
def test_rows_in_another_order_give_the_same_machine(squared, weighted):
    problem = partly(10, u=12, balance=Count(0.4, 0.1), squared=squared, weighted=weighted)
    order = np.random.default_rng(0).permutation(len(problem.signs))
    moved = problem._replace(
        space=Gram(problem.space.kernel, problem.space.X[order]),
        signs=problem.signs[order],
        cost=problem.cost[order],
        weights=problem.weights[order] if weighted else None,
    )
    one, other = EXACT.solve(problem), EXACT.solve(moved)
    np.testing.assert_array_equal(one.labels[order], other.labels)
    np.testing.assert_allclose(one.scores[order], other.scores, atol=1e-5)


def test_rows_without_weight_change_nothing():
    problem = partly(11, u=10, balance=Count(0.4), lost=6)
    kept = problem.weights > 0
    fewer = problem._replace(
        space=Gram(problem.space.kernel, problem.space.X[kept]),
        signs=problem.signs[kept],
        cost=problem.cost[kept],
        weights=None,
    )
    one, other = EXACT.solve(problem), EXACT.solve(fewer)
    np.testing.assert_array_equal(one.labels[kept], other.labels)
    np.testing.assert_allclose(one.scores[kept], other.scores, atol=1e-5)


def test_twice_the_weight_is_two_rows():
    problem = partly(12, u=8, balance=Count(0.5))
    n = len(problem.signs)
    twice = problem._replace(
        space=Gram(problem.space.kernel, np.vstack([problem.space.X] * 2)),
        signs=np.tile(problem.signs, 2),
        cost=np.tile(0.5 * problem.cost, 2),
    )
    once = EXACT.solve(problem)
    both = EXACT.solve(twice, replace(once, labels=np.tile(once.labels, 2), scores=np.tile(once.scores, 2)))
    assert both.objective <= once.objective + 1e-6
    assert len(both.labels) == 2 * n


def test_what_is_given_is_not_touched():
    problem = partly(13, u=8, balance=Count(0.5), lost=2)
    parts = [problem.signs.copy(), problem.cost.copy(), problem.weights.copy()]
    start = supervised(problem, 1e-3, None)
    labels = start.labels.copy()
    EXACT.solve(problem)
    EXACT.solve(problem, start)
    for now, was in zip((problem.signs, problem.cost, problem.weights, start.labels), (*parts, labels)):
        np.testing.assert_array_equal(now, was)


# ------------------------------------------------------------------------------------------- limits


def wide(seed=0, n=150):
    """Enough rows for many changes."""
    X, y = make_two_gaussians(n, n_features=10, shift=0.3, random_state=seed)
    signs = hide_labels(np.where(y > 1, 1.0, -1.0), 6, random_state=seed, marker=0.0)
    return Problem(Gram(Kernel("rbf", 0.02), X), signs, np.full(n, 2.0), Hinge(), SymmetricHinge(), Count(0.5))


def assert_usable(problem, solution, status):
    assert solution.status == status
    assert_sound(problem, solution)
    assert imbalance(problem, solution.scores, solution.labels) < 0.5 / len(free_rows(problem)) + 1e-9
    assert np.isfinite([solution.objective, solution.intercept, solution.certificate.value]).all()
    assert solution.certificate.kind in ("stationary", "monotone")


@pytest.mark.parametrize("limit", [1, 2, 7, 25])
def test_a_limit_on_machines(limit):
    problem = wide()
    solution = PairSwitching(max_iter=limit).solve(problem)
    assert_usable(problem, solution, "max_iter")
    assert len(solution.trace) == solution.n_iter == limit


def test_a_limit_above_the_need_changes_nothing():
    problem = wide()
    free = PairSwitching().solve(problem)
    same = PairSwitching(max_iter=free.n_iter + 1).solve(problem)
    np.testing.assert_array_equal(same.labels, free.labels)
    assert same.status == "converged"


@pytest.mark.parametrize("given", [False, True], ids=["no start", "start"])
def test_no_time(given):
    problem = wide()
    start = supervised(problem, 1e-3, None) if given else None
    solution = PairSwitching(max_time=1e-9).solve(problem, start)
    assert_usable(problem, solution, "max_time")


@pytest.mark.parametrize("after", [0, 1, 5, 25])
def test_a_callback_stops(after):
    problem = wide()
    seen = []

    def callback(row):
        seen.append(row)
        return len(seen) > after

    solution = PairSwitching().solve(problem, callback=callback)
    assert_usable(problem, solution, "stopped")
    assert seen == solution.trace
    assert len(seen) == after + 1


@pytest.mark.parametrize("after", [0, 3, 20])
def test_ctrl_c_in_a_callback(after):
    problem = wide()

    def callback(row):
        if row["step"] == after:
            raise KeyboardInterrupt

    solution = PairSwitching().solve(problem, callback=callback)
    assert_usable(problem, solution, "interrupted")
    assert solution.n_iter == after + 1


def test_ctrl_c_before_the_first_machine(monkeypatch):
    problem = wide()

    def interrupted(*rest):
        raise KeyboardInterrupt

    monkeypatch.setattr(pair_switching.Search, "train", interrupted)
    solution = PairSwitching().solve(problem)
    assert_usable(problem, solution, "interrupted")
    assert solution.trace == []


def test_ctrl_c_between_machines(monkeypatch):
    problem = wide()
    best, calls = Changes.best, []

    def interrupted(self, *rest):
        calls.append(1)
        if len(calls) == 12:
            raise KeyboardInterrupt
        return best(self, *rest)

    monkeypatch.setattr(Changes, "best", interrupted)
    assert_usable(problem, PairSwitching().solve(problem), "interrupted")


def ended_at(monkeypatch, call, status):
    """The pair steps of one machine do not take place: by Ctrl-C, or for want of time."""
    rounds, calls = smo._rounds, []

    def ended(state, tol, limits, whole):
        calls.append(1)
        if len(calls) == call and status == "interrupted":
            raise KeyboardInterrupt
        if len(calls) >= call and status == "max_time":
            limits.status = "max_time"
            return "max_time"
        return rounds(state, tol, limits, whole)

    monkeypatch.setattr(smo, "_rounds", ended)
    return calls


@pytest.mark.parametrize("status", ["interrupted", "max_time"])
@pytest.mark.parametrize("call", [1, 2, 3, 13, 15, 16, 18, 20, 24, 28])
def test_an_end_within_the_pair_steps_of_any_machine_is_told(monkeypatch, call, status):
    """The first is the supervised machine; later ones are those of levels and of changes, which are taken back."""
    problem = wide()
    calls = ended_at(monkeypatch, call, status)
    solution = PairSwitching().solve(problem)
    assert len(calls) == call
    assert solution.status == status
    if call > 1:
        assert_sound(problem, solution)
    assert allowed(problem, solution.labels[free_rows(problem)])


@pytest.mark.parametrize("limit", [1, 3, 12, 19, 22])
def test_what_a_change_would_still_gain_is_told(limit):
    problem = wide()
    solution = PairSwitching(max_iter=limit).solve(problem)
    assert solution.status == "max_iter"
    left = largest_gain(problem, solution.scores, solution.labels)
    if solution.certificate.kind == "monotone":
        assert solution.certificate.value == pytest.approx(left, rel=1e-6)
    else:
        assert left < 1e-9


def test_the_clock_starts_before_the_supervised_machine(monkeypatch):
    events = []

    def deadline(seconds):
        events.append("deadline")
        return np.inf

    def first(*rest):
        events.append("supervised")
        return supervised(*rest)

    monkeypatch.setattr(pair_switching, "deadline", deadline)
    monkeypatch.setattr(pair_switching, "supervised", first)
    PairSwitching(max_time=100.0).solve(wide())
    assert events == ["deadline", "supervised"]


def test_a_change_that_lowers_nothing_is_taken_back():
    problem = wide()
    search = pair_switching.Search(problem, EXACT.solve(problem), EXACT)
    assert search.descend(1.0, 1.0) == "converged"
    y, value = search.y.copy(), search.trainer.value()
    ups, downs = (np.flatnonzero(side * y[search.rows] > 0) for side in (1.0, -1.0))
    f = search.trainer.scores()[search.rows]
    worse = np.array([ups[f[ups].argmax()], downs[f[downs].argmin()]])  # the two that are most at home
    fell, reason = search.change(worse, 1e-3, 1.0, 1.0)
    assert not fell
    assert reason is None
    np.testing.assert_array_equal(search.y, y)
    assert search.trainer.value() == value
    np.testing.assert_array_equal(search.trainer.problem.signs, y)


# ------------------------------------------------------------------------------------------- the estimator


def gaussians(n=80, labels=12, seed=0):
    X, y = make_two_gaussians(n, n_features=6, shift=0.5, random_state=seed)
    return X, y, hide_labels(y, labels, random_state=seed)


@every_loss
@every_intercept
def test_the_machine_solves_the_problem_it_states(squared, intercept):
    X, _, partial = gaussians()
    loss = "squared_hinge" if squared else "hinge"
    machine = SwitchingTSVM(C=2.0, gamma=0.1, loss=loss, balance=0.4, fit_intercept=intercept, tol=1e-6)
    machine.fit(X, partial)
    hidden = partial == -1
    labels = np.where(machine.transduction_ == machine.classes_[1], 1.0, -1.0)
    assert (labels[hidden] > 0).sum() == round(0.4 * hidden.sum())
    np.testing.assert_array_equal(machine.transduction_[~hidden], partial[~hidden])
    template = partly(0, squared=squared)
    problem = Problem(Gram(Kernel("rbf", 0.1), X), labels, np.full(80, 2.0), *template[3:5], Free(), intercept)
    assert machine.objective_ == pytest.approx(machine_of(problem, labels), rel=1e-6)
    a = np.zeros(80)
    a[machine.support_] = machine.dual_coef_[0]
    f = kernel_of(problem) @ a + machine.intercept_[0]
    np.testing.assert_allclose(machine.decision_function(X), f, atol=1e-9)
    assert value_at(problem, a, machine.intercept_[0], labels) == pytest.approx(machine.objective_, rel=1e-9)
    np.testing.assert_array_equal(machine.predict(X), machine.classes_[(f > 0).astype(int)])
    assert machine.converged_
    assert set(machine.trace_[0]) == KEYS
    assert len(machine.objective_path_) == machine.n_iter_ == len(machine.trace_)


def test_the_share_may_be_off_by_its_tolerance():
    X, _, partial = gaussians()
    hidden = partial == -1
    share = [
        np.mean(SwitchingTSVM(C=1.0, balance=0.2, balance_tol=tol).fit(X, partial).transduction_[hidden] == 2)
        for tol in (0.0, 0.1, 1.0)
    ]
    assert share[0] == pytest.approx(0.2, abs=0.5 / hidden.sum() + 1e-9)
    assert share[0] <= share[1] <= 0.3 + 1e-9
    assert share[2] > 0.3


def test_the_supervised_machine_beside_it_is_the_svm_of_the_labeled_rows():
    X, _, partial = gaussians()
    known = partial != -1
    for loss in ("hinge", "squared_hinge"):
        machine = SwitchingTSVM(C=2.0, gamma=0.2, loss=loss, tol=1e-6).fit(X, partial)
        alone_ = SVM(2.0, gamma=0.2, loss=loss, tol=1e-6).fit(X[known], partial[known])
        ours = machine.supervised_.decision_function(X)
        np.testing.assert_allclose(ours, alone_.decision_function(X), atol=1e-5)
    theirs = SVC(C=2.0, gamma=0.2, tol=1e-8).fit(X[known], partial[known])
    machine = SwitchingTSVM(C=2.0, gamma=0.2, tol=1e-7).fit(X, partial)
    np.testing.assert_allclose(machine.supervised_.decision_function(X), theirs.decision_function(X), atol=1e-4)


def test_no_cost_of_unlabeled_rows_and_no_unlabeled_rows():
    X, y, partial = gaussians()
    known = partial != -1
    theirs = SVC(C=2.0, gamma=0.2, tol=1e-8).fit(X[known], partial[known]).decision_function(X)
    machine = SwitchingTSVM(C=2.0, C_unlabeled=0.0, gamma=0.2, tol=1e-7).fit(X, partial)
    np.testing.assert_allclose(machine.decision_function(X), theirs, atol=1e-4)
    theirs = SVC(C=2.0, gamma=0.2, tol=1e-8).fit(X, y).decision_function(X)
    machine = SwitchingTSVM(C=2.0, gamma=0.2, tol=1e-7, unlabeled=None).fit(X, y)
    np.testing.assert_allclose(machine.decision_function(X), theirs, atol=1e-4)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
def test_several_classes(multiclass, loss):
    X, y = load_iris(return_X_y=True)
    names = np.array(["setosa", "versicolor", "virginica"])
    partial = np.array(["?"] * len(y), dtype=object)
    known = hide_labels(y, 30, random_state=0) != -1
    partial[known] = names[y[known]]
    machine = SwitchingTSVM(C=5.0, loss=loss, multiclass=multiclass, unlabeled="?").fit(X[::2], partial[::2])
    assert list(machine.classes_) == list(names)
    assert len(machine.trace_) == 3
    assert machine.objective_.shape == (3,)
    assert np.mean(machine.predict(X[1::2]) == names[y[1::2]]) > 0.8
    assert np.mean(machine.transduction_ == names[y[::2]]) > 0.8
    np.testing.assert_array_equal(machine.transduction_[known[::2]], partial[::2][known[::2]])


def test_sparse_tables_are_as_dense_ones():
    X, _, partial = gaussians()
    X = np.where(np.abs(X) < 0.8, 0.0, X)
    for kernel in ("rbf", "linear"):
        dense = SwitchingTSVM(C=1.0, kernel=kernel, gamma=0.2, tol=1e-6).fit(X, partial)
        thin = SwitchingTSVM(C=1.0, kernel=kernel, gamma=0.2, tol=1e-6).fit(sparse.csr_array(X), partial)
        np.testing.assert_array_equal(dense.transduction_, thin.transduction_)
        np.testing.assert_allclose(dense.decision_function(X), thin.decision_function(sparse.csr_array(X)), atol=1e-4)
        assert dense.objective_ == pytest.approx(thin.objective_, rel=1e-6)


def test_a_precomputed_kernel_is_as_its_own():
    X, _, partial = gaussians()
    K = np.exp(-0.2 * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    own = SwitchingTSVM(C=1.0, gamma=0.2, tol=1e-6).fit(X, partial)
    given = SwitchingTSVM(C=1.0, kernel="precomputed", tol=1e-6).fit(K, partial)
    np.testing.assert_array_equal(own.transduction_, given.transduction_)
    np.testing.assert_allclose(own.decision_function(X[:5]), given.decision_function(K[:5]), atol=1e-4)


def test_weights_of_zero_leave_rows_out_and_equal_ones_change_nothing():
    X, _, partial = gaussians()
    plain = SwitchingTSVM(C=2.0, gamma=0.2, tol=1e-6).fit(X, partial)
    even = SwitchingTSVM(C=1.0, C_unlabeled=1.0, gamma=0.2, tol=1e-6).fit(X, partial, np.full(80, 2.0))
    np.testing.assert_array_equal(even.transduction_, plain.transduction_)
    assert even.objective_ == pytest.approx(plain.objective_, rel=1e-6)
    weight = np.where(np.arange(80) % 4 == 0, 0.0, 1.0)
    fewer = SwitchingTSVM(C=2.0, gamma=0.2, tol=1e-6).fit(X[weight > 0], partial[weight > 0])
    zeros = SwitchingTSVM(C=2.0, gamma=0.2, tol=1e-6).fit(X, partial, weight)
    np.testing.assert_array_equal(zeros.transduction_[weight > 0], fewer.transduction_)
    np.testing.assert_allclose(zeros.decision_function(X), fewer.decision_function(X), atol=1e-4)
    gone = (weight == 0) & (partial == -1)
    np.testing.assert_array_equal(zeros.transduction_[gone], zeros.predict(X[gone]))


def test_unequal_weights_keep_their_share():
    X, _, partial = gaussians()
    weight = np.random.default_rng(0).uniform(0.2, 2.0, 80)
    machine = SwitchingTSVM(C=1.0, balance=0.4, balance_tol=0.05).fit(X, partial, weight)
    hidden = partial == -1
    share = weight[hidden] @ (machine.transduction_[hidden] == 2) / weight[hidden].sum()
    assert abs(share - 0.4) <= 0.05 + 1e-9


@pytest.mark.parametrize(
    "bad, told",
    [
        ({"loss": "log"}, "loss='log'"),
        ({"tol": 0.0}, "tol=0.0"),
        ({"max_iter": 0}, "max_iter=0"),
        ({"max_time": -1.0}, "max_time=-1.0"),
        ({"C_unlabeled": -1.0}, "C_unlabeled=-1.0"),
        ({"balance": 1.5}, "balance=1.5"),
        ({"balance_tol": 2.0}, "balance_tol=2.0"),
        ({"fit_intercept": "maybe"}, "fit_intercept='maybe'"),
    ],
)
def test_bad_parameters_are_told_in_a_sentence(bad, told):
    X, _, partial = gaussians(30, 6)
    with pytest.raises(ValueError) as error:
        SwitchingTSVM(**bad).fit(X, partial)
    message = str(error.value)
    assert told in message
    assert "\n" not in message
    assert message.endswith(".")


def test_a_limit_is_told_and_the_model_is_usable():
    X, _, partial = gaussians()
    with pytest.warns(ConvergenceWarning, match="max_iter=3 reached"):
        machine = SwitchingTSVM(max_iter=3).fit(X, partial)
    assert not machine.converged_
    assert machine.n_iter_ == 3
    assert set(machine.predict(X)) <= set(machine.classes_)


def test_the_filled_problem_is_the_one_solved():
    """The machine of the final labels, found from nothing, is the one reported."""
    problem = wide(3)
    solution = EXACT.solve(problem)
    fresh = SMO(1e-8).solve(filled(problem, solution.labels))
    np.testing.assert_allclose(solution.scores, fresh.scores, atol=1e-5)
    assert solution.objective == pytest.approx(fresh.objective, rel=1e-8)
