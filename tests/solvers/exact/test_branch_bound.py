"""Branch and bound: the best of all labels, and a lower bound that is true whenever and however the search ends."""

from dataclasses import replace

import numpy as np
import pytest

from factories import FREE, INTERCEPTS, search_problem, take_samples, with_balance
from references import assert_gap_is_true, label_vectors, smallest_objective, svm_values
from semisvm.balance import Count, positive_band
from semisvm.solvers import base
from semisvm.solvers.dual import SMO, PairSwitching
from semisvm.solvers.exact import BranchBound, branch_bound
from semisvm.spaces import Gram, Kernel

BALANCES = [FREE, Count(0.5), Count(0.3), Count(0.4, 0.2)]


@pytest.fixture
def one_dive(monkeypatch):
    """One dive instead of 40: the first labels are worse, and the search has more to find."""
    monkeypatch.setattr(branch_bound, "MAX_DIVES", 1)


# ------------------------------------------------------------------------------------------- the optimum


@pytest.mark.usefixtures("one_dive")
@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_labels_are_the_best_of_all(intercept, balance, weighted):
    if weighted and isinstance(balance, Count):
        balance = balance._replace(slack=0.25)  # so that labels by rank keep the balance
    for seed in range(6):
        n_unlabeled = 1 + seed if seed < 3 else 5 + seed
        options = {"intercept": intercept, "weighted": weighted, "space": "features" if seed == 3 else "rbf"}
        problem = search_problem(seed, n_unlabeled, balance=balance, n_zero_weight=4 * (seed == 4), **options)
        smallest = smallest_objective(problem)
        if np.isfinite(smallest):
            solution = BranchBound().solve(problem, rng=seed)
            assert_gap_is_true(problem, solution, smallest, rel=1e-9)
            assert solution.status == "converged"
            assert solution.objective == pytest.approx(smallest, rel=1e-6)
            assert solution.certificate.gap <= 2e-6 * smallest


@pytest.mark.usefixtures("one_dive")
def test_labels_of_unequal_weight_stay_in_the_band_of_the_first_ones():
    """Where no labels have the share itself, the band is widened to the labels of pair switching."""
    for seed in range(4):
        problem = search_problem(seed, 8, balance=Count(0.5), weighted=True)
        searched, weights = problem.searched, problem.weights[problem.searched]
        first = PairSwitching(branch_bound.SWITCHING_TOL).solve(problem).labels[searched]
        low, high = positive_band(problem.balance, weights, first)
        Y = label_vectors(with_balance(problem, FREE))
        positive = (Y[:, searched] > 0) @ weights
        smallest = svm_values(problem, Y[(low <= positive) & (positive <= high)]).min()
        solution = BranchBound().solve(problem)
        assert solution.objective == pytest.approx(smallest, rel=1e-6)
        assert low <= weights @ (solution.labels[searched] > 0) <= high
        assert solution.certificate.lower_bound <= smallest


@pytest.mark.usefixtures("one_dive")
@pytest.mark.parametrize("kernel", [Kernel("linear"), Kernel("poly", 1.0, 1.0, 2)], ids=["linear", "poly"])
def test_labels_are_the_best_where_pivots_lose_digits(kernel):
    """Kernels of few dimensions and costs of 30 to 3000: bounds are wrong unless tableaus are rebuilt."""
    for seed in range(15):
        C = 3.0 * 10.0 ** (1 + seed % 3)
        problem = search_problem(
            seed, 7, balance=BALANCES[seed % 4], intercept=INTERCEPTS[seed % 3], C=C, C_unlabeled=C
        )
        problem = replace(problem, space=Gram(kernel, problem.space.X))
        smallest, solution = smallest_objective(problem), BranchBound().solve(problem)
        assert solution.objective == pytest.approx(smallest, rel=1e-6)
        assert solution.certificate.lower_bound <= smallest * (1.0 + 1e-8)
        assert solution.certificate.gap <= 3e-6 * smallest


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_costs_that_are_lost_beside_kernel_values_are_refused(intercept):
    """Samples are equal, pivots on powers of two exact: the first leaves others 1/(2c) alone, which is not there."""
    problem = search_problem(0, 4, intercept=intercept)
    problem = replace(problem, space=Gram(Kernel("linear"), np.full((len(problem.signs), 1), 2.0**46)))
    with pytest.raises(ValueError, match="too large for branch and bound"):
        BranchBound().solve(problem)


@pytest.mark.usefixtures("one_dive")
def test_most_labels_are_pruned():
    """A quarter of the nodes of a full tree is enough where classes overlap, few are where they are clusters."""
    for seed in range(6):
        solution = BranchBound(max_iter=2**9).solve(
            search_problem(seed, 11, balance=BALANCES[seed % 4], separation=0.4)
        )
        assert solution.status == "converged"
        assert solution.trace[-1]["pivots"] > 0
    assert BranchBound(max_iter=200).solve(search_problem(0, 40, separation=3.0)).status == "converged"


@pytest.mark.usefixtures("one_dive")
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_order_of_samples_and_names_of_classes_do_not_matter(intercept):
    for seed in range(3):
        problem = search_problem(seed, balance=Count(1 / 3), intercept=intercept)
        order = np.random.default_rng(seed).permutation(len(problem.signs))
        first, shuffled = BranchBound().solve(problem), BranchBound().solve(take_samples(problem, order))
        swapped = BranchBound().solve(replace(problem, signs=-problem.signs, balance=Count(2 / 3)))
        assert shuffled.objective == pytest.approx(first.objective, rel=1e-7)
        assert swapped.objective == pytest.approx(first.objective, rel=1e-7)
        np.testing.assert_array_equal(shuffled.labels, first.labels[order])
        np.testing.assert_array_equal(swapped.labels, -first.labels)


def test_without_labels_to_search_it_is_the_supervised_svm():
    problem = search_problem(0, 8, balance=Count(0.4))
    supervised = SMO(1e-8).solve(problem.labeled_only())
    without_cost = replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0))
    for stated in (without_cost, take_samples(problem, np.flatnonzero(problem.is_labeled)), problem.labeled_only()):
        solution = BranchBound().solve(stated)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(supervised.objective, rel=1e-6)
        assert solution.certificate.kind == "gap"
        assert 0.0 <= solution.certificate.gap <= 1e-5 * solution.objective
        assert solution.certificate.lower_bound <= supervised.objective * (1.0 + 1e-9)


# ------------------------------------------------------------------------------------------- limits


@pytest.mark.usefixtures("one_dive")
@pytest.mark.parametrize("max_iter", [1, 3, 10])
def test_gap_is_true_where_nodes_run_out(max_iter):
    n_ended = 0
    for seed in range(12):
        problem = search_problem(seed, 8, balance=BALANCES[seed % 4], intercept=INTERCEPTS[seed % 3])
        solution = BranchBound(max_iter=max_iter).solve(problem)
        assert_gap_is_true(problem, solution, smallest_objective(problem), rel=1e-9)
        assert solution.objective == pytest.approx(svm_values(problem, solution.labels[None])[0], rel=1e-6)
        n_ended += solution.status == "max_iter"
        if solution.status == "max_iter":
            assert solution.details["nodes"] == max_iter
            assert solution.certificate.gap > 0.0
            assert solution.certificate.lower_bound > 0.0
        else:
            assert solution.certificate.gap <= 2e-6 * solution.objective
    assert n_ended >= 6


@pytest.mark.usefixtures("one_dive")
def test_bound_increases_and_objective_decreases(monkeypatch):
    monkeypatch.setattr(branch_bound, "FIRST_CHUNK", 1)
    n_increased = 0
    for seed in range(6):
        problem = search_problem(seed, 9, balance=BALANCES[seed % 4], intercept=INTERCEPTS[seed % 3])
        smallest, rows = smallest_objective(problem), []
        solution = BranchBound().solve(problem, callback=rows.append)
        assert rows == solution.trace
        assert set(rows[0]) == {"step", "objective", "bound", "nodes", "pivots"}
        columns = {name: np.array([row[name] for row in rows]) for name in rows[0]}
        np.testing.assert_array_equal(columns["step"], np.arange(len(rows)))
        assert (np.diff(columns["objective"]) <= 0.0).all()
        assert (np.diff(columns["bound"]) >= 0.0).all()
        assert columns["bound"][-1] <= smallest <= columns["objective"][-1] * (1.0 + 1e-7)
        n_increased += len(set(columns["bound"])) > 3
    assert n_increased >= 3


@pytest.mark.usefixtures("one_dive")
def test_gap_is_at_most_the_tolerance():
    problem = search_problem(2)
    smallest = smallest_objective(problem)
    for tol in (0.3, 1e-2, 1e-8):
        solution = BranchBound(tol).solve(problem)
        assert solution.status == "converged"
        assert_gap_is_true(problem, solution, smallest, rel=1e-9)
        assert solution.certificate.gap <= 1.01 * tol * solution.objective + 1e-7 * smallest


@pytest.mark.parametrize("max_time", [1e-9, 1e-3, 0.02])
def test_gap_is_true_where_time_runs_out(max_time):
    problem = search_problem(3, balance=Count(0.4))
    solution = BranchBound(max_time=max_time).solve(problem)
    assert_gap_is_true(problem, solution, smallest_objective(problem))
    assert solution.status == "max_time" or max_time > 1e-9


@pytest.mark.usefixtures("one_dive")
def test_time_may_end_inside_the_search(monkeypatch):
    """Each chunk of nodes takes a second of this clock."""
    problem, clock, explore = search_problem(3, balance=Count(0.4)), [0.0], branch_bound.explore

    def slow_explore(*args):
        clock[0] += 1.0
        return explore(*args)

    monkeypatch.setattr(branch_bound, "FIRST_CHUNK", 2)
    monkeypatch.setattr(branch_bound, "explore", slow_explore)
    monkeypatch.setattr(base.time, "perf_counter", lambda: clock[0])
    solution = BranchBound(max_time=1.5).solve(problem)
    assert solution.status == "max_time"
    assert solution.details["nodes"] >= 2
    assert_gap_is_true(problem, solution, smallest_objective(problem))


@pytest.mark.usefixtures("one_dive")
@pytest.mark.parametrize("step", [0, 1, 2])
def test_callback_ends_the_search(step, monkeypatch):
    monkeypatch.setattr(branch_bound, "FIRST_CHUNK", 1)
    problem = search_problem(3, balance=Count(0.4))
    solution = BranchBound().solve(problem, callback=lambda row: row["step"] == step)
    assert solution.status == "stopped"
    assert len(solution.trace) == step + 1
    assert_gap_is_true(problem, solution, smallest_objective(problem))


@pytest.mark.parametrize(
    "function, call", [("explore", 1), ("explore", 2), ("explore", 4), ("dive", 1), ("dive", 2), ("dive", 9)]
)
def test_interrupt_keeps_the_best_labels_so_far(function, call, monkeypatch, interrupt_at):
    monkeypatch.setattr(branch_bound, "FIRST_CHUNK", 1)
    for seed in range(3):
        problem = search_problem(seed, 10, balance=Count(0.4))
        interrupt_at(branch_bound, function, call)
        solution = BranchBound().solve(problem, rng=seed)
        assert solution.status == "interrupted"
        assert solution.trace
        assert_gap_is_true(problem, solution, smallest_objective(problem))
        assert solution.objective <= PairSwitching(branch_bound.SWITCHING_TOL).solve(problem).objective * (1.0 + 1e-6)


def test_interrupt_of_pair_switching_after_a_dive_ends_the_search(monkeypatch):
    problem, switch, solutions = search_problem(0, 10, balance=Count(0.4)), PairSwitching.solve, []

    def interrupted_after_the_first(solver, *args, **kwargs):
        solutions.append(switch(solver, *args, **kwargs))
        return replace(solutions[-1], status="interrupted") if len(solutions) == 2 else solutions[-1]

    monkeypatch.setattr(PairSwitching, "solve", interrupted_after_the_first)
    solution = BranchBound().solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert len(solutions) == 2
    assert_gap_is_true(problem, solution, smallest_objective(problem))


def test_search_beyond_the_memory_limit_is_refused(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "100")
    with pytest.raises(MemoryError, match=r"^branch and bound over \d+ samples.* KiB and the limit is 100 bytes\."):
        BranchBound().solve(search_problem(3))


def test_without_time_the_labels_of_pair_switching_have_the_bound_of_the_labeled_samples(monkeypatch):
    monkeypatch.setattr(base.StoppingRule, "has_time_for", lambda *_: False)
    for intercept in INTERCEPTS:
        problem = search_problem(3, balance=Count(0.4), intercept=intercept)
        solution = BranchBound().solve(problem)
        assert solution.status == "max_time"
        assert_gap_is_true(problem, solution, smallest_objective(problem))
        switched = PairSwitching(branch_bound.SWITCHING_TOL).solve(problem)
        assert solution.objective == pytest.approx(switched.objective, rel=1e-6)
        bound = SMO(1e-8).solve(problem.labeled_only()).objective
        assert solution.certificate.lower_bound == pytest.approx(bound, rel=1e-4)


def test_search_starts_from_pair_switching_of_the_given_labels(monkeypatch):
    problem, switch, starts = search_problem(1, balance=Count(0.4)), PairSwitching.solve, []
    best = BranchBound().solve(problem)

    def recorded(solver, problem, start=None, callback=None, rng=None):
        starts.append(start)
        return switch(solver, problem, start, callback, rng)

    monkeypatch.setattr(branch_bound, "MAX_DIVES", 0)
    monkeypatch.setattr(PairSwitching, "solve", recorded)
    Y = label_vectors(problem)
    worst = replace(best, labels=Y[svm_values(problem, Y).argmax()])
    for start in (best, worst):
        starts.clear()
        solution = BranchBound().solve(problem, start=start)
        assert starts[0] is start
        assert solution.objective == pytest.approx(best.objective, rel=1e-6)
        if start is best:
            assert solution.trace[0]["objective"] == pytest.approx(best.objective, rel=1e-6)


@pytest.mark.parametrize("name", ["kernel_block", "new_tree"])
def test_interrupt_before_the_search_keeps_labels_and_a_true_bound(name, interrupt_at):
    interrupt_at(branch_bound, name, 1)
    problem = search_problem(3, balance=Count(0.4))
    solution = BranchBound().solve(problem)
    assert solution.status == "interrupted"
    assert_gap_is_true(problem, solution, smallest_objective(problem))
    assert solution.certificate.lower_bound > 0.0


def test_bound_without_a_search_ends_with_the_time(clock, monkeypatch):
    problem, given, supervised = search_problem(3, balance=Count(0.4)), [], branch_bound.solve_supervised

    def switch_slowly(solver, *args, **kwargs):
        clock.now += 0.5 * solver.max_time
        return replace(supervised(problem, 1e-3, None), status="max_time")

    def record(problem, tol, max_time, callback=None):
        given.append(max_time)
        return supervised(problem, tol, max_time, callback)

    monkeypatch.setattr(PairSwitching, "solve", switch_slowly)
    monkeypatch.setattr(branch_bound, "solve_supervised", record)
    assert BranchBound(max_time=10.0).solve(problem).status == "max_time"
    assert given == [5.0]


@pytest.mark.usefixtures("one_dive")
def test_neither_search_nor_dive_begins_that_takes_longer_than_the_time_left(clock, monkeypatch):
    problem, dives, dive = search_problem(3, balance=Count(0.4)), [], branch_bound.dive
    monkeypatch.setattr(branch_bound, "dive", lambda *args: dives.append(dive(*args)))
    n_labeled, order = len(problem.labeled_samples), branch_bound._order(problem)
    for work, n_dives, searched in ((n_labeled * order**2 - 1, 0, False), (order**3 - 1, 0, True), (1e9, 1, True)):
        monkeypatch.setattr(base, "SPEED", work / 10.0)
        solution = BranchBound(max_time=10.0).solve(problem)
        assert ("nodes" in solution.details) == searched
        assert solution.status == ("converged" if searched else "max_time")
        assert len(dives) == n_dives
        assert_gap_is_true(problem, solution, smallest_objective(problem))


@pytest.mark.usefixtures("one_dive")
def test_interrupt_of_the_final_svm_is_reported(monkeypatch):
    class Interrupted(branch_bound.Trainer):
        def train(self, *args, **kwargs):
            self.stop.end("interrupted")
            return super().train(*args, **kwargs)

    problem = search_problem(3, balance=Count(0.4))
    assert BranchBound().solve(problem).status == "converged"
    monkeypatch.setattr(branch_bound, "Trainer", Interrupted)
    solution = BranchBound().solve(problem)
    assert solution.status == "interrupted"
    assert_gap_is_true(problem, solution, smallest_objective(problem))
