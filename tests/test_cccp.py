"""CCCP against enumeration, an interior-point solver, its own monotony, and limit cases."""

import numpy as np
import pytest
from sklearn.datasets import make_blobs, make_classification, make_moons

from judges import best_labeling, machine_value, maximise_dual
from semisvm import CCCPTSVM, SVM, RampSVM
from semisvm.balance import Free, Mean
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.kernels import Kernel
from semisvm.losses import Hinge, Ramp, SquaredHinge, SymmetricHinge, SymmetricRamp
from semisvm.problem import Problem, imbalance, objective, violation
from semisvm.solvers import CCCP
from semisvm.solvers.dual import bend, formulate, read
from semisvm.solvers.smo import solve_dual
from semisvm.spaces import Gram


def partly(seed, n_labeled=6, n_unlabeled=40, C=2.0, ratio=0.2, s=-0.3, balance=True, loss=None, gamma=0.5):
    rng = np.random.default_rng(seed)
    X, y = make_moons(n_labeled + n_unlabeled, noise=0.2, random_state=seed)
    signs = np.zeros(len(y))
    signs[:n_labeled] = 2.0 * y[:n_labeled] - 1.0
    signs[0], signs[1] = 1.0, -1.0
    X += 0.1 * rng.standard_normal(X.shape)
    cost = np.where(signs != 0, C, ratio * C)
    wanted = Mean(signs[signs != 0].mean()) if balance else Free()
    labeled = Hinge() if loss is None else loss
    return Problem(Gram(Kernel("rbf", gamma), X), signs, cost, labeled, SymmetricRamp(s), wanted)


@pytest.mark.parametrize("s", [0.0, -0.1, -0.3, -0.9])
@pytest.mark.parametrize("balance", [True, False])
@pytest.mark.parametrize("seed", range(5))
def test_objective_never_rises_and_ends_stationary(seed, balance, s):
    problem = partly(seed, s=s, balance=balance, C=[0.5, 5.0, 50.0][seed % 3])
    solution = CCCP(tol=1e-6).solve(problem)
    path = np.array([row["objective"] for row in solution.trace])
    assert (np.diff(path) <= 1e-8 * path[0]).all()
    assert solution.status == "converged"
    assert violation(problem, solution.multipliers, solution.scores) < 1e-5
    assert solution.objective == objective(problem, solution.coef, solution.intercept)
    assert solution.objective == pytest.approx(path.min(), rel=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_balance_is_met(seed):
    problem = partly(seed)
    solution = CCCP().solve(problem)
    assert imbalance(problem, solution.scores, solution.labels) < 1e-9
    weighted = problem._replace(weights=np.random.default_rng(seed).uniform(0.5, 2.0, problem.space.n))
    assert imbalance(weighted, CCCP().solve(weighted).scores, solution.labels) < 1e-9


@pytest.mark.parametrize("balance", [True, False])
def test_enumeration_bounds_the_symmetric_hinge_from_below(balance):
    reached = 0
    for seed in range(8):
        problem = partly(seed, 4, 6, C=3.0, ratio=0.5, s=0.0, balance=balance)
        solution = CCCP(tol=1e-8).solve(problem)
        mean = problem.balance.m if balance else None
        best = best_labeling(problem.space.whole, problem.signs, problem.cost, mean)
        assert solution.objective >= best - 1e-5
        reached += solution.objective <= best + 1e-4
    assert reached >= 2  # the bound is not an empty one


@pytest.mark.parametrize("seed", range(4))
def test_a_convex_step_is_the_two_copy_dual(seed):
    """Both copies of every unlabeled row as coordinates of their own, solved by an interior-point method."""
    problem = partly(seed, 5, 7, balance=False)
    start = formulate(problem)
    f = read(problem, start, solve_dual(start, tol=1e-8))[0]
    point = solve_dual(bend(problem, start, f), tol=1e-9)
    known, s = problem.is_labeled, problem.unlabeled.s
    rows = np.r_[np.flatnonzero(known), np.flatnonzero(~known), np.flatnonzero(~known)]
    u = int((~known).sum())
    y = np.r_[problem.signs[known], np.ones(u), -np.ones(u)]
    c = problem.cost[rows]
    beta = np.where(np.arange(len(rows)) >= known.sum(), c * (y * f[rows] < s), 0.0)
    lo, hi = np.where(y > 0, -beta, beta - c), np.where(y > 0, c - beta, beta)
    _, best = maximise_dual(problem.space.whole[np.ix_(rows, rows)], lo, hi, y)
    K, dual = problem.space.whole, bend(problem, start, f)
    gain = dual.slope @ np.minimum(point.a, dual.mid) + dual.high_slope @ np.maximum(point.a - dual.mid, 0.0)
    ours = gain - 0.5 * point.a @ K @ point.a
    # at a kink the copy for label -1 rests at its lower end -(c - beta) and both copies together gain twice that
    assert best - ours == pytest.approx(2.0 * (c - beta)[-u:].sum(), abs=1e-6)


def test_objective_is_that_of_the_paper_up_to_its_constant():
    problem = partly(1)
    solution = CCCP(tol=1e-8).solve(problem)
    f, known, s = solution.scores, problem.is_labeled, problem.unlabeled.s
    ramp = lambda t: np.minimum(1.0 - s, np.maximum(1.0 - t, 0.0))  # noqa: E731
    paper = (
        0.5 * problem.space.norm2(solution.coef)
        + problem.cost[known] @ np.maximum(1.0 - problem.signs[known] * f[known], 0.0)
        + problem.cost[~known] @ (ramp(f[~known]) + ramp(-f[~known]))
    )
    assert solution.objective == pytest.approx(paper - problem.cost[~known].sum() * (1.0 - s))


@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_unlabeled_rows_at_no_cost_leave_the_svm(kernel):
    X, y = make_two_gaussians(200, 10, 0.4, random_state=0)
    partial = hide_labels(y, 40, random_state=0)
    free = CCCPTSVM(1.0, C_unlabeled=0.0, balance=None, kernel=kernel, tol=1e-7).fit(X, partial)
    svm = SVM(1.0, kernel=kernel, gamma=free.gamma_, tol=1e-7).fit(X, partial)
    np.testing.assert_allclose(free.decision_function(X), svm.decision_function(X), atol=1e-6)
    assert free.objective_ == pytest.approx(svm.objective_, rel=1e-8)
    np.testing.assert_allclose(free.supervised_.decision_function(X), svm.decision_function(X), atol=1e-6)


def test_no_unlabeled_rows_is_the_svm():
    X, y = make_two_gaussians(80, 10, 0.4, random_state=0)
    both = CCCPTSVM(1.0, tol=1e-7).fit(X, y), SVM(1.0, gamma="median", tol=1e-7).fit(X, y)
    np.testing.assert_allclose(both[0].decision_function(X), both[1].decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(both[0].transduction_, y)


def test_symmetric_hinge_is_the_ramp_at_zero():
    ramp = partly(2, s=0.0)
    hinge = ramp._replace(unlabeled=SymmetricHinge())
    assert CCCP(tol=1e-7).solve(hinge).objective == pytest.approx(CCCP(tol=1e-7).solve(ramp).objective, rel=1e-9)


def test_squared_hinge_on_labeled_rows():
    problem = partly(3, loss=SquaredHinge())
    solution = CCCP(tol=1e-7).solve(problem)
    assert violation(problem, solution.multipliers, solution.scores) < 1e-6
    assert imbalance(problem, solution.scores, solution.labels) < 1e-9


def test_unlabeled_rows_help_where_the_classes_are_clusters():
    X, y = make_blobs(300, 5, centers=2, cluster_std=2.0, random_state=1)
    partial = hide_labels(y + 1, 4, random_state=0)
    hidden = partial == -1
    machine = CCCPTSVM().fit(X, partial)
    assert np.mean(machine.transduction_[hidden] != y[hidden] + 1) < 0.02


def outliers(n=300, seed=0):
    X, y = make_classification(n, 4, n_informative=3, n_redundant=0, flip_y=0.2, random_state=seed)
    return X, 2.0 * y - 1.0


@pytest.mark.parametrize("s", [-1.0, -0.3, 0.0, 0.5])
@pytest.mark.parametrize("init", ["svm", "subset"])
def test_no_row_beyond_the_ramp_is_a_support_vector(init, s):
    X, y = outliers()
    machine = RampSVM(s=s, init=init, unlabeled=None, tol=1e-7, random_state=0).fit(X, y)
    margin = y * machine.decision_function(X)
    assert not np.isin(np.flatnonzero(margin < s - 1e-6), machine.support_).any()
    assert (np.diff(machine.objective_path_) <= 1e-9).all()
    assert machine.certificate_.value < 1e-5


def test_a_ramp_cut_far_away_is_the_svm():
    X, y = outliers()
    ramp = RampSVM(s=-1e6, unlabeled=None, tol=1e-7).fit(X, y)
    svm = SVM(unlabeled=None, tol=1e-7).fit(X, y)
    assert ramp.objective_ == pytest.approx(svm.objective_, rel=1e-9)
    assert ramp.n_iter_ <= 2


def test_ramp_is_no_worse_than_any_labeling_says():
    """A ramp of height 1 - s leaves rows out at that price: enumerate which ones."""
    for seed in range(4):
        X, y = outliers(9, seed)
        problem = Problem(Gram(Kernel("rbf", 0.5), X), y, np.full(9, 5.0), Ramp(-0.2))
        K, best = problem.space.whole, np.inf
        for left_out in range(2**9):
            out = np.array([left_out >> i & 1 for i in range(9)], dtype=bool)
            if (~out).sum() and len(set(y[~out])) == 2:
                kept = ~out
                value = machine_value(K[np.ix_(kept, kept)], y[kept], problem.cost[kept]) + 5.0 * 1.2 * out.sum()
                best = min(best, value)
        assert CCCP(tol=1e-8).solve(problem).objective >= best - 1e-5


def test_subset_start_draws_by_its_seed(monkeypatch):
    X, y = outliers(1500)
    monkeypatch.setattr("semisvm.solvers.cccp.SUBSET_ROWS", 50)
    fits = [RampSVM(s=0.0, init="subset", unlabeled=None, random_state=seed).fit(X, y) for seed in (0, 0, 1)]
    assert fits[0].objective_ == fits[1].objective_
    assert fits[0].objective_path_[0] != fits[2].objective_path_[0]


def test_start_from_given_multipliers_is_not_left_for_a_worse_point():
    problem = partly(0)
    best = CCCP(tol=1e-7).solve(problem)
    again = CCCP(tol=1e-7).solve(problem, start=best)
    assert again.objective <= best.objective * (1 + 1e-9)
    assert again.n_iter <= 2


def test_a_callback_sees_every_step_and_can_stop():
    seen = []
    solution = CCCP().solve(partly(0), callback=lambda row: seen.append(row) or len(seen) == 2)
    assert solution.status == "stopped"
    assert len(seen) == len(solution.trace) == 2
