"""Solutions of SMO whose tolerance alone says little about the objective, against closed forms and interior points."""

from dataclasses import replace

import numpy as np
import pytest

from factories import random_problem
from references import assert_close, linear_svm
from semisvm.balance import Mean
from semisvm.losses import Hinge, SymmetricRamp
from semisvm.problem import Problem
from semisvm.solvers.base import StoppingRule
from semisvm.solvers.dual import CCCP, SMO, SupervisedSVM, smo, solve_dual
from semisvm.solvers.dual.dual_problem import LastBlock, build_dual, primal_values
from semisvm.solvers.dual.duality_gap import MAX_GAP, duality_gap
from semisvm.spaces import Gram, Kernel


def one_class(seed, n=400):
    """Samples x and -x of one class: w = 0 and b = 1 is the solution, of objective 1/2, if C is at least 1/n."""
    X = np.random.default_rng(seed).standard_normal((n // 2, 2))
    space = Gram(Kernel("linear"), np.r_[X, -X])
    return Problem(space, np.ones(n), np.ones(n), Hinge(), intercept="regularized")


@pytest.mark.parametrize("solver", [SMO(), SupervisedSVM()], ids=lambda solver: type(solver).__name__)
@pytest.mark.parametrize("seed", range(3))
def test_one_class_with_a_regularized_intercept_has_the_objective_of_a_half(solver, seed):
    """A violation of tol at all samples is n C tol = 0.4 in the objective."""
    for sign in (1.0, -1.0):
        problem = one_class(seed)
        solution = solver.solve(replace(problem, signs=sign * problem.signs))
        assert solution.status == "converged"
        assert 0.5 - 1e-12 <= solution.objective <= 0.5 * (1.0 + 2.0 * MAX_GAP)
        assert solution.certificate.gap <= MAX_GAP * solution.objective
        assert solution.intercept == pytest.approx(sign, abs=1e-3)


def test_labels_of_one_class_in_a_convex_step_have_the_objective_of_a_half():
    """The labeled samples are x and -x, and with f = 1 the unlabeled ones cost nothing."""
    problem = one_class(1, n=600)
    signs = np.where(np.arange(600) % 300 < 200, 1.0, 0.0)
    solution = CCCP().solve(replace(problem, signs=signs, unlabeled=SymmetricRamp(-0.3)))
    assert solution.status == "converged"
    assert 0.5 - 1e-12 <= solution.objective <= 0.5 * (1.0 + 2e-3)


@pytest.mark.parametrize("solver", [SMO(tol=0.3), SupervisedSVM(tol=0.3)], ids=lambda solver: type(solver).__name__)
def test_tighter_tolerances_start_with_the_same_block_of_the_kernel_matrix(solver, monkeypatch):
    """A pair of classes among other samples: its block is gathered once, and f elsewhere is not followed."""
    problem, gathered, followed = random_problem(4, 0, n_labeled=120, n_features=3, separation=0.3), [], []
    space = Gram(Kernel("precomputed"), problem.space.compute().astype(np.float32))  # not solved exactly at the end
    problem = replace(problem, space=space, cost=np.where(np.arange(120) < 50, problem.cost, 0.0))
    block, run = Gram.block, smo._steps_on_block
    monkeypatch.setattr(Gram, "block", lambda gram, index: gathered.append(index) or block(gram, index))
    monkeypatch.setattr(smo, "_steps_on_block", lambda *args: followed.append(args[3]) or run(*args))
    solution = solver.solve(problem)
    gathered = [samples for samples in gathered if len(samples) < 120]  # not those whose definiteness is probed
    assert len(gathered) == 1 < len(followed)
    for samples in (*gathered, *followed):
        np.testing.assert_array_equal(samples, np.arange(50))
    assert_close(solution.scores, problem.space.scores(solution.coef, solution.intercept))
    assert solution.certificate.gap <= MAX_GAP * solution.objective


def test_the_block_that_is_kept_is_that_of_the_samples():
    gram, last = Gram(Kernel("rbf", 0.5), np.random.default_rng(0).standard_normal((9, 2))), LastBlock()
    for samples in (np.arange(4), np.arange(4), np.arange(5), np.array([1, 3, 5, 7])):
        np.testing.assert_array_equal(last.of(gram, samples), gram.block(samples))


def test_limit_of_pair_steps_holds_for_all_tolerances_together():
    n_iter = SMO().solve(one_class(1)).n_iter
    early = SMO(max_iter=n_iter - 1).solve(one_class(1))
    assert (early.status, early.n_iter) == ("max_iter", n_iter - 1)


@pytest.mark.parametrize("intercept", [True, False, "regularized"])
def test_gap_of_pair_steps_with_a_mean_is_the_distance_to_the_best_objective_at_most(intercept):
    """Where the intercept is not free the mean holds within the tolerance only, and the gap has a term for it."""
    problem = random_problem(
        3, 20, n_labeled=30, n_features=3, space="features", balance=Mean(0.3), intercept=intercept, C=5.0
    )
    supervised, dual = replace(problem, unlabeled=None), build_dual(problem)
    mean = problem.mean_weights, problem.fixed_mean
    best = linear_svm(problem.space.X, problem.signs, problem.cost, intercept, norm=2, mean=mean)[2]
    for n_steps in (5, 20, 100, 10_000):
        point = solve_dual(dual, None, 1e-9, StoppingRule(n_steps))
        values = primal_values(supervised, dual, point)
        gap = duality_gap(supervised, dual, point, values)
        assert values.objective(supervised) - best <= gap + 1e-6
    assert gap <= 1e-6
