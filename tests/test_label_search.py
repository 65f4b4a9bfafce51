"""Searches over labels against all labelings of small problems, naive loops and the papers' own formulas."""

import importlib.util
import itertools
import sys
import warnings

import numpy as np
import pytest
from scipy import stats
from sklearn.exceptions import ConvergenceWarning

from judges import minimise_qp
from semisvm import DCLSSVM, LSSVM, BayesianLSSVM, LocalSearchRLSC, ProgressiveLSSVM, SwitchingLSSVM
from semisvm.balance import Count, Free
from semisvm.kernels import Kernel
from semisvm.linalg.labelings import DenseLabelings
from semisvm.losses import Squared, SymmetricSquared
from semisvm.problem import Problem, objective
from semisvm.solvers import (
    DifferenceConvex,
    IntegerQuadratic,
    LabelSearch,
    LeastSquares,
    Progressive,
    SafeProjection,
    difference_convex,
    integer_quadratic,
    label_search,
    progressive,
)
from semisvm.spaces import Features, Gram

GAMMA = 0.4
FEW = 6  # labeled rows
INTERCEPTS = [True, False, "regularised"]
BALANCES = [Free(), Count(0.4), Count(0.3, 0.15)]
SPACES = ["rbf", "linear", "wide"]  # by a Gram matrix; few features; more features than rows
SOLVERS = {
    "round robin": LabelSearch("round_robin", 3),
    "steepest": LabelSearch("steepest", 2),
    "paper": LabelSearch("largest"),
    "growth": Progressive(),
    "alpha": Progressive("alpha"),
    "objective": Progressive(sign="objective"),
    "steps": DifferenceConvex(),
    "integer": IntegerQuadratic(),
    "integer, searched": IntegerQuadratic(exact=False, n_init=2),
}
CLASSES = [SwitchingLSSVM, LocalSearchRLSC, ProgressiveLSSVM, DCLSSVM, BayesianLSSVM]

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=["free", "none", "regularised"])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["no balance", "count", "slack"])
every_space = pytest.mark.parametrize("space", SPACES)
every_class = pytest.mark.parametrize("cls", CLASSES, ids=lambda cls: cls.__name__)


def table(n, seed, d=3):
    """Two classes that overlap."""
    rng = np.random.default_rng(seed)
    y = rng.choice([-1.0, 1.0], n)
    y[:2] = 1.0, -1.0
    return rng.standard_normal((n, d)) + 0.7 * y[:, None] * rng.standard_normal(d), y


def partly(seed, space="rbf", u=8, balance=Free(), intercept=True, weights=None, C=2.0, ratio=0.4):  # noqa: B008
    X, y = table(FEW + u, seed, 30 if space == "wide" else 3)
    signs = np.where(np.arange(FEW + u) < FEW, y, 0.0)
    shuffled = np.random.default_rng(seed).permutation(FEW + u)  # labeled rows anywhere
    X, signs = X[shuffled], signs[shuffled]
    cost = np.where(signs != 0, C, ratio * C) * (1.0 if weights is None else weights)
    where = Gram(Kernel("rbf", GAMMA), X) if space == "rbf" else Features(X)
    return Problem(where, signs, cost, Squared(), SymmetricSquared(), balance, intercept, weights)


def kernel_of(problem):
    X = problem.space.X
    if isinstance(problem.space, Features):
        return X @ X.T
    return np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))


def inverse(K, cost, intercept):
    """The S of 1/2 y'Sy, by inversion of the bordered matrix."""
    M = K + (intercept == "regularised") + np.diag(1.0 / cost)
    if intercept is not True:
        return np.linalg.inv(M)
    one = np.ones((len(M), 1))
    return np.linalg.inv(np.block([[M, one], [one.T, np.zeros((1, 1))]]))[:-1, :-1]


def form(problem):
    return inverse(kernel_of(problem), problem.cost, problem.intercept)


def refit(K, cost, y, intercept, kept):
    """F at all rows of the machine of some rows, and its objective."""
    S = inverse(K[np.ix_(kept, kept)], cost[kept], intercept)
    alpha = S @ y[kept]
    f = K[:, kept] @ alpha
    if intercept is not False:
        f = f + (alpha.sum() if intercept == "regularised" else np.mean(y[kept] - alpha / cost[kept] - f[kept]))
    return f, 0.5 * y[kept] @ alpha


def counts(balance, u):
    """Numbers of positive rows that the balance allows: within the slack, or else the nearest."""
    if balance == Free():
        return set(range(u + 1))
    inside = {k for k in range(u + 1) if abs(k - balance.r * u) <= balance.slack * u + 1e-9}
    off = min(abs(k - balance.r * u) for k in range(u + 1))
    return inside or {k for k in range(u + 1) if abs(k - balance.r * u) < off + 1e-9}


def every_labeling(problem, fixed=None):
    """All labels that the balance allows, and those of ``fixed`` rows."""
    fixed = problem.signs if fixed is None else fixed
    free = np.flatnonzero(fixed == 0)
    Y = np.tile(fixed, (2 ** len(free), 1))
    Y[:, free] = list(itertools.product((-1.0, 1.0), repeat=len(free)))
    rest = problem.signs == 0
    positive = (Y[:, rest] > 0).sum(axis=1)
    return Y[np.isin(positive, list(counts(problem.balance, rest.sum())))]


def values(S, Y):
    return 0.5 * np.einsum("ri,ij,rj->r", Y, S, Y)


def assert_close(found, expected, tolerance=1e-8):
    expected = np.asarray(expected)
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


def assert_sound(problem, solution):
    """The labels keep what is given and the balance; all that is told follows from them."""
    y, known = solution.labels, problem.is_labeled
    np.testing.assert_array_equal(y[known], problem.signs[known])
    assert set(np.abs(y)) == {1.0}
    if problem.weights is None:
        assert (y[~known] > 0).sum() in counts(problem.balance, (~known).sum())
    S = form(problem)
    assert solution.objective == pytest.approx(values(S, y[None])[0], rel=1e-9)
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept, y), rel=1e-9)
    assert_close(solution.scores, y - S @ y / problem.cost)
    assert_close(solution.dual, S @ y)


# ---- all labelings ----


@every_space
@every_balance
@every_intercept
def test_no_search_is_better_than_the_best_of_all_labelings(space, balance, intercept):
    reached = []
    for seed in range(3):
        problem = partly(seed, space, 8 + seed % 2, balance, intercept)
        best = values(form(problem), every_labeling(problem)).min()
        for name, solver in SOLVERS.items():
            solution = solver.solve(problem, rng=0)
            assert_sound(problem, solution)
            assert solution.status == "converged"
            assert solution.objective >= best - 1e-9
            reached.append(solution.objective <= best + 1e-9)
            certificate = solution.certificate
            if name.startswith("integer"):
                assert certificate.kind == "gap"
                assert certificate.lower_bound <= best + 1e-9
                assert certificate.gap == pytest.approx(solution.objective - certificate.lower_bound, abs=1e-9)
                assert certificate.value == certificate.gap
            if name == "integer":
                assert solution.objective == pytest.approx(best, rel=1e-9)
                assert certificate.gap <= 1e-9
                assert solution.trace[-1]["objective"] == pytest.approx(best, rel=1e-9)
    assert np.mean(reached) > 0.5  # the bound is not an empty one


@every_space
@every_balance
@every_intercept
def test_scip_proves_the_optimum(space, balance, intercept, monkeypatch):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(integer_quadratic, "TRIED_ROWS", 0)
    problem = partly(4, space, 7, balance, intercept, C=20.0, ratio=1.0)  # rows that hang together
    best = values(form(problem), every_labeling(problem)).min()
    for exact in (True, "auto"):
        solution = IntegerQuadratic(exact=exact, n_init=1).solve(problem, rng=0)
        assert_sound(problem, solution)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(best, rel=1e-9)
        assert best - 1e-5 <= solution.certificate.lower_bound <= best + 1e-6


@pytest.mark.parametrize("prove", ["_tried", "_scip"])
@every_balance
def test_the_proof_improves_on_any_labels(prove, balance):
    """From poor labels too, which no search would hand over."""
    pytest.importorskip("pyscipopt")
    problem = partly(7, "linear", 7, balance, C=20.0, ratio=1.0)
    Y = every_labeling(problem)
    found = values(form(problem), Y)
    system = label_search.system_of(problem)
    worst = Y[found.argmax()][system.rows]
    y, bound, status = getattr(integer_quadratic, prove)(problem, system, worst, system.free, None)
    assert status == "converged"
    assert system.form.value(y) == pytest.approx(found.min(), rel=1e-9)
    assert bound == pytest.approx(found.min(), abs=1e-5)


@pytest.mark.parametrize("weighted", [False, True])
def test_the_best_of_all_labelings_of_weighted_rows(weighted):
    rng = np.random.default_rng(0)
    weights = rng.uniform(0.5, 2.0, FEW + 9) if weighted else np.full(FEW + 9, 0.7)
    problem = partly(1, u=9, balance=Count(0.4, 0.1), weights=weights)
    free = ~problem.is_labeled
    Y = every_labeling(problem._replace(balance=Free()))
    share = (Y[:, free] > 0) @ weights[free] / weights[free].sum()
    best = values(form(problem), Y[np.abs(share - 0.4) <= 0.1 + 1e-9]).min()
    solution = IntegerQuadratic().solve(problem, rng=0)
    assert_sound(problem, solution)
    assert solution.objective == pytest.approx(best, rel=1e-9)


def sure_rows(problem, confident, near):
    """Signs with those of confident rows near labeled ones filled in."""
    K, known = kernel_of(problem), problem.is_labeled
    f, _ = refit(K, problem.cost, problem.signs, problem.intercept, np.flatnonzero(known))
    distance = (np.diag(K)[:, None] + np.diag(K)[None] - 2.0 * K)[:, known].min(axis=1)
    limit = np.median(distance[~known]) if near is None else near**2
    sure = ~known & (distance <= limit) & (np.abs(f) >= confident)
    return np.where(sure, np.sign(f), problem.signs)


@pytest.mark.parametrize("near", [None, 0.6, 10.0])
@pytest.mark.parametrize("exact", ["auto", False, "scip"])
@every_balance
@pytest.mark.parametrize("space", ["rbf", "linear"])
def test_confident_rows_keep_their_label(near, exact, balance, space, monkeypatch):
    if exact == "scip":
        pytest.importorskip("pyscipopt")
        monkeypatch.setattr(integer_quadratic, "TRIED_ROWS", 0)
    fixed_some = 0
    for seed in range(4):
        problem = partly(seed, space, 8, balance)
        fixed = sure_rows(problem, 0.3, near)
        fixed_some += 0 < (fixed != problem.signs).sum() < 8
        solver = IntegerQuadratic(exact=exact == "scip" or exact, confident=0.3, near=near)
        np.testing.assert_array_equal(solver._with_confident(problem).signs, fixed)
        solution = solver.solve(problem, rng=0)
        S, among = form(problem), every_labeling(problem, fixed)
        np.testing.assert_array_equal(solution.labels[fixed != 0], fixed[fixed != 0])
        best = values(S, every_labeling(problem)).min()
        assert solution.certificate.lower_bound <= best + 1e-6
        assert solution.certificate.gap == pytest.approx(solution.objective - solution.certificate.lower_bound)
        if len(among):  # confident rows alone may break the balance
            assert_sound(problem, solution)
            assert solution.objective >= values(S, among).min() - 1e-9
            if exact is not False:
                assert solution.objective == pytest.approx(values(S, among).min(), rel=1e-9)
    assert fixed_some or near == 10.0


@pytest.mark.parametrize("tried", [18, 0], ids=["tried", "scip"])
def test_confident_rows_that_break_the_balance_leave_the_rest_on_the_other_side(tried, monkeypatch):
    pytest.importorskip("pyscipopt")
    monkeypatch.setattr(integer_quadratic, "TRIED_ROWS", tried)
    for seed in range(3):
        problem = partly(seed, balance=Count(0.0))
        fixed = sure_rows(problem, 0.0, None)
        assert ((fixed > 0) & ~problem.is_labeled).any()
        solution = IntegerQuadratic(exact=True, confident=0.0).solve(problem, rng=0)
        np.testing.assert_array_equal(solution.labels, np.where(fixed == 0, -1.0, fixed))


def test_without_scip_the_extra_is_named(monkeypatch):
    problem = partly(0)
    expected = IntegerQuadratic().solve(problem, rng=0).objective
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    find = importlib.util.find_spec
    monkeypatch.setattr(importlib.util, "find_spec", lambda name, *r: None if name == "pyscipopt" else find(name, *r))
    assert IntegerQuadratic(exact=True).solve(problem, rng=0).objective == expected  # few rows are tried
    monkeypatch.setattr(integer_quadratic, "TRIED_ROWS", 3)
    with pytest.raises(ImportError) as refused:
        IntegerQuadratic(exact=True).solve(problem, rng=0)
    assert "pip install 'semisvm[exact]'" in str(refused.value)
    assert str(refused.value).count(".") == 1
    searched = IntegerQuadratic().solve(problem, rng=0)
    assert_sound(problem, searched)
    assert searched.certificate.lower_bound <= expected + 1e-9


# ---- the way down, and where it ends ----


@every_space
@every_balance
@every_intercept
@pytest.mark.parametrize("search", ["round_robin", "steepest"])
def test_a_search_ends_where_no_change_improves(search, space, balance, intercept):
    for seed in range(2):
        problem = partly(seed, space, 24, balance, intercept)
        solution = LabelSearch(search, 2).solve(problem, rng=seed)
        path = np.array([row["objective"] for row in solution.trace])
        assert (np.diff(path) <= 1e-12 * path[0]).all()
        assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
        assert_sound(problem, solution)
        y, free, S = solution.labels, np.flatnonzero(~problem.is_labeled), form(problem)
        allowed, now = counts(balance, 24), (solution.labels[free] > 0).sum()
        changes = [(j,) for j in free if now - y[j] in allowed]
        if len(changes) < len(free):  # where a flip is barred, swaps are sought
            changes += [pair for pair in itertools.combinations(free, 2) if y[list(pair)].sum() == 0]
        Y = np.tile(y, (len(changes), 1))
        for row, change in zip(Y, changes):
            row[list(change)] *= -1.0
        assert values(S, Y).min() >= solution.objective - 1e-9
        assert solution.certificate.kind == "no_flip"
        assert solution.certificate.value == 0.0


@every_space
@pytest.mark.parametrize("balance", [Free(), Count(0.4)])
@pytest.mark.parametrize("seed", range(4))
def test_the_printed_rule(seed, balance, space):
    problem = partly(seed, space, 30, balance)
    S, free = form(problem), np.flatnonzero(~problem.is_labeled)
    f, _ = refit(kernel_of(problem), problem.cost, problem.signs, True, np.flatnonzero(problem.is_labeled))
    y = problem.signs.copy()
    y[free] = np.where(f[free] > 0, 1.0, -1.0)
    if balance != Free():
        y[free] = -1.0
        y[free[np.argsort(-f[free])[:12]]] = 1.0
    assert values(S, y[None])[0] == pytest.approx(LabelSearch("largest").solve(problem).trace[0]["objective"])
    while True:
        error = np.where(problem.is_labeled, -np.inf, y * (S @ y))
        sides = [np.ones(len(y), dtype=bool)] if balance == Free() else [y > 0, y < 0]
        rows = [int(np.where(side, error, -np.inf).argmax()) for side in sides]
        trial = y.copy()
        trial[rows] *= -1.0
        if error[rows].min() <= 0 or values(S, trial[None])[0] >= values(S, y[None])[0]:
            break
        y = trial
    solution = LabelSearch("largest").solve(problem)
    np.testing.assert_array_equal(solution.labels, y)
    left = max(
        0.0, max(values(S, y[None])[0] - values(S, np.where(np.arange(len(y)) == j, -y, y)[None])[0] for j in free)
    )
    if balance == Free():
        assert solution.certificate.value == pytest.approx(left, abs=1e-9)
        assert solution.certificate.kind == ("no_flip" if left < 1e-9 else "monotone")


@every_space
@every_balance
@every_intercept
def test_difference_convex_steps_fall_until_labels_and_scores_agree(space, balance, intercept):
    steps = 0
    for seed in range(4):
        problem = partly(seed, space, 30, balance, intercept, C=0.3, ratio=0.5)
        solution = DifferenceConvex().solve(problem)
        path = np.array([row["objective"] for row in solution.trace])
        steps += len(path)
        assert (np.diff(path) < 0).all()
        assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
        assert_sound(problem, solution)
        f, y = solution.scores[~problem.is_labeled], solution.labels[~problem.is_labeled]
        if balance == Free():
            np.testing.assert_array_equal(y, np.sign(f))
            assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept), rel=1e-9)
        else:  # no labels that keep the balance are closer to f
            top = np.sort(f)[::-1]
            k = max(counts(balance, 30), key=lambda k, top=top: top[:k].sum() - top[k:].sum())
            np.testing.assert_array_equal(np.sort(f[y > 0]), np.sort(f)[30 - k :])
        assert solution.certificate.kind == "stationary"
        assert solution.certificate.value == 0.0
    assert steps > 4 or space == "wide" or balance == Count(0.4)


@pytest.mark.parametrize("slack", [0.0, 0.05, 0.1])
def test_difference_convex_steps_of_weighted_rows_fall_and_keep_the_balance(slack):
    for seed in range(120):
        rng = np.random.default_rng(seed)
        weights = rng.uniform(0.2, 3.0, FEW + 12)
        r = rng.uniform(0.2, 0.8)
        problem = partly(seed, u=12, balance=Count(r, slack), weights=weights, ratio=1.0)
        solution = DifferenceConvex(max_iter=100).solve(problem)
        assert solution.status == "converged"
        path = [row["objective"] for row in solution.trace]
        assert (np.diff(path) <= 1e-9).all()
        free = ~problem.is_labeled
        off = abs(weights[free] @ (solution.labels[free] > 0) - r * weights[free].sum())
        assert off <= max(slack * weights[free].sum(), 0.5 * weights[free].max()) + 1e-9


@pytest.mark.parametrize("seed", range(5))
def test_a_fixed_point_solves_the_difference_convex_system(seed):
    problem = partly(seed, u=20, C=5.0, ratio=0.3)
    solution = DifferenceConvex().solve(problem)
    one, two = problem.is_labeled, ~problem.is_labeled
    K, m, u = kernel_of(problem), one.sum(), two.sum()
    K11, K12, K22 = K[np.ix_(one, one)], K[np.ix_(one, two)], K[np.ix_(two, two)]
    D = problem.cost[two] * np.sign(solution.scores[two])
    left = np.block(
        [
            [K11 + np.eye(m) / 5.0, -K12, np.ones((m, 1))],
            [-K12.T, K22 + np.eye(u) / 1.5, -np.ones((u, 1))],
            [np.ones((1, m)), -np.ones((1, u)), np.zeros((1, 1))],
        ]
    )
    found = np.linalg.solve(left, np.r_[problem.signs[one] - K12 @ D, K22 @ D, -D.sum()])
    a1, a2, b = found[:m], found[m:-1], found[-1]
    assert_close(solution.scores, K[:, one] @ a1 + K[:, two] @ (D - a2) + b)
    assert_close(a2, 1.5 * solution.scores[two])


# ---- one row at a time ----


def naive_progress(problem, pick, turns):
    """Retrain with every row and label there is room for, take the best; the order and labels of the rows."""
    K, y = kernel_of(problem), problem.signs.copy()
    free = np.flatnonzero(y == 0)
    allowed = counts(problem.balance, len(free))
    room = {1.0: max(allowed), -1.0: len(free) - min(allowed)}
    kept = list(np.flatnonzero(y))
    objectives, share = [], getattr(problem.balance, "r", 0.5)
    while len(kept) < len(y):
        best = None
        taken = np.intersect1d(free, kept)
        behind = share * (len(taken) + 1) - (y[taken] > 0).sum() - 0.5
        turn = np.sign(behind) if turns and abs(behind) > 1e-9 else 0.0  # the class whose turn it is
        for j in np.setdiff1d(free, kept):
            ends = {}
            for sign in (1.0, -1.0):
                if room[sign] and (sign != -turn or not room[turn]):
                    y[j] = sign
                    f, value = refit(K, problem.cost, y, problem.intercept, np.r_[kept, j])
                    ends[sign] = value, abs(problem.cost[j] * (sign - f[j]))
            sign = min(ends, key=lambda s: ends[s][0])
            score = ends[sign][0 if pick == "growth" else 1]
            if best is None or score < best[0]:
                best = score, j, sign, ends[sign][0]
        _, j, y[best[1]], value = best
        room[y[j]] -= 1
        kept.append(j)
        objectives.append(value)
    return y, objectives


@every_space
@every_balance
@every_intercept
@pytest.mark.parametrize("pick", ["growth", "alpha"])
@pytest.mark.parametrize("sign", ["turns", "objective"])
@pytest.mark.parametrize("panel", [3, 64])
def test_progress_is_that_of_a_loop_which_retrains(pick, sign, space, balance, intercept, panel, monkeypatch):
    monkeypatch.setattr(progressive, "PANEL", panel)
    problem = partly(3, space, 8, balance, intercept, C=4.0)
    y, objectives = naive_progress(problem, pick, sign == "turns")
    solution = Progressive(pick, sign).solve(problem)
    np.testing.assert_array_equal(solution.labels, y)
    assert_sound(problem, solution)
    assert solution.objective == pytest.approx(objectives[-1], rel=1e-9)
    ends = [min(panel * k, 8) for k in range(1, len(solution.trace))]
    assert [row["taken"] for row in solution.trace] == [0, *ends]
    assert_close([row["objective"] for row in solution.trace[1:]], [objectives[end - 1] for end in ends])
    assert solution.certificate.value == 0.0


@pytest.mark.parametrize("space", ["rbf", "linear"])
@every_balance
def test_panels_do_not_change_the_answer(space, balance, monkeypatch):
    problem = partly(5, space, 150, balance)
    found = []
    for panel in (3, 64, 150):
        monkeypatch.setattr(progressive, "PANEL", panel)
        found.append(Progressive().solve(problem))
    for other in found[1:]:
        np.testing.assert_array_equal(other.labels, found[0].labels)
        assert other.trace[-1]["objective"] == pytest.approx(found[0].objective, rel=1e-9)


# ---- balance and starts ----


def fit_rows(u=31, classes=2, seed=0):
    """Rows of classes 1, 2, ..., the first fourteen labeled."""
    rng = np.random.default_rng(seed)
    y = np.arange(14 + u) % classes + 1
    X = rng.standard_normal((14 + u, 3)) + 1.2 * rng.standard_normal((classes, 3))[y - 1]
    return X, y, np.where(np.arange(14 + u) < 14, y, -1)


@every_class
@pytest.mark.parametrize(
    ("balance", "tol", "allowed"),
    [
        (0.3, 0.0, {9}),  # 9.3
        (0.5, 0.0, {15, 16}),  # 15.5
        (0.0, 0.0, {0}),
        (1.0, 0.0, {31}),
        ("labeled", 0.0, {15, 16}),
        ({1: 3.0, 2: 1.0}, 0.0, {8}),  # 7.75
        (0.3, 0.1, {7, 8, 9, 10, 11, 12}),  # 6.2 to 12.4
        (0.3, 0.01, {9}),  # 8.99 to 9.61
    ],
)
def test_as_many_rows_are_positive_as_the_balance_says(cls, balance, tol, allowed):
    X, _, y = fit_rows()
    machine = cls(2.0, gamma=GAMMA, balance=balance, balance_tol=tol)
    if cls is BayesianLSSVM:
        machine.set_params(exact=False)
    machine.fit(X, y)
    assert (machine.transduction_[y == -1] == 2).sum() in allowed


@pytest.mark.parametrize("cls", [SwitchingLSSVM, LocalSearchRLSC, BayesianLSSVM, ProgressiveLSSVM])
@pytest.mark.parametrize("slack", [0.0, 0.1])
@pytest.mark.parametrize("seed", range(5))
def test_shares_are_of_weight(cls, slack, seed):
    X, _, y = fit_rows()
    weight = np.random.default_rng(seed).uniform(0.5, 2.0, len(y))
    machine = cls(2.0, gamma=GAMMA, balance=0.3, balance_tol=slack, random_state=0)
    if cls is BayesianLSSVM:
        machine.set_params(exact=False)
    if cls is ProgressiveLSSVM:
        machine.set_params(sign="objective")
    machine.fit(X, y, sample_weight=weight)
    rest = weight[y == -1]
    off = abs(rest @ (machine.transduction_[y == -1] == 2) - 0.3 * rest.sum())
    assert off <= max(slack * rest.sum(), 0.5 * rest.max()) + 1e-9


def test_weights_that_are_all_alike_count_rows():
    X, _, y = fit_rows()
    plain = SwitchingLSSVM(2.0, gamma=GAMMA, balance=0.3).fit(X, y)
    same = SwitchingLSSVM(1.0, gamma=GAMMA, balance=0.3).fit(X, y, sample_weight=np.full(len(y), 2.0))
    np.testing.assert_array_equal(same.transduction_, plain.transduction_)
    assert same.objective_ == pytest.approx(plain.objective_, rel=1e-9)


@every_space
@every_balance
@pytest.mark.parametrize("search", ["round_robin", "steepest"])
def test_more_starts_are_never_worse(search, space, balance, monkeypatch):
    gained = 0
    for seed in range(3):
        problem = partly(seed, space, 30, balance, ratio=1.0)
        found = []
        for n_init, workers in ((1, 1), (3, 1), (9, 2), (20, 1), (20, 4)):
            monkeypatch.setattr(label_search, "threads", lambda workers=workers: workers)
            found.append(LabelSearch(search, n_init).solve(problem, rng=seed))
        best = np.array([solution.objective for solution in found])
        assert (np.diff(best) <= 1e-9).all()
        np.testing.assert_array_equal(found[-1].labels, found[-2].labels)
        gained += best[-1] < best[0] - 1e-9
    assert gained or space != "rbf"


@pytest.mark.parametrize("solver", ["round robin", "steepest", "integer, searched", "steps"])
def test_a_start_is_not_left_for_a_worse_point(solver):
    problem = partly(2, u=30, balance=Count(0.4))
    best = LabelSearch(n_init=30).solve(problem, rng=0)
    again = SOLVERS[solver].solve(problem, start=best, rng=1)
    assert again.objective <= best.objective + 1e-9
    assert_sound(problem, again)


@pytest.mark.parametrize(
    ("machine", "solver"),
    [
        (SwitchingLSSVM(max_iter=7, max_time=8.0), LabelSearch("steepest", 1, 7, 8.0)),
        (SwitchingLSSVM(rule="paper"), LabelSearch("largest")),
        (LocalSearchRLSC(n_init=3, max_iter=7, max_time=8.0), LabelSearch("round_robin", 3, 7, 8.0)),
        (LocalSearchRLSC(search="steepest"), LabelSearch("steepest", 10)),
        (ProgressiveLSSVM(pick="alpha", sign="objective", max_time=8.0), Progressive("alpha", "objective", 8.0)),
        (ProgressiveLSSVM(), Progressive("growth")),
        (DCLSSVM(max_iter=7, max_time=8.0), DifferenceConvex(7, 8.0)),
        (
            BayesianLSSVM(exact=False, confident=0.5, near=2.0, n_init=3, max_iter=7, max_time=8.0),
            IntegerQuadratic(False, 0.5, 2.0, 3, 7, 8.0),
        ),
    ],
)
def test_the_knobs_of_a_class_reach_its_search(machine, solver):
    assert machine._method().solver == solver
    assert machine.set_params(safe=True)._method().solver == SafeProjection()


# ---- limits and the seeds' own formulas ----


@every_class
@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
@pytest.mark.parametrize("safe", [False, True])
def test_unlabeled_rows_at_no_cost_leave_lssvm(cls, intercept, kernel, safe):
    X, _, y = fit_rows(10)
    knobs = {"kernel": kernel, "gamma": GAMMA, "fit_intercept": intercept}
    alone = LSSVM(2.0, **knobs).fit(X[:14], y[:14])
    none = cls(2.0, C_unlabeled=0.0, balance=None, safe=safe, **knobs).fit(X, y)
    assert_close(none.decision_function(X), alone.decision_function(X))
    assert none.objective_ == pytest.approx(alone.objective_, rel=1e-9)
    np.testing.assert_array_equal(none.transduction_[14:], none.predict(X[14:]))
    assert_close(none.supervised_.decision_function(X), alone.decision_function(X))
    little = cls(2.0, C_unlabeled=1e-7, balance=None, safe=safe, **knobs).fit(X, y)
    assert_close(little.decision_function(X), alone.decision_function(X), tolerance=1e-4)
    full = cls(2.0, balance=None, safe=safe, **knobs).fit(X, np.where(y == -1, np.arange(24) % 2 + 1, y))
    everyone = LSSVM(2.0, **knobs).fit(X, np.arange(24) % 2 + 1)
    assert_close(full.decision_function(X), everyone.decision_function(X))


@pytest.mark.parametrize("seed", range(4))
def test_local_search_is_that_of_the_seed(seed):
    X, _, y = fit_rows(20, seed=seed)
    lam, other = 0.05, 0.7
    known = y != -1
    machine = LocalSearchRLSC(
        1.0 / (lam * 14), C_unlabeled=other / (lam * 20), gamma=GAMMA, balance=None, n_init=1
    ).fit(X, y)
    K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    Lam = np.where(known, np.sqrt(1.0 / 14), np.sqrt(other / 20))
    G = np.linalg.inv(Lam[:, None] * K * Lam + lam * np.eye(34))
    H = lam * G
    f, _ = refit(K, np.full(34, 1.0 / (lam * 14)), 2.0 * y - 3.0, False, np.flatnonzero(known))
    labels = np.where(known, 2.0 * y - 3.0, np.where(f > 0, 1.0, -1.0))
    value = lambda y: lam * (y * Lam) @ G @ (y * Lam)  # noqa: E731
    F, rejected, order = value(labels), 0, np.flatnonzero(~known)[np.argsort(np.abs(f[~known]))]
    assert machine.objective_path_[0] == pytest.approx(F / (2.0 * lam), rel=1e-9)
    for j in itertools.cycle(order):
        after = F - 4.0 * labels[j] * Lam[j] * (H @ (Lam * labels))[j] + 4.0 * Lam[j] ** 2 * H[j, j]
        if after < F - 1e-12:
            labels[j] *= -1.0
            assert value(labels) == pytest.approx(after, rel=1e-9)
            F, rejected = after, 0
        else:
            rejected += 1
        if rejected == 20:
            break
    np.testing.assert_array_equal(2.0 * machine.transduction_ - 3.0, labels)
    assert machine.objective_ == pytest.approx(F / (2.0 * lam), rel=1e-9)
    assert machine.intercept_ == 0.0


@pytest.mark.parametrize("ratio", [1.0, 0.3])
@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_the_evidence_is_that_of_a_gaussian_process(kernel, intercept, ratio):
    X, _, y = fit_rows(9)
    machine = BayesianLSSVM(2.0, C_unlabeled=2.0 * ratio, kernel=kernel, gamma=GAMMA, fit_intercept=intercept).fit(X, y)
    K = X @ X.T if kernel == "linear" else np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    cost = np.where(y == -1, 2.0 * ratio, 2.0)
    labels, n = 2.0 * machine.transduction_ - 3.0, len(y)
    M = K + (intercept == "regularised") + np.diag(1.0 / cost)
    seen, basis = labels, np.eye(n)
    if intercept is True:  # a flat prior on b leaves what is orthogonal to 1
        basis = np.linalg.svd(np.ones((1, n)))[2][1:]
        seen, M = basis @ labels, basis @ M @ basis.T
    mu = len(seen) / (seen @ np.linalg.solve(M, seen))
    expected = stats.multivariate_normal(None, M / mu).logpdf(seen) - 0.5 * np.log(n) * (intercept is True)
    assert machine.evidence_ == pytest.approx(expected, rel=1e-9)
    assert machine.mu_ == pytest.approx(mu, rel=1e-9)
    assert machine.beta_ == pytest.approx(2.0 * mu, rel=1e-9)
    for factor in (0.9, 1.1):
        other = stats.multivariate_normal(None, M / (factor * mu)).logpdf(seen) - 0.5 * np.log(n) * (intercept is True)
        assert other < machine.evidence_
    three = fit_rows(9, 3)
    several = BayesianLSSVM(2.0, kernel=kernel, gamma=GAMMA, fit_intercept=intercept).fit(three[0], three[2])
    assert several.evidence_.shape == several.mu_.shape == several.beta_.shape == (3,)


# ---- safe ----


@every_space
@every_intercept
@pytest.mark.parametrize("seed", range(3))
def test_the_safe_machine_is_never_worse_whatever_the_labels(space, intercept, seed):
    problem = partly(seed, space, 8, Count(0.5), intercept, ratio=2.0)
    first = LeastSquares().solve(problem._replace(unlabeled=None, balance=Free()))
    safe = SafeProjection().solve(problem)
    for y in every_labeling(problem._replace(balance=Free())):
        ours, theirs = (objective(problem, one.coef, one.intercept, y) for one in (safe, first))
        assert ours <= theirs + 1e-9
    assert safe.objective == pytest.approx(objective(problem, safe.coef, safe.intercept), rel=1e-9)
    assert safe.certificate.value < 1e-8
    # the projection itself, by an interior-point method
    S, free, known = form(problem), np.flatnonzero(~problem.is_labeled), np.flatnonzero(problem.is_labeled)
    P = np.diag(problem.cost[free]) - S[np.ix_(free, free)]
    pull = problem.cost[free] * first.scores[free] + S[np.ix_(free, known)] @ problem.signs[known]
    box = np.vstack([np.eye(8), -np.eye(8)]), np.ones(16)
    y = problem.signs.copy()
    y[free] = minimise_qp(P, -pull, below=box)[0]
    assert_close(safe.scores, y - S @ y / problem.cost, tolerance=1e-5)
    if space != "linear":  # f of the supervised machine is among the soft labels unless it leaves the box
        moved = np.abs(safe.scores - first.scores).max() > 1e-6
        assert moved == (np.abs(first.scores[free]).max() > 1.0)


@every_intercept
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_all_classes_have_one_safe_machine(intercept, kernel):
    X, _, y = fit_rows(8)
    knobs = {"kernel": kernel, "gamma": GAMMA, "fit_intercept": intercept}
    fits = [cls(2.0, C_unlabeled=3.0, safe=True, **knobs).fit(X, y) for cls in CLASSES[:-1]]
    space = Features(X) if kernel == "linear" else Gram(Kernel("rbf", GAMMA), X)
    signs, cost = np.where(y == -1, 0.0, 2.0 * y - 3.0), np.where(y == -1, 3.0, 2.0)
    problem = Problem(space, signs, cost, Squared(), SymmetricSquared(), Free(), intercept)
    expected = SafeProjection().solve(problem)
    for machine in fits:
        assert_close(machine.decision_function(X), expected.scores)
        np.testing.assert_array_equal(machine.transduction_[14:], machine.predict(X[14:]))
        assert machine.converged_


def test_a_bayesian_machine_may_be_safe_too():
    X, _, y = fit_rows(8)
    safe = BayesianLSSVM(2.0, C_unlabeled=3.0, safe=True, gamma=GAMMA).fit(X, y)
    other = SwitchingLSSVM(2.0, C_unlabeled=3.0, safe=True, gamma=GAMMA).fit(X, y)
    assert_close(safe.decision_function(X), other.decision_function(X))


# ---- stopped early ----


def stopped(run):
    """A red test rather than the end of the whole run, should Ctrl-C come through."""
    try:
        return run()
    except KeyboardInterrupt:
        pytest.fail("KeyboardInterrupt came through: what was found so far is lost.")


def interrupt(monkeypatch, where, name, at=2):
    calls, own = [], getattr(where, name)

    def late(*given, **options):
        calls.append(1)
        if len(calls) == at:
            raise KeyboardInterrupt
        return own(*given, **options)

    monkeypatch.setattr(where, name, late)


STEPS = {
    SwitchingLSSVM: (DenseLabelings, "swap"),
    LocalSearchRLSC: (DenseLabelings, "sweep"),
    ProgressiveLSSVM: (progressive._Rest, "take"),
    DCLSSVM: (difference_convex, "_nearest"),
    BayesianLSSVM: (DenseLabelings, "sweep"),
}


def assert_usable(machine, X, y):
    f = machine.decision_function(X)
    assert np.isfinite(f).all()
    np.testing.assert_array_equal(machine.transduction_[y != -1], y[y != -1])
    assert not machine.converged_
    K = np.exp(-GAMMA * ((X[:, None] - X[None]) ** 2).sum(axis=2))
    cost = np.where(y == -1, 2.0 * 14 / (y == -1).sum(), 2.0)
    labels = 2.0 * machine.transduction_ - 3.0
    expected = refit(K, cost, labels, machine.fit_intercept, np.arange(len(y)))
    assert_close(f, expected[0])
    assert machine.objective_ == pytest.approx(expected[1], rel=1e-9)


@every_class
def test_ctrl_c_leaves_a_machine(cls, monkeypatch):
    X, _, y = fit_rows(seed=1)
    machine = cls(2.0, gamma=GAMMA)
    interrupt(monkeypatch, *STEPS[cls], at=1 if cls is SwitchingLSSVM else 2)
    with pytest.warns(ConvergenceWarning, match="the fit was interrupted"):
        stopped(lambda: machine.fit(X, y))
    assert_usable(machine, X, y)


@every_class
def test_no_time_leaves_a_machine(cls, monkeypatch):
    X, _, y = fit_rows(seed=1)
    monkeypatch.setattr(progressive, "PANEL", 3)
    machine = cls(2.0, gamma=GAMMA, max_time=1e-9)
    with pytest.warns(ConvergenceWarning, match="max_time=1e-09 reached") as told:
        machine.fit(X, y)
    assert_usable(machine, X, y)
    kind = {ProgressiveLSSVM: "none", DCLSSVM: "stationary", BayesianLSSVM: "gap"}.get(cls, "monotone")
    assert machine.certificate_.kind in (kind, "no_flip" if kind == "monotone" else kind)
    assert machine.n_iter_ == (2 if cls is ProgressiveLSSVM else 1)
    words = {"none": "28 rows were left", "stationary": "violation", "gap": "at most", "monotone": "gain"}
    assert words[machine.certificate_.kind] in str(told[0].message)


@every_class
def test_the_balance_holds_when_time_is_up(cls, monkeypatch):
    X, _, y = fit_rows(seed=1)
    monkeypatch.setattr(progressive, "PANEL", 3)
    for share, wanted in ((0.3, 9), (0.9, 28)):
        with warnings.catch_warnings(action="ignore"):
            machine = cls(2.0, gamma=GAMMA, max_time=1e-9, balance=share, balance_tol=0.0).fit(X, y)
        assert (machine.transduction_[y == -1] == 2).sum() == wanted


@pytest.mark.parametrize("name", ["round robin", "steepest", "paper", "growth", "steps", "integer, searched"])
def test_a_callback_sees_every_step_and_can_stop(name, monkeypatch):
    monkeypatch.setattr(progressive, "PANEL", 3)
    problem = partly(2, u=40, balance=Count(0.45, 0.1), C=0.1, ratio=0.5)
    whole, seen = [], []
    SOLVERS[name].solve(problem, callback=lambda row: whole.append(row), rng=0)
    solution = SOLVERS[name].solve(problem, callback=lambda row: seen.append(row) or True, rng=0)
    assert len(whole) > 1
    assert solution.status == "stopped"
    assert len(seen) == 1
    assert_sound(problem, solution) if name != "growth" else None
    assert solution.objective == pytest.approx(objective(problem, solution.coef, solution.intercept, solution.labels))


@pytest.mark.parametrize("name", ["round robin", "steps"])
def test_a_limit_on_rounds_is_told(name):
    problem = partly(2, u=40, balance=Count(0.45, 0.1), C=0.1, ratio=0.5)
    free = SOLVERS[name].solve(problem, rng=0)
    assert free.n_iter > 2
    cut = type(SOLVERS[name])(max_iter=1).solve(problem, rng=0)
    assert cut.status == "max_iter"
    assert len(cut.trace) == cut.n_iter == (2 if name == "round robin" else 1)
    assert_sound(problem, cut)


# ---- several classes, weights, threads ----


@every_class
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_the_same_seed_gives_the_same_machine_whatever_the_threads(cls, multiclass):
    X, truth, y = fit_rows(31, 3)
    machines = [
        cls(
            2.0,
            gamma=GAMMA,
            multiclass=multiclass,
            random_state=0,
            n_jobs=jobs,
            coupling="pwc1",
            **({"exact": False} if cls is BayesianLSSVM else {}),
        ).fit(X, y)
        for jobs in (None, 1, 2, 2)
    ]
    for other in machines[1:]:
        np.testing.assert_array_equal(other.transduction_, machines[0].transduction_)
        np.testing.assert_array_equal(other.objective_, machines[0].objective_)
    np.testing.assert_array_equal(machines[0].transduction_[:14], truth[:14])
    assert machines[0].objective_.shape == (3,)
    assert np.mean(machines[0].transduction_ == truth) > 0.6


@every_class
def test_one_against_the_rest_is_a_machine_per_class(cls):
    X, _, y = fit_rows(10, 3)
    machine = cls(2.0, gamma=GAMMA, random_state=0).fit(X, y)
    for c in (1, 2, 3):
        binary = np.where(y == -1, -1, np.where(y == c, 1, 0))
        alone = cls(2.0, gamma=GAMMA, random_state=0)
        with pytest.warns(UserWarning, match="unlabeled=0"):
            alone.fit(X, binary)
        assert_close(machine.decision_function(X)[:, c - 1], alone.decision_function(X))
        assert machine.objective_[c - 1] == pytest.approx(alone.objective_, rel=1e-9)


@every_class
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_rows_of_no_weight_are_as_if_they_were_not_there(cls, kernel):
    X, _, y = fit_rows(16)
    weight = np.ones(len(y))
    weight[[3, 8, 15, 20, 29]] = 0.0
    knobs = {"kernel": kernel, "gamma": GAMMA, "balance": 0.4, "random_state": 0}
    kept = weight > 0
    machine, without = cls(2.0, **knobs).fit(X, y, sample_weight=weight), cls(2.0, **knobs).fit(X[kept], y[kept])
    assert_close(machine.decision_function(X), without.decision_function(X))
    np.testing.assert_array_equal(machine.transduction_[kept], without.transduction_)
    assert machine.objective_ == pytest.approx(without.objective_, rel=1e-9)
    np.testing.assert_array_equal(machine.transduction_[[15, 20, 29]], machine.predict(X[[15, 20, 29]]))
