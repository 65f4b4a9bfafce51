"""The exact search: against enumeration with an independent solver, its bound, its big M, its limits."""

import itertools
import sys
import threading

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from judges import column_machine, column_value
from semisvm import SVM, MixedIntegerTSVM
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Hinge, SymmetricHinge
from semisvm.problem import Problem, imbalance, objective
from semisvm.solvers import MixedInteger, highs, mixed_integer
from semisvm.solvers.integer_program import Program, reach
from semisvm.solvers.linear_program import frame_of
from semisvm.solvers.mixed_integer import _Search
from semisvm.spaces import Features

every_norm = pytest.mark.parametrize("norm", [1, 2])
every_intercept = pytest.mark.parametrize("intercept", [True, "regularised", False])
every_balance = pytest.mark.parametrize("balance", [Free(), Count(0.5), Count(0.3, 0.1)], ids=str)
EXACT = MixedInteger(tol=1e-9)


@pytest.fixture(autouse=True)
def _scip(request):
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    if params.get("norm") == 2:
        pytest.importorskip("pyscipopt")


def partly(seed, u=6, balance=Free(), intercept=True, norm=1, weighted=False, C=None, as_sparse=False):  # noqa: B008
    rng = np.random.default_rng(seed)
    y = np.r_[1.0, 1.0, -1.0, -1.0, np.where(rng.random(u) < 0.5, 1.0, -1.0)]
    X = rng.standard_normal((4 + u, 3)) + 0.4 * y[:, None] + 0.3
    X[np.abs(X) < 0.1] = 0.0
    signs = np.where(np.arange(4 + u) < 4, y, 0.0)
    weights = rng.uniform(0.3, 2.0, 4 + u) if weighted else np.ones(4 + u)
    cost = (10.0 ** rng.uniform(-0.5, 1.5) if C is None else C) * weights * np.where(signs == 0, 0.7, 1.0)
    space = Features(sparse.csr_array(X) if as_sparse else X)
    return Problem(space, signs, cost, Hinge(), SymmetricHinge(), balance, intercept, weights, norm)


def table(problem):
    X = problem.space.X
    return X.toarray() if sparse.issparse(X) else X


def allowed(problem, labels):
    """Whether labels of the unlabeled rows keep the balance, from its definition."""
    if isinstance(problem.balance, Free):
        return True
    weight, (r, slack) = problem.weights[~problem.is_labeled], problem.balance
    share = weight @ (labels > 0) / weight.sum()
    if np.all(weight == weight[0]) and slack == 0.0:
        return abs(share - r) * len(weight) <= 0.5 + 1e-9
    return abs(share - r) <= slack + 1e-9


def enumerated(problem):
    """The smallest objective over all labels that keep the balance; infinity if none does."""
    best, u = np.inf, np.count_nonzero(problem.signs == 0)
    for labels in itertools.product((-1.0, 1.0), repeat=u):
        if allowed(problem, np.array(labels)):
            y = np.r_[problem.signs[problem.signs != 0], labels]
            best = min(best, column_machine(table(problem), y, problem.cost, problem.intercept, problem.norm)[2])
    return best


def assert_sound(problem, solution):
    f = table(problem) @ solution.coef + solution.intercept
    np.testing.assert_allclose(solution.scores, f, atol=1e-9)
    np.testing.assert_array_equal(np.abs(solution.labels), 1.0)
    np.testing.assert_array_equal(solution.labels[problem.is_labeled], problem.signs[problem.is_labeled])
    own = solution.coef, solution.intercept, problem.intercept, problem.norm
    value = column_value(table(problem), solution.labels, problem.cost, *own)
    assert solution.objective == pytest.approx(value, rel=1e-12)
    assert solution.objective == objective(problem, solution.coef, solution.intercept, solution.labels)
    assert solution.certificate.kind == "gap"
    assert solution.certificate.gap == solution.certificate.value
    assert solution.certificate.gap == pytest.approx(solution.objective - solution.certificate.lower_bound, abs=1e-12)
    path = [row["objective"] for row in solution.trace]
    assert path[-1] == solution.objective
    assert (np.diff(path) <= 1e-9 * path[0]).all()


@every_norm
@every_intercept
@every_balance
@pytest.mark.parametrize("weighted", [False, True])
def test_it_is_the_best_of_all_labelings(norm, intercept, balance, weighted):
    for seed in range(4):
        stated = partly(seed, 6, balance, intercept, norm, weighted, as_sparse=seed == 3)
        best = enumerated(stated)
        solution = EXACT.solve(stated)
        assert_sound(stated, solution)
        assert solution.status == "converged"
        assert solution.facts["room"] > 0.0
        if np.isfinite(best):
            assert imbalance(stated, solution.scores, solution.labels) <= 0.5 / 6 + 1e-9
            assert allowed(stated, solution.labels[4:])
            assert solution.objective == pytest.approx(best, rel=1e-6)
            assert best * (1.0 - 1e-4) <= solution.certificate.lower_bound <= best * (1.0 + 1e-9)
        else:  # no weights add up to the share; then the nearest by rank and what lies between
            assert weighted


@every_norm
def test_larger_problems_that_no_heuristic_solves(norm):
    better = 0
    for seed in range(4):
        stated = partly(seed, 9, Count(0.4), norm=norm, C=10.0)
        solution = EXACT.solve(stated)
        assert solution.objective == pytest.approx(enumerated(stated), rel=1e-6)
        better += solution.objective < 0.999 * solution.trace[0]["objective"]
        assert solution.certificate.lower_bound > solution.trace[0]["bound"]
    assert better  # the search is not idle


@every_norm
@every_intercept
def test_big_m_cuts_nothing_off(norm, intercept, monkeypatch):
    stated = [partly(seed, 7, Count(0.4), intercept, norm) for seed in range(3)]
    found = [EXACT.solve(one).objective for one in stated]

    def wide(program):
        low, high = reach(program)
        return 100.0 * np.minimum(low, -1.0), 100.0 * np.maximum(high, 1.0)

    monkeypatch.setattr(mixed_integer, "reach", wide)
    for one, value in zip(stated, found):
        assert EXACT.solve(one).objective == pytest.approx(value, rel=1e-6)


@every_norm
@every_intercept
@pytest.mark.parametrize("as_sparse", [False, True])
def test_scores_of_machines_as_good_stay_within_reach(norm, intercept, as_sparse):
    """The lowest and highest f_j of a machine that labeled rows allow, by a price on f_j that meets the bound."""
    for seed in range(3):
        stated = partly(seed, 3, intercept=intercept, norm=norm, weighted=True, as_sparse=as_sparse)
        X, cost = table(stated), stated.cost
        upper = 1.5 * column_machine(X, stated.signs, cost, intercept, norm)[2]
        low, high = reach(
            Program(stated.space.X, stated.signs, cost, stated.weights[4:], -1, 9, intercept, 1.0, norm, upper)
        )
        for j, side in itertools.product((4, 5), (1.0, -1.0)):
            pull = side * np.r_[X[j], [1.0] * (intercept is not False)]
            extreme, lowest, highest = np.inf, 0.0, 1.0
            for _ in range(40):  # the largest price at which the machine is still as good
                price = 0.5 * (lowest + highest)
                w, b, value = column_machine(X, stated.signs, cost, intercept, norm, pull=price / (1.0 - price) * pull)
                if np.isfinite(w).all() and value <= upper:
                    lowest, extreme = price, min(extreme, side * (X[j] @ w + b))
                else:
                    highest = price
            assert extreme < np.inf
            assert extreme >= (low[j - 4] if side > 0 else -high[j - 4]) - 1e-5


def test_a_pair_of_labeled_rows_alone_is_reached_exactly():
    """With one labeled row on each side M is as small as can be: both ways to spend the bound are tried by hand."""
    Z, signs = np.array([[0.0, 0.0], [4.0, 0.0], [1.0, 3.0]]), np.array([1.0, -1.0, 0.0])
    for norm, c, expected in ((1, 10.0, (1 - 6.0, -1 + 6.0)), (1, 0.1, (1 - 20.0, -1 + 20.0))):
        low, high = reach(Program(Z, signs, np.full(3, c), np.ones(1), 0, 1, True, 1.0, norm, 2.0))
        np.testing.assert_allclose([low[0], high[0]], expected, rtol=1e-5)
    low, high = reach(Program(Z, signs, np.full(3, 10.0), np.ones(1), 0, 1, True, 1.0, 2, 2.0))
    np.testing.assert_allclose([low[0], high[0]], [1 - 2 * np.sqrt(10.0), -1 + 2 * np.sqrt(18.0)], rtol=1e-5)
    low, _ = reach(Program(Z, signs, np.full(3, 0.1), np.ones(1), 0, 1, True, 1.0, 2, 2.0))
    assert low[0] == pytest.approx(1 - (2.0 / 0.1 + 0.05 * 10.0), rel=1e-5)
    wide = Program(Z, signs, np.ones(3), np.ones(1), 0, 1, True, 1.0, 1, 2.0, np.array([-2.0]), np.array([-3.0]))
    np.testing.assert_array_equal(np.ravel(wide.big), [3.0, 0.0])  # f = -2 pays 1 - f to be positive
    np.testing.assert_array_equal(np.ravel(wide._replace(ceiling=np.array([4.0])).big), [3.0, 5.0])
    with pytest.raises(ValueError, match="labeled rows of both classes"):
        reach(Program(Z, np.array([1.0, 0.0, 0.0]), np.ones(3), np.ones(2), 0, 1, True, 1.0, 1, 2.0))


@every_norm
def test_rows_without_a_say(norm):
    stated = partly(1, 8, Count(0.25), norm=norm, C=1.0)
    nothing = stated._replace(cost=np.where(stated.signs == 0, 0.0, stated.cost))
    solution = EXACT.solve(nothing)
    w, b, value = column_machine(table(stated), stated.signs, stated.cost, norm=norm)
    assert solution.objective == pytest.approx(value, rel=1e-7)
    np.testing.assert_allclose(solution.scores, table(stated) @ w + b, atol=1e-5)
    np.testing.assert_array_equal(solution.labels[4:] > 0, solution.scores[4:] >= np.sort(solution.scores[4:])[-2])
    free = EXACT.solve(nothing._replace(balance=Free()))
    np.testing.assert_array_equal(free.labels[4:] > 0, free.scores[4:] > 0)
    alone = EXACT.solve(stated._replace(unlabeled=None, balance=Free()))
    np.testing.assert_array_equal(alone.coef, free.coef)
    assert alone.status == "converged"
    assert alone.certificate.gap == pytest.approx(0.0, abs=1e-6)
    keep = np.arange(12) != 7
    stated = stated._replace(balance=Count(0.5))  # 3 or 4 of 7 rows, and 4 of 8
    left_out = stated._replace(weights=1.0 * keep, cost=np.where(keep, stated.cost, 0.0))
    smaller = stated._replace(
        space=Features(table(stated)[keep]), signs=stated.signs[keep], cost=stated.cost[keep], weights=np.ones(11)
    )
    np.testing.assert_array_equal(_Search(left_out, np.inf, None).free, [4, 5, 6, 8, 9, 10, 11])
    assert EXACT.solve(left_out).objective == pytest.approx(EXACT.solve(smaller).objective, rel=1e-9)


@every_norm
def test_order_of_rows_and_names_of_classes_leave_the_program_as_it_is(norm):
    """So a search that ends at a limit ends at the same labels."""
    stated = partly(5, 12, Count(0.4, 0.1), norm=norm, C=5.0)
    order = np.random.default_rng(0).permutation(16)
    moved = stated._replace(
        space=Features(table(stated)[order]),
        signs=stated.signs[order],
        cost=stated.cost[order],
        weights=stated.weights[order],
    )
    swapped = stated._replace(signs=-stated.signs, balance=Count(0.6, 0.1))
    programs = []
    for one in (stated, moved, swapped):
        search = _Search(one, np.inf, None)
        search.begin(None)
        programs.append(search.program()[0])
    for other in programs[1:]:
        for ours, theirs in zip(programs[0], other):
            if isinstance(ours, np.ndarray | float | np.floating):
                np.testing.assert_allclose(theirs, ours, atol=1e-9, rtol=1e-9)
    short = MixedInteger(max_iter=1)
    first = short.solve(stated)
    np.testing.assert_array_equal(short.solve(moved).labels, first.labels[order])
    np.testing.assert_array_equal(short.solve(swapped).labels, -first.labels)


@every_norm
def test_limits_return_the_incumbent_with_a_true_gap(norm):
    stated = partly(2, 40, Count(0.4), norm=norm, C=10.0)
    none = MixedInteger(max_time=1e-9).solve(stated)
    assert_sound(stated, none)
    assert none.status == "max_time"
    some = MixedInteger(max_time=1.5).solve(stated)
    few = MixedInteger(max_iter=1).solve(stated)
    for solution in (some, few):
        assert_sound(stated, solution)
        assert np.count_nonzero(solution.labels[4:] > 0) == 16
    assert few.status == "max_iter"
    assert some.status in ("max_time", "converged")
    # whatever one of them found is above what the others proved
    least = min(none.objective, some.objective, few.objective)
    assert max(s.certificate.lower_bound for s in (none, some, few)) <= least
    assert few.certificate.gap > 0.0


@every_norm
def test_a_worse_answer_of_the_solver_does_not_replace_the_incumbent(norm, monkeypatch):
    stated = partly(2, 8, Count(0.5), norm=norm, C=10.0)
    best = EXACT.solve(stated)
    solver = "by_highs" if norm == 1 else "by_scip"
    plain = getattr(mixed_integer, solver)

    def poor(program, *rest):
        found = plain(program, *rest)
        return found._replace(labels=None if poor.silent else -found.labels)

    monkeypatch.setattr(mixed_integer, solver, poor)
    for poor.silent in (True, False):
        solution = EXACT.solve(stated)
        assert_sound(stated, solution)
        assert best.objective <= solution.objective <= solution.trace[0]["objective"]
    from_best = EXACT.solve(stated, start=best)  # what was found before is where the search begins
    assert from_best.trace[0]["objective"] == pytest.approx(best.objective, rel=1e-9)


@every_norm
def test_the_callback_sees_the_search_and_stops_it(norm):
    stated, rows = partly(2, 9, Count(0.4), norm=norm, C=10.0), []
    solution = EXACT.solve(stated, callback=rows.append)
    assert rows == solution.trace
    assert [row["step"] for row in rows] == list(range(len(rows)))
    assert len(rows) >= 2
    assert all({"objective", "bound", "nodes"} <= set(row) for row in rows)
    assert all(row["bound"] <= solution.objective * (1 + 1e-9) for row in rows)
    stopped = EXACT.solve(stated, callback=lambda row: True)
    assert_sound(stated, stopped)
    assert stopped.status == "stopped"
    labeled = column_machine(table(stated), stated.signs, stated.cost, norm=norm)[2]  # a bound before any search
    assert rows[0]["bound"] == pytest.approx(labeled, rel=1e-6)
    assert stopped.certificate.lower_bound == pytest.approx(rows[0]["bound"], rel=1e-12)


def test_scip_stops_where_the_callback_says():
    pytest.importorskip("pyscipopt")
    stated = partly(2, 14, Count(0.4), norm=2, C=10.0)
    later = EXACT.solve(stated, callback=lambda row: row["step"] == 1)
    assert later.status == "stopped"
    assert_sound(stated, later)


@pytest.mark.parametrize("when", ["heuristic", "search", "at once"])
def test_ctrl_c_keeps_the_incumbent(when, monkeypatch):
    stated, calls = partly(2, 9, Count(0.4), C=10.0), []

    def interrupted(*args, **kwargs):
        calls.append(1)
        if when == "search" or len(calls) == (1 if when == "at once" else 4):
            raise KeyboardInterrupt
        return plain(*args, **kwargs)

    place, name = (highs, "interruptible") if when == "search" else (mixed_integer.lp, "solve")
    plain = getattr(place, name)
    monkeypatch.setattr(place, name, interrupted)
    solution = EXACT.solve(stated)
    assert solution.status == "interrupted"
    assert_sound(stated, solution)
    if when == "search":
        assert solution.objective == solution.trace[0]["objective"]


def test_highs_runs_in_a_thread_of_its_own_and_its_errors_come_back():
    assert highs.interruptible(lambda: threading.current_thread() is threading.main_thread()) is False
    with pytest.raises(ZeroDivisionError):
        highs.interruptible(lambda: 1 / 0)


def test_without_scip_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    X, y = data()
    with pytest.raises(ImportError) as refused:
        MixedIntegerTSVM(norm=2).fit(X, y)
    assert str(refused.value).startswith("norm=2 needs SCIP")
    assert "pip install 'semisvm[exact]', or pass norm=1." in str(refused.value)
    assert str(refused.value).count(". ") == 0
    assert MixedIntegerTSVM().fit(X, y).converged_
    assert MixedIntegerTSVM(norm=2).fit(X[y > 0], y[y > 0]).converged_  # nothing to search


def data(k=2, n=40, n_labeled=30):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % k)
    X = rng.standard_normal((n, 4)) + 1.2 * np.eye(4)[y]
    return np.where(np.abs(X) < 0.3, 0.0, X), hide_labels(y + 1, n_labeled, random_state=0)


@every_norm
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
def test_the_estimator(norm, kernel):
    X, y = data()
    fitted = MixedIntegerTSVM(norm=norm, kernel=kernel).fit(X, y)
    assert fitted.converged_
    assert fitted.certificate_.gap <= 1e-5 * fitted.objective_
    hidden, known = y == -1, y != -1
    wanted = np.mean(y[known] == 2) * hidden.sum()
    assert abs(np.count_nonzero(fitted.transduction_[hidden] == 2) - wanted) <= 0.5
    np.testing.assert_array_equal(fitted.transduction_[known], y[known])
    assert fitted.supervised_.predict_proba(X).shape == (40, 2)
    if norm == 2:
        expected = SVM(fitted.C_, kernel=kernel, gamma=fitted.gamma_, tol=1e-8).fit(X[known], y[known])
        np.testing.assert_allclose(fitted.supervised_.decision_function(X), expected.decision_function(X), atol=1e-6)
    if kernel == "linear":
        assert fitted.C_ * X.var(axis=0).sum() ** (0.5 * norm) == pytest.approx(10.0)
        thin = MixedIntegerTSVM(norm=norm).fit(sparse.csr_array(X), y)
        np.testing.assert_allclose(thin.coef_, fitted.coef_, atol=1e-7)
        labels = np.where(fitted.transduction_ == 2, 1.0, -1.0)
        own = fitted.coef_[0], fitted.intercept_[0], True, norm
        assert fitted.objective_ == pytest.approx(column_value(X, labels, np.full(40, fitted.C_), *own), rel=1e-12)


@every_norm
def test_c_unlabeled_of_zero_is_the_supervised_machine(norm):
    X, y = data()
    fitted = MixedIntegerTSVM(C_unlabeled=0.0, balance=None, norm=norm).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), fitted.supervised_.decision_function(X), atol=1e-7)
    np.testing.assert_array_equal(fitted.transduction_[y == -1], fitted.predict(X)[y == -1])


def test_several_classes_and_probabilities():
    X, y = data(3)
    fitted = MixedIntegerTSVM(1.0).fit(X, y)
    assert fitted.coef_.shape == (3, 4)
    assert [c.kind for c in fitted.certificate_] == ["gap"] * 3
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    shares = {k: np.mean(y[y > 0] == k) for k in (1, 2, 3)}
    for k in range(3):
        binary = np.where(y == -1, -1, np.where(y == k + 1, 2, 1))
        part = MixedIntegerTSVM(1.0, balance=shares[k + 1]).fit(X, binary)
        np.testing.assert_allclose(fitted.coef_[k], part.coef_[0], atol=1e-7)


def test_a_limit_is_told_and_the_model_is_usable():
    X, y = make_two_gaussians(80, 8, 0.4, random_state=0)
    partly_known = hide_labels(y, 10, random_state=0)
    with pytest.warns(ConvergenceWarning, match=r"max_time=0.2 reached, the best objective is at most .* lower"):
        fitted = MixedIntegerTSVM(max_time=0.2).fit(X, partly_known)
    assert 0.0 <= fitted.certificate_.lower_bound < fitted.objective_
    assert np.isfinite(fitted.decision_function(X)).all()


def test_the_frame_is_made_once_and_of_size_one():
    stated = partly(0)
    frame = frame_of(stated)
    assert np.abs(frame.Z).max() == pytest.approx(1.0)
    assert frame_of(stated._replace(signs=-stated.signs)) is frame
    f = frame.Z @ (frame.scale * np.ones(3)) - table(stated) @ np.ones(3)
    np.testing.assert_allclose(f, f[0])
