"""The extrapolation of annealing: a move is made only where it lowers the free energy, and it saves solves."""

import numpy as np
import pytest

from factories import primal_problem
from semisvm.balance import Count, Free
from semisvm.solvers import Annealing, StoppingRule
from semisvm.solvers.primal import extrapolation
from semisvm.solvers.primal.extrapolation import Extrapolation
from semisvm.solvers.primal.newton_search import NewtonSearch
from semisvm.solvers.primal.operator import Iterate, PrimalOperator
from semisvm.solvers.primal.soft_labels import entropy, soft_labels

TEMPERATURE = 2.0


def free_energy(problem, theta):
    """At the best soft labels, in plain numpy."""
    operator, searched = PrimalOperator(problem), problem.searched
    w, b = operator.split(theta)
    f = problem.space.X @ w + b
    up, down = np.maximum(1.0 - f, 0.0) ** 2, np.maximum(1.0 + f, 0.0) ** 2
    p = np.where(problem.signs > 0, 1.0, 0.0)
    p[searched] = soft_labels((up - down)[searched], TEMPERATURE, 0.4, problem.weights_of(searched)).p
    cost = problem.cost[searched]
    bits = entropy(p[searched], cost) * cost.sum()
    return 0.5 * w @ w + problem.cost @ (p * up + (1.0 - p) * down) - TEMPERATURE * np.log(2.0) * bits


def feed(problem, thetas):
    """Give the points one after the other; returns where the search stands after the last."""
    search = NewtonSearch(problem, 1e-3, StoppingRule())
    path = Extrapolation(search, 0.4)
    for theta in thetas:
        w, b = search.operator.split(theta)
        search.iterate = Iterate(theta, problem.space.X @ w + b, 0.0, True)
        path.next_labels(TEMPERATURE)
    return search.iterate


@pytest.mark.parametrize("seed", range(6))
def test_a_move_lowers_the_free_energy_and_keeps_the_scores(seed):
    problem, rng = primal_problem(seed, 25, n_labeled=5, balance=Count(0.4)), np.random.default_rng(seed)
    first, step = 0.3 * rng.standard_normal(5), 0.1 * rng.standard_normal(5)
    for ratio in (0.1, 0.5, 0.8, 1.5):
        thetas = [first, first + step, first + (1.0 + ratio) * step]
        end = feed(problem, thetas)
        factor = 8.0 if ratio >= 1.0 else min(ratio / (1.0 - ratio), 8.0)
        target = thetas[-1] + factor * ratio * step
        lowers = free_energy(problem, target) < free_energy(problem, thetas[-1])
        expected = target if lowers and ratio > 0.3 else thetas[-1]
        np.testing.assert_allclose(end.theta, expected, atol=1e-12)
        w, b = PrimalOperator(problem).split(end.theta)
        np.testing.assert_allclose(end.f, problem.space.X @ w + b, atol=1e-12)


def test_two_points_are_too_few():
    problem, rng = primal_problem(0, 25, n_labeled=5, balance=Count(0.4)), np.random.default_rng(0)
    thetas = rng.standard_normal((2, 5))
    np.testing.assert_array_equal(feed(problem, thetas).theta, thetas[-1])
    np.testing.assert_array_equal(feed(problem, [thetas[0]] * 4).theta, thetas[0])  # no step is no reason to move


@pytest.mark.parametrize("balance", [Count(0.4), Free()], ids=str)
def test_annealing_needs_fewer_solves_and_ends_as_low(balance, monkeypatch):
    problems = [primal_problem(seed, 200, n_labeled=6, balance=balance, C_unlabeled=0.05) for seed in range(5)]
    moved = [Annealing().solve(problem) for problem in problems]
    monkeypatch.setattr(extrapolation, "MIN_RATIO", np.inf)
    plain = [Annealing().solve(problem) for problem in problems]
    assert sum(one.n_iter for one in moved) < 0.9 * sum(one.n_iter for one in plain)
    for one, other in zip(moved, plain):
        assert one.objective <= other.objective * (1 + 1e-3)
