"""The mixed integer program: against all labels by an independent solver, its bound, its symmetries, its limits."""

import importlib.util
import sys
import threading
from dataclasses import replace

import numpy as np
import pytest

from factories import FREE, INTERCEPTS, dense_samples, random_problem, slow_unless, take_samples, with_balance
from references import assert_gap_is_true, linear_svm, numpy_objective, smallest_objective
from semisvm.balance import Count
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.exact import MixedInteger, highs, mixed_integer
from semisvm.solvers.exact.mixed_integer import _IntegerSearch

NO_SCIP = pytest.mark.skipif(importlib.util.find_spec("pyscipopt") is None, reason="norm 2 needs the package pyscipopt")
every_norm = pytest.mark.parametrize("norm", [1, pytest.param(2, marks=NO_SCIP)])
EXACT = MixedInteger(tol=1e-9)


def program_problem(seed, n_unlabeled=9, balance=Count(0.4), norm=1, C=10.0, **options):  # noqa: B008
    """A problem on features that the heuristic does not always solve."""
    defaults = {"space": "features", "n_features": 3, "separation": 0.4, "zero_below": 0.1, "C_unlabeled": 0.7 * C}
    return random_problem(seed, n_unlabeled, balance=balance, norm=norm, C=C, **(defaults | options))


def assert_consistent(problem, solution):
    """Claims of any solution that need no other: objective, scores, trace and certificate."""
    assert solution.objective == pytest.approx(numpy_objective(problem, solution), rel=1e-12)
    np.testing.assert_allclose(solution.scores, dense_samples(problem) @ solution.coef + solution.intercept, atol=1e-9)
    path = [row["objective"] for row in solution.trace]
    assert path[-1] == solution.objective
    assert (np.diff(path) <= 1e-9 * path[0]).all()
    assert_gap_is_true(problem, solution, solution.objective)


# ------------------------------------------------------------------------------------------- the optimum


CONDITIONS = [(FREE, False), (Count(0.5), False), (Count(0.3, 0.1), False), (FREE, True), (Count(0.5, 0.2), True)]


@every_norm
@pytest.mark.parametrize(
    "intercept, balance, weighted",
    slow_unless(
        lambda intercept, balance, weighted: intercept is True or balance == Count(0.3, 0.1), INTERCEPTS, CONDITIONS
    ),
    ids=str,
)
def test_labels_are_the_best_of_all(norm, intercept, balance, weighted):
    options = {"intercept": intercept, "weighted": weighted, "space": "csr" if weighted else "features"}
    problem = program_problem(int(weighted), 6, balance, norm, C=3.0, **options)
    solution, smallest = EXACT.solve(problem), smallest_objective(problem)
    assert_consistent(problem, solution)
    assert_gap_is_true(problem, solution, smallest, rel=1e-8)
    assert solution.status == "converged"
    assert solution.details["big_m_slack"] > 0.0
    assert solution.objective == pytest.approx(smallest, rel=1e-6)
    assert solution.certificate.gap <= 1e-4 * smallest


@every_norm
def test_search_improves_on_the_heuristic(norm):
    problem = program_problem(7, 7, norm=norm)
    solution = EXACT.solve(problem)
    assert solution.objective < 0.9 * solution.trace[0]["objective"]
    assert solution.objective == pytest.approx(smallest_objective(problem), rel=1e-6)
    assert solution.certificate.lower_bound > solution.trace[0]["bound"]


def test_no_share_that_weights_attain_gives_labels_by_rank():
    """Weights that add up to no share within the slack: the nearest labels by rank widen the band."""
    for seed in range(3):
        problem = program_problem(seed, 3, Count(0.5, 0.001), weighted=True)
        assert smallest_objective(problem) == np.inf
        solution = EXACT.solve(problem)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(numpy_objective(problem, solution), rel=1e-12)
        assert solution.certificate.gap <= 1e-4 * solution.objective


@every_norm
def test_unlabeled_samples_of_cost_zero_get_labels_by_rank(norm):
    problem = program_problem(1, 8, Count(0.25), norm, C=1.0)
    without_cost = replace(problem, cost=np.where(problem.is_labeled, problem.cost, 0.0))
    solution, unlabeled = EXACT.solve(without_cost), ~problem.is_labeled
    w, b, value = linear_svm(dense_samples(problem), problem.signs, problem.cost, norm=norm)
    assert solution.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(solution.scores, dense_samples(problem) @ w + b, atol=1e-5)
    f = solution.scores[unlabeled]
    np.testing.assert_array_equal(solution.labels[unlabeled] > 0, f >= np.sort(f)[-2])
    free = EXACT.solve(with_balance(without_cost, FREE))
    np.testing.assert_array_equal(free.labels[unlabeled] > 0, free.scores[unlabeled] > 0)
    supervised = EXACT.solve(problem.labeled_only())
    np.testing.assert_array_equal(supervised.coef, free.coef)
    assert supervised.status == "converged"
    assert supervised.certificate.gap == pytest.approx(0.0, abs=1e-6)


def test_samples_of_weight_zero_are_left_out():
    problem = program_problem(1, 7, Count(0.5), n_zero_weight=4)  # 3 or 4 of 7 samples are positive
    assert EXACT.solve(problem).objective == pytest.approx(smallest_objective(problem), rel=1e-6)


@every_norm
def test_order_of_samples_and_names_of_classes_leave_the_program_unchanged(norm):
    """So that a search that ends at a limit ends at the same labels."""
    problem = program_problem(5, 12, Count(0.4, 0.1), norm, C=5.0)
    order = np.random.default_rng(0).permutation(16)
    shuffled = take_samples(problem, order)
    swapped = replace(problem, signs=-problem.signs, balance=Count(0.6, 0.1))
    programs = []
    for stated in (problem, shuffled, swapped):
        search = _IntegerSearch(stated, StoppingRule())
        search.run_heuristic(None)
        programs.append(search.build_program())
    for other in programs[1:]:
        for name in ("Z", "signs", "cost", "weights", "low", "high", "upper", "lowest_f", "highest_f"):
            np.testing.assert_allclose(getattr(other, name), getattr(programs[0], name), atol=1e-9, rtol=1e-9)
    first = MixedInteger(max_iter=1).solve(problem)
    np.testing.assert_array_equal(MixedInteger(max_iter=1).solve(shuffled).labels, first.labels[order])
    np.testing.assert_array_equal(MixedInteger(max_iter=1).solve(swapped).labels, -first.labels)


# ------------------------------------------------------------------------------------------- limits


@every_norm
def test_limits_return_the_incumbent_with_a_true_gap(norm):
    problem = program_problem(2, 25, norm=norm)
    at_once = MixedInteger(max_time=1e-9).solve(problem)
    soon = MixedInteger(max_time=0.3).solve(problem)
    one_node = MixedInteger(max_iter=1).solve(problem)
    solutions = (at_once, soon, one_node)
    for solution in solutions:
        assert_consistent(problem, solution)
    assert (at_once.status, one_node.status) == ("max_time", "max_iter")
    assert soon.status in ("max_time", "converged")
    assert one_node.certificate.gap > 0.0
    # an objective found by one of them is above what the others have proved
    assert max(s.certificate.lower_bound for s in solutions) <= min(s.objective for s in solutions)


@every_norm
def test_worse_labels_of_the_integer_solver_do_not_replace_the_incumbent(norm, monkeypatch):
    problem = program_problem(3, 6, Count(0.5), norm)
    best = EXACT.solve(problem)
    name = "solve_with_highs" if norm == 1 else "solve_with_scip"
    solve_program, has_labels = getattr(mixed_integer, name), [False]

    def poor(program, *rest):
        result = solve_program(program, *rest)
        return result._replace(labels=-result.labels if has_labels[0] else None)

    monkeypatch.setattr(mixed_integer, name, poor)
    for has_labels[0] in (False, True):
        solution = EXACT.solve(problem)
        assert_consistent(problem, solution)
        assert best.objective <= solution.objective <= solution.trace[0]["objective"]
    again = EXACT.solve(problem, start=best)
    assert again.trace[0]["objective"] == pytest.approx(best.objective, rel=1e-9)


@every_norm
def test_callback_sees_the_search_and_ends_it(norm):
    problem, rows = program_problem(2, norm=norm), []
    solution = EXACT.solve(problem, callback=rows.append)
    assert rows == solution.trace
    assert len(rows) >= 2
    for step, row in enumerate(rows):
        assert row["step"] == step
        assert set(row) == {"step", "objective", "bound", "nodes"}
        assert row["bound"] <= solution.objective * (1.0 + 1e-9)
    supervised = linear_svm(dense_samples(problem), problem.signs, problem.cost, norm=norm)[2]
    assert rows[0]["bound"] == pytest.approx(supervised, rel=1e-6)
    stopped = EXACT.solve(problem, callback=lambda row: True)
    assert_consistent(problem, stopped)
    assert stopped.status == "stopped"
    assert stopped.certificate.lower_bound == pytest.approx(rows[0]["bound"], rel=1e-12)


@NO_SCIP
def test_callback_ends_scip_at_a_better_point():
    problem = program_problem(2, norm=2)
    solution = EXACT.solve(problem, callback=lambda row: row["step"] == 1)
    assert solution.status == "stopped"
    assert_consistent(problem, solution)


@NO_SCIP
@pytest.mark.parametrize("error", [KeyboardInterrupt, ZeroDivisionError])
def test_errors_inside_scip_are_not_lost(error):
    """SCIP drops exceptions of its event handlers; Ctrl-C ends the search, others are raised."""
    problem = program_problem(2, norm=2)

    def callback(row):
        if row["step"] == 1:
            raise error

    if error is KeyboardInterrupt:
        solution = EXACT.solve(problem, callback=callback)
        assert solution.status == "interrupted"
        assert_consistent(problem, solution)
    else:
        with pytest.raises(error):
            EXACT.solve(problem, callback=callback)


@pytest.mark.parametrize(
    "module, name, call",
    [(mixed_integer, "solve_lp", 1), (mixed_integer, "solve_lp", 4), (highs, "run_interruptible", 1)],
    ids=["first program", "heuristic", "search"],
)
def test_interrupt_keeps_the_incumbent(module, name, call, interrupt_at):
    problem = program_problem(2)
    interrupt_at(module, name, call)
    solution = EXACT.solve(problem)
    assert solution.status == "interrupted"
    assert_consistent(problem, solution)
    if module is highs:
        assert solution.objective == solution.trace[0]["objective"]


def test_highs_runs_in_another_thread_and_its_errors_are_raised():
    assert highs.run_interruptible(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        highs.run_interruptible(lambda: 1 / 0)


def test_norm_2_without_scip_names_the_extra(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    problem = program_problem(0, 5, norm=2)
    with pytest.raises(ImportError, match=r"norm=2 needs .*pip install 'semisvm\[exact\]', or pass norm=1\.$"):
        EXACT.solve(problem)
    assert EXACT.solve(program_problem(0, 5)).status == "converged"
    assert EXACT.solve(problem.labeled_only()).status == "converged"  # nothing to search
