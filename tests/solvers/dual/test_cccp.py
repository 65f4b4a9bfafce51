"""The concave-convex procedure: monotone, stationary, above the best labeling, and equal to the SVM in the limits."""

import itertools
from dataclasses import replace

import numpy as np
import pytest

from factories import make_space, random_problem
from references import best_labeling, svm_value
from semisvm.balance import Free, Mean
from semisvm.losses import Ramp, SquaredHinge, SymmetricHinge, SymmetricRamp
from semisvm.problem import balance_residual, violation
from semisvm.solvers.dual import CCCP, SMO, cccp, convex


def ramp_problem(seed=0, n_unlabeled=40, s=-0.3, labeled=None, **options):
    defaults = {"n_labeled": 6, "C_unlabeled": 0.4, "gamma": 0.5, "balance": Mean(0.1)}
    problem = random_problem(seed, n_unlabeled, losses="ramp", **(defaults | options))
    return replace(problem, unlabeled=SymmetricRamp(s), labeled=problem.labeled if labeled is None else labeled)


def outliers(seed=0, n=150, s=-1.0, **options):
    """A supervised problem of overlapping classes with the ramp loss."""
    problem = random_problem(seed, 0, n_labeled=n, n_features=4, separation=0.3, **options)
    return replace(problem, labeled=Ramp(s))


def objectives(solution):
    return np.array([row["objective"] for row in solution.trace])


# ---- descent ----


@pytest.mark.parametrize("s", [0.0, -0.1, -0.9])
@pytest.mark.parametrize("balance", [Mean(0.1), Free()], ids=str)
@pytest.mark.parametrize(("intercept", "C"), [(True, 0.5), (False, 5.0), ("regularized", 50.0)])
def test_objective_never_increases_and_ends_at_a_stationary_point(intercept, C, balance, s):
    problem = ramp_problem(s=s, balance=balance, C=C, C_unlabeled=0.2 * C, intercept=intercept, cost_spread=0.5)
    solution = CCCP(tol=1e-6).solve(problem)
    path = objectives(solution)
    assert (np.diff(path) <= 1e-8 * path[0]).all()
    assert path[-1] == pytest.approx(solution.objective, rel=1e-9)
    assert solution.status == "converged"
    assert len(path) == solution.n_iter
    assert violation(problem, solution.multipliers, solution.scores) < 1e-5
    assert balance_residual(problem, solution.scores, solution.labels) < 1e-6


@pytest.mark.parametrize("weighted", [False, True])
def test_mean_is_exact_where_the_intercept_is_free(weighted):
    for seed, labeled in ((0, None), (1, SquaredHinge())):
        problem = ramp_problem(seed, weighted=weighted, labeled=labeled)
        solution = CCCP().solve(problem)
        assert problem.mean_weights @ solution.scores == pytest.approx(0.1, abs=1e-12)
        assert violation(problem, solution.multipliers, solution.scores) < 1e-3


def test_tangents_are_renewed_until_none_changes():
    """The step at the first tangents is not the last: the objective decreases with those of its own scores."""
    decrease = 0.0
    for seed in range(4):
        path = objectives(CCCP(tol=1e-6).solve(ramp_problem(seed, C=10.0, C_unlabeled=5.0)))
        decrease = max(decrease, path[1] - path[-1])
    assert decrease > 0.1


# ---- against enumeration ----


@pytest.mark.parametrize("mean", [0.1, None])
def test_symmetric_hinge_is_not_below_the_best_labeling(mean):
    n_best = 0
    for seed in range(6):
        balance = Free() if mean is None else Mean(mean)
        problem = ramp_problem(seed, 6, s=0.0, n_labeled=4, C=3.0, C_unlabeled=1.5, balance=balance)
        solution = CCCP(tol=1e-8).solve(problem)
        best = best_labeling(problem.space.compute(), problem.signs, problem.cost, mean)
        assert solution.objective >= best - 1e-5
        n_best += solution.objective <= best + 1e-4
    assert n_best >= 2


def test_ramp_is_not_below_the_best_set_of_samples_left_out():
    """A sample beyond the ramp costs 1 - s, wherever it is: enumerate which ones are."""
    n_best = 0
    for seed in range(3):
        problem = outliers(seed, 8, s=-0.2, C=5.0, gamma=0.5)
        K, y, best = problem.space.compute(), problem.signs, np.inf
        for pattern in itertools.product([False, True], repeat=8):
            kept = ~np.array(pattern)
            if len(set(y[kept])) == 2:
                value = svm_value(K[np.ix_(kept, kept)], y[kept], problem.cost[kept]) + 5.0 * 1.2 * (~kept).sum()
                best = min(best, value)
        found = CCCP(tol=1e-8).solve(problem).objective
        assert found >= best - 1e-5
        n_best += found <= best + 1e-4
    assert n_best >= 1


# ---- limit cases ----


def test_objective_is_that_of_the_article_up_to_its_constant():
    """Which counts every unlabeled sample twice, with both labels."""
    problem = ramp_problem(1)
    solution = CCCP(tol=1e-8).solve(problem)
    f, known, s = solution.scores, problem.is_labeled, problem.unlabeled.s

    def ramp(t):
        return np.minimum(1.0 - s, np.maximum(1.0 - t, 0.0))

    article = (
        0.5 * problem.space.norm2(solution.coef)
        + problem.cost[known] @ np.maximum(1.0 - problem.signs[known] * f[known], 0.0)
        + problem.cost[~known] @ (ramp(f[~known]) + ramp(-f[~known]))
    )
    assert solution.objective == pytest.approx(article - problem.cost[~known].sum() * (1.0 - s))


def test_symmetric_hinge_is_the_ramp_at_zero():
    ramp = ramp_problem(2, s=0.0)
    hinge = replace(ramp, unlabeled=SymmetricHinge())
    assert CCCP(tol=1e-7).solve(hinge).objective == pytest.approx(CCCP(tol=1e-7).solve(ramp).objective, rel=1e-9)


def test_ramp_that_is_not_reached_is_the_hinge():
    problem = outliers(s=-1e6)
    ramp = CCCP(tol=1e-7).solve(problem)
    svm = SMO(tol=1e-7).solve(replace(problem, labeled=random_problem().labeled))
    assert ramp.objective == pytest.approx(svm.objective, rel=1e-9)
    assert ramp.n_iter <= 2


@pytest.mark.parametrize("s", [-1.0, -0.3, 0.0, 0.5])
@pytest.mark.parametrize("init", ["svm", "subset"])
def test_no_sample_beyond_the_ramp_is_a_support_vector(init, s, monkeypatch):
    monkeypatch.setattr(cccp, "SUBSET_SIZE", 30)
    problem = outliers(s=s)
    solution = CCCP(init, tol=1e-7).solve(problem, rng=0)
    beyond = problem.signs * solution.scores < s - 1e-6
    assert beyond.any()
    assert not solution.multipliers[beyond].any()
    assert (np.diff(objectives(solution)) <= 1e-9).all()
    assert solution.certificate.value < 1e-5


def test_subset_of_the_start_is_drawn_from_both_classes_by_its_seed(monkeypatch):
    monkeypatch.setattr(cccp, "SUBSET_SIZE", 10)
    problem = outliers(n=200, s=0.0)
    for seed in range(3):
        left_out = cccp._outside_subset(problem, seed)
        for sign in (-1.0, 1.0):
            members = problem.signs == sign
            assert (~left_out & members).sum() == np.ceil(0.1 * members.sum())
    first, same, other = (objectives(CCCP("subset").solve(problem, rng=seed))[0] for seed in (0, 0, 1))
    assert same == pytest.approx(first, rel=1e-12)  # products of BLAS depend on where in memory the arrays begin
    assert abs(other - first) > 1e-6 * first


# ---- starts and ends ----


def test_start_at_a_solution_stays_there():
    problem = ramp_problem()
    best = CCCP(tol=1e-7).solve(problem)
    again = CCCP(tol=1e-7).solve(problem, start=best)
    assert again.objective <= best.objective * (1 + 1e-9)
    assert again.n_iter <= 2


@pytest.mark.parametrize("max_iter", [1, 2])
def test_max_iter_is_the_number_of_convex_steps(max_iter):
    solution = CCCP(max_iter=max_iter).solve(ramp_problem(2, C=10.0, C_unlabeled=5.0))
    assert solution.status == "max_iter"
    assert len(solution.trace) == max_iter + 1
    assert objectives(solution)[-1] == pytest.approx(solution.objective, rel=1e-9)


@pytest.mark.parametrize("status", ["interrupted", "max_time", "max_iter"])
@pytest.mark.parametrize("call", [1, 2, 3])
def test_early_end_within_a_convex_step_is_reported_with_a_consistent_point(status, call, monkeypatch):
    """The first call solves for the start; a step that increased the objective is not returned."""
    problem, n_calls = ramp_problem(C=10.0, C_unlabeled=5.0), 0
    run = convex.solve_dual

    def end_early(dual, start, tol, stop, **options):
        nonlocal n_calls
        n_calls += 1
        if n_calls < call:
            return run(dual, start, tol, stop, **options)

        def callback(row):
            if status == "interrupted":
                raise KeyboardInterrupt
            stop.end(status)

        stop.callback, stop.max_iter = callback, 3
        return run(dual, start, tol, stop, **options)

    monkeypatch.setattr(convex, "solve_dual", end_early)
    solution = CCCP(tol=1e-6).solve(problem)
    path = objectives(solution)
    assert solution.status == ("stalled" if status == "max_iter" else status)  # that of the convex steps is not reached
    assert n_calls == call
    assert (np.diff(path) <= 1e-8 * path[0]).all()
    assert path[-1] == pytest.approx(solution.objective, rel=1e-9)


# ---- the limit of the arithmetic ----


@pytest.mark.parametrize("tol", [1e-12, 1e-15])
def test_tolerance_below_the_arithmetic_ends_where_a_larger_one_ends(tol):
    problem = ramp_problem(2, 80, n_labeled=20, n_features=50, gamma=0.01, C=10.0, C_unlabeled=2.5, separation=0.1)
    expected, tight = CCCP(tol=1e-6).solve(problem), CCCP(tol=tol).solve(problem)
    assert tight.objective == pytest.approx(expected.objective, rel=1e-6)
    assert tight.status in ("converged", "stalled")
    assert (tight.status == "converged") == (tight.certificate.value <= tol)


def test_scale_of_the_samples_does_not_matter():
    problem = ramp_problem(1, 80, n_labeled=20, n_features=50, space="linear", C=0.2, C_unlabeled=0.05, separation=0.1)
    scaled = replace(problem, space=make_space(1e10 * problem.space.X, "linear"), cost=1e-20 * problem.cost)
    small, large = CCCP().solve(problem), CCCP().solve(scaled)
    assert large.status == small.status == "converged"
    assert 1e20 * large.objective == pytest.approx(small.objective, rel=1e-3)


def test_limit_of_pair_steps_is_not_called_a_limit_of_convex_steps(monkeypatch):
    monkeypatch.setattr(convex, "MAX_PAIR_STEPS", 3)
    assert CCCP().solve(ramp_problem()).status == "stalled"
