"""Successive linear programs: against an interior-point method, enumeration, and their own fixed points."""

import itertools

import numpy as np
import pytest
from scipy import sparse
from sklearn.exceptions import ConvergenceWarning

from judges import column_machine, column_value
from semisvm import S3VM, ConcaveLPTSVM
from semisvm.balance import Free, Mean
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Hinge, SymmetricHinge
from semisvm.problem import Problem, gradient, objective
from semisvm.solvers import ConcaveLP, concave_lp, linear_program
from semisvm.solvers.linear_program import Sides, best_intercept, labeled_sides, solve
from semisvm.spaces import Features

every_intercept = pytest.mark.parametrize("intercept", [True, "regularised", False])
every_balance = pytest.mark.parametrize("balance", [Free(), Mean(0.2)], ids=str)


def partly(seed, u=8, balance=Free(), intercept=True, weighted=True, C=2.0, d=4, as_sparse=False):  # noqa: B008
    rng = np.random.default_rng(seed)
    y = np.r_[[1.0, -1.0] * 4, np.where(rng.random(u) < 0.5, 1.0, -1.0)]
    X = rng.standard_normal((8 + u, d)) + 0.5 * y[:, None] + 0.3
    X[np.abs(X) < 0.2] = 0.0
    signs = np.where(np.arange(8 + u) < 8, y, 0.0)
    weights = rng.uniform(0.3, 2.0, 8 + u) if weighted else np.ones(8 + u)
    cost = C * weights * np.where(signs == 0, 0.6, 1.0)
    space = Features(sparse.csr_array(X) if as_sparse else X)
    return Problem(space, signs, cost, Hinge(), SymmetricHinge(), balance, intercept, weights, 1)


def table(problem):
    X = problem.space.X
    return X.toarray() if sparse.issparse(X) else X


def mean_of(problem):
    return (problem.shares(), problem.balance.m) if isinstance(problem.balance, Mean) else None


def own_value(problem, solution):
    """The objective in plain numpy."""
    f = table(problem) @ solution.coef + solution.intercept
    y = np.where(problem.signs != 0, problem.signs, np.where(f > 0, 1.0, -1.0))
    return column_value(table(problem), y, problem.cost, solution.coef, solution.intercept, problem.intercept)


@every_intercept
@every_balance
@pytest.mark.parametrize("as_sparse", [False, True])
@pytest.mark.parametrize("scale", [1e-4, 1.0, 1e4])
def test_the_linear_program_is_solved(intercept, balance, as_sparse, scale):
    for seed in range(3):
        stated = partly(seed, balance=balance, intercept=intercept, as_sparse=as_sparse)
        w, b, value = column_machine(table(stated), stated.signs, stated.cost, intercept, mean=mean_of(stated))
        if intercept != "regularised":  # whose price would have to scale with the rows
            stated = stated._replace(space=Features(stated.space.X * scale), cost=stated.cost / scale)
            w, value = w / scale, value / scale
        point = solve(stated, labeled_sides(stated))
        found = column_value(table(stated), stated.signs, stated.cost, point.w, point.b, intercept)
        assert found == pytest.approx(value, rel=1e-7)
        assert value * (1.0 - 1e-7) <= point.bound <= value * (1.0 + 1e-9)
        np.testing.assert_allclose(stated.space.scores(point.w, point.b), table(stated) @ w + b, atol=1e-5)
        if isinstance(balance, Mean):
            assert stated.shares() @ stated.space.scores(point.w, point.b) == pytest.approx(0.2, abs=1e-9)
        else:  # the multipliers explain w: columns in use pull with their whole size, others with less
            pull = table(stated).T @ point.multipliers
            used = np.abs(point.w) * scale > 1e-9
            np.testing.assert_allclose(pull[used], np.sign(point.w[used]), atol=1e-7)
            assert (np.abs(pull) <= 1.0 + 1e-7).all()
            assert (stated.signs * point.multipliers >= -1e-9).all()
            assert (np.abs(point.multipliers) <= stated.cost + 1e-9).all()


def test_a_row_may_stand_on_both_sides():
    stated = partly(0)
    rows = np.r_[np.arange(8), [9, 9, 10]]
    sides = Sides(rows, np.r_[stated.signs[:8], 1.0, -1.0, -1.0], np.r_[stated.cost[:8], 0.5, 0.5, 0.8])
    point = solve(stated, sides)
    value = column_machine(table(stated)[rows], sides.signs, sides.cost)[2]
    assert column_value(table(stated)[rows], sides.signs, sides.cost, point.w, point.b) == pytest.approx(
        value, rel=1e-8
    )


@pytest.mark.parametrize("price", [0.0, 0.7])
def test_the_intercept_is_the_middle_of_the_best_ones(price):
    rng = np.random.default_rng(0)
    grid = np.linspace(-6.0, 6.0, 12001)
    for trial in range(40):
        n = 2 + trial % 5
        f, signs = np.round(rng.standard_normal(n), 1), np.where(rng.random(n) < 0.5, 1.0, -1.0)
        cost = rng.integers(1, 3, n).astype(float)
        if (signs == signs[0]).all():
            signs[0] = -signs[0]
        b = best_intercept(f, Sides(np.arange(n), signs, cost), price)
        loss = (cost * np.maximum(1.0 - signs * (f + grid[:, None]), 0.0)).sum(axis=1) + price * np.abs(grid)
        best = grid[loss <= loss.min() + 1e-9]
        assert b == pytest.approx(0.5 * (best[0] + best[-1]), abs=1e-9)
    assert best_intercept(np.zeros(2), Sides(np.arange(2), np.ones(2), np.ones(2))) == 1.0
    assert best_intercept(np.zeros(0), Sides(np.arange(0), np.zeros(0), np.zeros(0))) == 0.0


@every_intercept
@every_balance
def test_it_falls_to_a_fixed_point_above_the_best_labeling(intercept, balance):
    for seed in range(4):
        stated = partly(seed, 6, balance, intercept)
        solution = ConcaveLP().solve(stated)
        assert solution.status == "converged"
        path = [row["objective"] for row in solution.trace]
        assert (np.diff(path) <= 1e-12).all()
        assert solution.objective == pytest.approx(own_value(stated, solution), rel=1e-12)
        assert solution.objective == objective(stated, solution.coef, solution.intercept) == path[-1]
        assert solution.n_iter == len(path) >= 2
        assert solution.trace[-1]["changed"] == 0
        # the program at its own end has it for a solution
        labels = np.where(stated.signs != 0, stated.signs, np.sign(solution.scores))
        np.testing.assert_array_equal(solution.labels, labels)
        again = column_machine(table(stated), labels, stated.cost, intercept, mean=mean_of(stated))[2]
        assert solution.objective <= again * (1.0 + 1e-7)
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value <= 1e-7 * solution.objective
        assert ConcaveLP().solve(stated, start=solution).objective == pytest.approx(solution.objective, rel=1e-9)
        best = np.inf
        for own in itertools.product((-1.0, 1.0), repeat=6):
            y = np.r_[stated.signs[:8], own]
            best = min(best, column_machine(table(stated), y, stated.cost, intercept, mean=mean_of(stated))[2])
        assert solution.objective >= best * (1.0 - 1e-7)
        assert solution.certificate.lower_bound <= best
        assert solution.certificate.gap == pytest.approx(solution.objective - solution.certificate.lower_bound)
        if isinstance(balance, Mean):
            assert stated.shares() @ solution.scores == pytest.approx(0.2, abs=1e-9)


def test_the_weights_of_a_step_are_those_of_the_paper():
    stated = partly(0, 4)
    f = np.r_[np.zeros(8), 0.3, -2.0, 0.0, 5.0]
    rows, signs, cost = concave_lp.planes(stated, f)
    np.testing.assert_array_equal(rows[8:], [8, 10, 11, 9, 10])
    np.testing.assert_array_equal(signs, np.r_[stated.signs[:8], 1, 1, 1, -1, -1])
    np.testing.assert_allclose(cost[8:], stated.cost[[8, 10, 11, 9, 10]] * [1, 0.5, 1, 1, 0.5])


def test_rows_without_a_cost_have_no_say():
    stated = partly(1)
    free = stated._replace(cost=np.where(stated.signs == 0, 0.0, stated.cost))
    alone = stated._replace(unlabeled=None)
    one, other = ConcaveLP().solve(free), ConcaveLP().solve(alone)
    np.testing.assert_array_equal(one.coef, other.coef)
    assert one.status == other.status == "converged"
    assert one.certificate.value == 0.0
    value = column_machine(table(stated), stated.signs, stated.cost)[2]
    assert one.objective == pytest.approx(value, rel=1e-8)
    X, y = make_two_gaussians(60, 5, 0.6, random_state=0)
    partly_known = hide_labels(y, 20, random_state=0)
    fitted = ConcaveLPTSVM(C_unlabeled=0.0).fit(X, partly_known)
    np.testing.assert_allclose(
        fitted.decision_function(X),
        ConcaveLPTSVM(fitted.C_).fit(X[partly_known > 0], y[partly_known > 0]).decision_function(X),
    )


def test_limits_and_stops_keep_the_best_so_far(monkeypatch):
    stated = partly(3, 30, C=10.0)
    whole = ConcaveLP().solve(stated)
    assert whole.n_iter > 2
    one = ConcaveLP(max_iter=1).solve(stated)
    assert (one.status, one.n_iter, one.certificate.kind) == ("max_iter", 1, "gap")
    assert one.objective == whole.trace[0]["objective"]
    two = ConcaveLP(max_iter=2).solve(stated)
    assert (two.status, two.n_iter) == ("max_iter", 2)
    assert two.objective == whole.trace[1]["objective"] < one.objective
    assert two.certificate.lower_bound <= whole.objective <= two.objective
    stopped = ConcaveLP().solve(stated, callback=lambda row: row["step"] == 1)
    assert (stopped.status, len(stopped.trace)) == ("stopped", 2)
    assert ConcaveLP().solve(stated, callback=lambda row: True).status == "stopped"
    seen = []
    ConcaveLP().solve(stated, callback=seen.append)
    assert seen == whole.trace

    programs, plain = [], linear_program.linprog

    def interrupted(*args, **kwargs):
        programs.append(1)
        if len(programs) == 3:
            raise KeyboardInterrupt
        return plain(*args, **kwargs)

    monkeypatch.setattr(linear_program, "linprog", interrupted)
    kept = ConcaveLP().solve(stated)
    assert kept.status == "interrupted"
    assert kept.objective == two.objective


@every_intercept
@every_balance
def test_no_time_at_all_gives_a_machine_that_holds_the_balance(intercept, balance):
    stated = partly(0, balance=balance, intercept=intercept)
    solution = ConcaveLP(max_time=1e-9).solve(stated)
    assert solution.status == "max_time"
    assert solution.objective == pytest.approx(own_value(stated, solution), rel=1e-12)
    assert 0.0 <= solution.certificate.lower_bound <= ConcaveLP().solve(stated).objective <= solution.objective
    if isinstance(balance, Mean):
        assert stated.shares() @ solution.scores == pytest.approx(0.2, abs=1e-9)


def test_a_mean_that_no_machine_has_is_refused():
    X = np.array([[1.0], [-1.0], [2.0], [-2.0]])
    stated = Problem(
        Features(X), np.array([1.0, -1.0, 0, 0]), np.ones(4), Hinge(), SymmetricHinge(), Mean(0.5), False, norm=1
    )
    with pytest.raises(ValueError, match=r"mean of f of 0.5.*fit_intercept=True or balance=None"):
        ConcaveLP().solve(stated)


def test_a_program_that_fails_says_so(monkeypatch):
    stated, plain, tried = partly(0), linear_program.linprog, []

    def failing(*args, options, **kwargs):
        tried.append(options["primal_feasibility_tolerance"])
        answer = plain(*args, options=options, **kwargs)
        if len(tried) < 2 or len(tried) > 3:
            answer.status = 4
        return answer

    monkeypatch.setattr(linear_program, "linprog", failing)
    assert ConcaveLP(max_iter=2).solve(stated).objective > 0.0  # the first tolerance failed, the second did not
    assert tried[:2] == [1e-10, 1e-7]
    with pytest.raises(ArithmeticError, match=r"did not solve.*scale X or lower C"):
        ConcaveLP().solve(stated)


def test_the_problem_counts_the_norm_it_states():
    stated, rng = partly(0, intercept="regularised"), np.random.default_rng(0)
    w, b = rng.standard_normal(4), -0.7
    assert objective(stated, w, b) - objective(stated._replace(intercept=True), w, b) == pytest.approx(0.7)
    difference = objective(stated._replace(norm=2), w, b) - objective(stated, w, b)
    assert difference == pytest.approx(0.5 * w @ w + 0.5 * b**2 - np.abs(w).sum() - 0.7)
    with pytest.raises(ValueError, match=r"no gradient.*norm=2"):
        gradient(stated, w, b)


def data(k=2, n=90, n_labeled=30):
    rng = np.random.default_rng(0)
    y = rng.permutation(np.arange(n) % k)
    X = rng.standard_normal((n, 6)) + 1.5 * np.eye(6)[y]
    return np.where(np.abs(X) < 0.3, 0.0, X), hide_labels(y + 1, n_labeled, random_state=0)


@pytest.mark.parametrize("balance", [None, "labeled", {1: 2, 2: 1}])
def test_the_estimator_reports_the_objective_and_holds_the_mean(balance):
    X, y = data()
    fitted = ConcaveLPTSVM(balance=balance).fit(X, y)
    assert fitted.C_ * np.sqrt(X.var(axis=0).sum()) == pytest.approx(10.0)
    f = X @ fitted.coef_[0] + fitted.intercept_[0]
    labels = np.where(y == -1, np.where(f > 0, 1.0, -1.0), 2.0 * y - 3.0)
    value = column_value(X, labels, np.full(len(y), fitted.C_), fitted.coef_[0], fitted.intercept_[0])
    assert fitted.objective_ == pytest.approx(value, rel=1e-12)
    if balance is not None:
        share = np.mean(y[y > 0] == 2) if balance == "labeled" else 1 / 3
        assert f[y == -1].mean() == pytest.approx(2.0 * share - 1.0, abs=1e-9)
    assert fitted.n_active_ == np.count_nonzero(
        fitted._solve_all(fitted._method(), Features(X), np.where(y == -1, -1, y - 1), np.ones(len(y)))[0].multipliers
    )


def test_sparse_is_dense_and_generic_is_named():
    X, y = data()
    dense = ConcaveLPTSVM().fit(X, y)
    thin = ConcaveLPTSVM().fit(sparse.csr_array(X), y)
    np.testing.assert_allclose(thin.coef_, dense.coef_, atol=1e-8)
    generic = S3VM("hinge", "symmetric_hinge", "linear", None, "concave_lp", norm=1, C_unlabeled=dense.C_, C=dense.C_)
    np.testing.assert_array_equal(generic.fit(X, y).coef_, dense.coef_)
    assert np.count_nonzero(ConcaveLPTSVM(0.02).fit(X, y).coef_) < 4  # the 1-norm leaves columns out
    with pytest.raises(ValueError, match=r"ConcaveLP does not take the 2-norm of w\. Solvers that do"):
        S3VM("hinge", "symmetric_hinge", "linear", None, "concave_lp").fit(X, y)
    with pytest.raises(ValueError, match=r"CCCP does not take the 1-norm of w"):
        S3VM(norm=1).fit(X, y)


def test_several_classes_and_probabilities():
    X, y = data(3)
    fitted = ConcaveLPTSVM().fit(X, y)
    assert fitted.coef_.shape == (3, 6)
    assert len(fitted.certificate_) == 3
    np.testing.assert_allclose(fitted.predict_proba(X).sum(axis=1), 1.0)
    for k in range(3):
        part = ConcaveLPTSVM(fitted.C_).fit(X, np.where(y == -1, -1, np.where(y == k + 1, 2, 1)))
        np.testing.assert_allclose(fitted.coef_[k], part.coef_[0], atol=1e-8)


def test_a_kernel_without_unlabeled_rows_has_features_too():
    X, y = data()
    known = y != -1
    fitted = ConcaveLPTSVM(kernel="rbf").fit(X, y)
    alone = ConcaveLPTSVM(fitted.C_, kernel="rbf", gamma=fitted.gamma_).fit(X[known], y[known])
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), alone.decision_function(X))
    np.testing.assert_array_equal(fitted.supervised_.support_, np.flatnonzero(known))


def test_a_limit_is_told():
    X, y = data()
    with pytest.warns(
        ConvergenceWarning, match=r"max_iter=1 reached, the best objective is at most .* lower; the model"
    ):
        ConcaveLPTSVM(max_iter=1).fit(X, y)
