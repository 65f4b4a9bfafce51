"""The semidefinite relaxation: its bound against an interior-point method and all labels, its labels, its limits."""

from dataclasses import replace

import numpy as np
import pytest

from factories import FREE, hinge_search_problem, take_samples
from references import assert_gap_is_true, keeps_balance, relaxation_optimum, smallest_objective
from semisvm.balance import Count
from semisvm.solvers import base
from semisvm.solvers.dual import SMO, PairSwitching
from semisvm.solvers.exact import LowRankRelaxation, mixing, relaxation

BALANCES = [FREE, Count(0.5), Count(0.9), Count(0.3, 0.15)]
INTERCEPTS = ["regularized", False]


# ------------------------------------------------------------------------------------------- the bound


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize(
    "balance, n_labeled, separation, seeds",
    [
        (FREE, 6, 0.4, (0, 1)),
        (FREE, 4, 0.1, (0, 1)),
        (Count(0.5), 6, 0.4, (0,)),  # does not bind
        (Count(0.9), 6, 0.4, (0, 1)),  # binds
    ],
    ids=str,
)
def test_bound_is_the_optimum_of_the_relaxation(intercept, balance, n_labeled, separation, seeds):
    for seed in seeds:
        problem = hinge_search_problem(seed, 10, balance, intercept, separation=separation, n_labeled=n_labeled)
        optimum, solution = relaxation_optimum(problem), LowRankRelaxation(tol=1e-4).solve(problem, rng=seed)
        assert solution.status == "converged"
        assert solution.certificate.lower_bound <= optimum + 1e-6 * max(optimum, 1.0)
        assert solution.certificate.lower_bound == pytest.approx(optimum, rel=1e-3)


@pytest.mark.parametrize("balance", [Count(0.5, 0.15), Count(0.2, 0.1), Count(0.8, 0.15)], ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_bound_is_not_above_the_optimum_where_a_balance_of_some_slack_binds_a_little(balance, weighted):
    for seed in (1, 3):
        problem = hinge_search_problem(seed, 9, balance, weighted=weighted, n_labeled=6)
        optimum, solution = relaxation_optimum(problem), LowRankRelaxation(tol=1e-4).solve(problem, rng=seed)
        assert 0.9 * optimum <= solution.certificate.lower_bound <= optimum + 1e-6 * max(optimum, 1.0)


def test_balance_that_binds_increases_the_bound():
    n_increased = 0
    for seed in range(6):
        free, bound = (LowRankRelaxation().solve(hinge_search_problem(seed, 9, b), rng=0) for b in (FREE, Count(0.9)))
        assert bound.certificate.lower_bound >= free.certificate.lower_bound * (1.0 - 2e-3)
        n_increased += bound.certificate.lower_bound > 1.05 * free.certificate.lower_bound
        assert {row.get("balance_dual", 0.0) for row in free.trace} == {0.0}
    assert n_increased


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("balance", BALANCES, ids=str)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_bound_is_below_all_labels_and_above_the_supervised_optimum(intercept, balance, weighted):
    if weighted and isinstance(balance, Count):
        balance = Count(min(balance.r, 0.7), 0.3)  # so that labels by rank keep the balance
    found, smallest = [], []
    for seed in range(3):
        options = {"weighted": weighted, "space": "features" if seed == 0 else "rbf", "n_zero_weight": 4 * (seed == 2)}
        problem = hinge_search_problem(seed, 5 + 2 * seed, balance, intercept, **options)
        solution = LowRankRelaxation().solve(problem, rng=seed)
        smallest.append(smallest_objective(problem))
        found.append(solution.objective)
        assert_gap_is_true(problem, solution, smallest[-1])
        supervised = SMO(1e-6).solve(problem.labeled_only()).objective
        assert solution.certificate.lower_bound >= supervised * (1.0 - 1e-4)
    assert weighted or sum(found) <= 1.3 * sum(smallest)  # rounded and switched labels are not far from the best


# ------------------------------------------------------------------------------------------- labels


def test_labels_of_hyperplanes_and_of_a_start_are_improved_by_pair_switching(monkeypatch):
    problem, switch, starts = hinge_search_problem(2, 9, Count(4 / 9)), PairSwitching.solve, []
    first = PairSwitching(1e-4).solve(problem)

    def recorded(solver, problem, start=None, callback=None, rng=None):
        starts.append(start.labels.copy())
        return switch(solver, problem, start, callback, rng)

    monkeypatch.setattr(PairSwitching, "solve", recorded)
    LowRankRelaxation().solve(problem)
    assert len(starts) == 2 + relaxation.N_HYPERPLANES
    assert keeps_balance(problem, np.array(starts)).all()
    starts.clear()
    solution = LowRankRelaxation().solve(problem, start=first)
    assert len(starts) == 3 + relaxation.N_HYPERPLANES
    np.testing.assert_array_equal(starts[1], first.labels)
    assert solution.objective <= first.objective * (1.0 + 1e-6)


@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_order_of_samples_and_names_of_classes_do_not_matter(intercept):
    for seed in range(3):
        problem = hinge_search_problem(seed, 9, Count(1 / 3), intercept)
        first = LowRankRelaxation().solve(problem, rng=0)
        shuffled = take_samples(problem, np.random.default_rng(seed).permutation(13))
        for other in (shuffled, replace(problem, signs=-problem.signs, balance=Count(2 / 3))):
            solution = LowRankRelaxation().solve(other, rng=0)
            assert solution.objective == pytest.approx(first.objective, rel=1e-5)
            assert solution.certificate.lower_bound == pytest.approx(first.certificate.lower_bound, rel=2e-3)


def test_without_labels_to_search_it_is_the_supervised_svm():
    problem = hinge_search_problem(0, 8, Count(0.5))
    supervised = SMO(1e-8).solve(problem.labeled_only())
    without_cost = replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0))
    for stated in (without_cost, take_samples(problem, np.flatnonzero(problem.is_labeled)), problem.labeled_only()):
        solution = LowRankRelaxation().solve(stated)
        assert solution.objective == pytest.approx(supervised.objective, rel=1e-5)
        assert solution.certificate.kind == "gap"
        assert 0.0 <= solution.certificate.gap <= 1e-5 * solution.objective


# ------------------------------------------------------------------------------------------- limits


def test_trace_has_value_and_bound_of_every_check():
    problem, rows = hinge_search_problem(0, 9, Count(0.9)), []
    solution = LowRankRelaxation().solve(problem, callback=lambda row: rows.append(row) if "bound" in row else None)
    assert [row["step"] for row in solution.trace] == list(range(len(solution.trace)))
    assert rows == solution.trace[:-1]
    assert set(rows[0]) == {"step", "objective", "bound", "sweeps", "balance_dual"}
    assert solution.trace[-1]["objective"] == solution.objective
    bounds = np.array([row["bound"] for row in solution.trace])
    assert (bounds <= smallest_objective(problem) * (1.0 + 1e-6)).all()
    assert solution.certificate.lower_bound == pytest.approx(bounds.max())


@pytest.mark.parametrize("max_iter", [1, 2, 15])
def test_gap_is_true_after_few_sweeps(max_iter):
    for seed, balance in enumerate(BALANCES):
        problem = hinge_search_problem(seed, 8, balance)
        solution = LowRankRelaxation(tol=1e-9, max_iter=max_iter).solve(problem, rng=0)
        assert solution.status == "max_iter"
        assert solution.trace[-2]["sweeps"] == max_iter
        assert_gap_is_true(problem, solution, smallest_objective(problem))


def test_gap_is_true_where_time_runs_out():
    problem = hinge_search_problem(0, 8, Count(0.5))
    solution = LowRankRelaxation(max_time=1e-9).solve(problem, rng=0)
    assert solution.status == "max_time"
    assert_gap_is_true(problem, solution, smallest_objective(problem))


def test_callback_ends_the_sweeps_and_the_search_for_the_dual_variable():
    problem = hinge_search_problem(0, 10, Count(0.9), False, separation=0.4, n_labeled=6)
    at_once = LowRankRelaxation(tol=1e-12).solve(problem, callback=lambda row: "bound" in row)
    assert at_once.status == "stopped"
    assert len(at_once.trace) == 2
    later = LowRankRelaxation().solve(problem, callback=lambda row: row.get("balance_dual", 0.0) != 0.0, rng=0)
    assert later.status == "stopped"
    assert [row.get("balance_dual", 0.0) != 0.0 for row in later.trace].count(True) == 1
    for solution in (at_once, later):
        assert_gap_is_true(problem, solution, smallest_objective(problem))


@pytest.mark.parametrize("call, balance", [(1, FREE), (5, FREE), (60, Count(0.9))])
def test_interrupt_of_the_sweeps_keeps_labels_and_a_true_bound(call, balance, interrupt_at):
    interrupt_at(mixing, "sweep", call)
    problem = hinge_search_problem(1, 8, balance)
    solution = LowRankRelaxation(tol=1e-12).solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert_gap_is_true(problem, solution, smallest_objective(problem))
    assert solution.certificate.lower_bound <= relaxation_optimum(problem) * (1.0 + 1e-6)


def test_interrupt_of_pair_switching_ends_the_rounding(monkeypatch):
    problem, switch, solutions = hinge_search_problem(1, 8, Count(0.5)), PairSwitching.solve, []

    def interrupted(solver, *args, **kwargs):
        solutions.append(replace(switch(solver, *args, **kwargs), status="interrupted"))
        return solutions[-1]

    monkeypatch.setattr(PairSwitching, "solve", interrupted)
    solution = LowRankRelaxation().solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert len(solutions) == 1
    assert_gap_is_true(problem, solution, smallest_objective(problem))


def test_a_free_intercept_is_refused():
    assert LowRankRelaxation.accepts.unsupported(hinge_search_problem(0, intercept=True)) == "fit_intercept=True"
    assert LowRankRelaxation.accepts.unsupported(hinge_search_problem(0)) is None


def test_too_many_samples_are_refused(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    with pytest.raises(MemoryError, match=r"12 samples .*SEMISVM_MEMORY"):
        LowRankRelaxation().solve(hinge_search_problem(0))


@pytest.mark.parametrize("number", [1, 2, 4])
def test_early_end_of_the_rounding_is_reported(number, clock, monkeypatch):
    """The pair switching of this number takes all the time that is left; the sweeps have converged."""
    problem, switch, n_calls = hinge_search_problem(1, 8, FREE), PairSwitching.solve, []

    def slow_solve(solver, *args, **kwargs):
        n_calls.append(solver.max_time)
        clock.now += 101.0 if len(n_calls) == number else 0.0
        return switch(solver, *args, **kwargs)

    monkeypatch.setattr(PairSwitching, "solve", slow_solve)
    solution = LowRankRelaxation(max_time=100.0).solve(problem, rng=0)
    assert solution.status == "max_time"
    assert len(n_calls) == number
    assert_gap_is_true(problem, solution, smallest_objective(problem))


def test_interrupt_before_the_first_sweep_keeps_the_supervised_labels_and_bound(interrupt_at):
    interrupt_at(mixing, "kernel_block", 1)
    problem = hinge_search_problem(1, 8, Count(0.5))
    solution = LowRankRelaxation().solve(problem, PairSwitching().solve(problem), rng=0)
    assert solution.status == "interrupted"
    assert_gap_is_true(problem, solution, smallest_objective(problem))
    bound = SMO(1e-8).solve(problem.labeled_only()).objective
    assert solution.certificate.lower_bound == pytest.approx(bound, rel=1e-4)


def test_no_eigenvalue_is_computed_that_takes_longer_than_the_time_left(clock, monkeypatch):
    problem = hinge_search_problem(1, 8, FREE)
    monkeypatch.setattr(base, "SPEED", 1.0)
    monkeypatch.setattr(mixing.Relaxation, "bound", lambda relaxed: pytest.fail("too long"))
    solution = LowRankRelaxation(max_time=100.0).solve(problem, rng=0)
    assert solution.status == "max_time"
    assert_gap_is_true(problem, solution, smallest_objective(problem))


@pytest.mark.parametrize("seed, n_unlabeled", [(3, 38), (10, 23)])
def test_other_orders_of_samples_give_the_same_labels(seed, n_unlabeled):
    problem = hinge_search_problem(seed, n_unlabeled, n_labeled=3, separation=0.3, gamma=1.0)
    order = np.random.default_rng(seed).permutation(len(problem.signs))
    one, other = (LowRankRelaxation().solve(p, rng=0) for p in (problem, take_samples(problem, order)))
    np.testing.assert_array_equal(one.labels[order], other.labels)


def test_hyperplanes_do_not_depend_on_a_rotation_around_the_labeled_samples():
    rng = np.random.default_rng(0)
    for shape in ((30, 6), (4, 6)):
        V = rng.standard_normal(shape) * [1.0, 3.0, 2.0, 1.0, 0.5, 0.1]
        Q = np.eye(6)
        Q[1:, 1:] = np.linalg.qr(rng.standard_normal((5, 5)))[0]
        one, other = relaxation._principal_coordinates(V), relaxation._principal_coordinates(V @ Q)
        np.testing.assert_allclose(one, other, atol=1e-12)
        np.testing.assert_allclose(one @ one.T, V @ V.T, atol=1e-12)
        np.testing.assert_array_equal(one[:, 0], V[:, 0])
