"""An SVM that gains samples against SVMs trained cold on the same samples and an interior-point method."""

from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from factories import INTERCEPTS, random_problem
from references import kernel_svm_value
from semisvm.problem import objective_of_scores, violation
from semisvm.solvers.dual import SMO, IncrementalSVM, fixed_labels

N = 50
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
every_loss = pytest.mark.parametrize("losses", ["hinge", "squared_hinge"])


def weighted_problem(**options):
    """All samples labeled, with costs that differ; and an order in which they come that begins with both classes."""
    problem = random_problem(0, 0, n_labeled=N, n_features=3, cost_spread=0.8, **options)
    rng, y = np.random.default_rng(1), problem.signs
    first = np.array([np.flatnonzero(y > 0)[0], np.flatnonzero(y < 0)[0]])
    return problem, np.r_[first, rng.permutation(np.setdiff1d(np.arange(N), first))]


def grow(problem, order, tol=1e-7, largest=3):
    """An SVM to which the samples are added, one to three at a time; yields it with the samples added so far."""
    svm, rng, n = IncrementalSVM(problem, SMO(tol)), np.random.default_rng(2), 0
    while n < len(order):
        block = order[n : max(2, n + int(rng.integers(1, largest + 1)))]
        svm.add(block, problem.signs[block])
        n += len(block)
        yield svm, order[:n]


def problem_of(problem, samples):
    """The problem of the samples added so far."""
    return replace(problem, signs=np.where(np.isin(np.arange(N), samples), problem.signs, 0.0), unlabeled=None)


@every_loss
@every_intercept
@pytest.mark.parametrize("space", ["rbf", "features"])
def test_added_samples_give_the_svm_of_a_cold_start(space, intercept, losses):
    problem, order = weighted_problem(space=space, intercept=intercept, losses=losses)
    n_blocks = 0
    for svm, samples in grow(problem, order):
        n_blocks += 1
        if n_blocks % 5 == 0 or len(samples) == N:
            expected = SMO(1e-7).solve(problem_of(problem, samples)).scores
            np.testing.assert_allclose(svm.scores(np.arange(N)), expected, rtol=0, atol=1e-5 * np.abs(expected).max())
    assert n_blocks > 15
    np.testing.assert_array_equal(svm.scores(np.array([7, 7, 2])), svm.scores(np.arange(N))[[7, 7, 2]])
    assert not svm.interrupted


@every_loss
@every_intercept
def test_svm_of_the_added_samples_is_optimal(intercept, losses):
    problem, order = weighted_problem(intercept=intercept, losses=losses)
    *_, (svm, samples) = grow(problem, order[:35])
    a, f, now = svm._trainer.point.a[:N], svm.scores(np.arange(N)), problem_of(problem, samples)
    assert not a[order[35:]].any()
    assert violation(now, a, f) < 1e-6
    b = svm._trainer.point.b if intercept is True else a.sum() if intercept else 0.0
    np.testing.assert_allclose(f, problem.space.compute() @ a + b, atol=1e-6)
    value = objective_of_scores(now, a @ problem.space.product(a), f, b)
    assert value == pytest.approx(kernel_svm_value(problem, now.signs), rel=1e-5)


@every_loss
def test_start_from_the_last_svm_takes_fewer_pair_steps(losses):
    problem, order = weighted_problem(losses=losses)
    warm, cold = IncrementalSVM(problem, SMO()), IncrementalSVM(problem, SMO())
    warm.add(order[:-3], problem.signs[order[:-3]])
    before = warm._trainer.n_pair_steps
    warm.add(order[-3:], problem.signs[order[-3:]])
    cold.add(order, problem.signs[order])
    assert warm._trainer.n_pair_steps - before < 0.75 * cold._trainer.n_pair_steps
    assert warm._trainer.objective() == pytest.approx(cold._trainer.objective(), rel=1e-4)


def test_tolerance_is_kept_and_a_loose_one_is_loose(monkeypatch):
    monkeypatch.setattr(fixed_labels, "newton_point", lambda *arguments: None)  # which is exact whatever tol is
    problem, order = weighted_problem(C=20.0)
    found = {tol: list(grow(problem, order, tol))[-1][0]._trainer.point.violation for tol in (1e-1, 1e-4)}
    assert found[1e-4] <= 1e-4 < found[1e-1] <= 1e-1


def test_every_training_has_its_own_pair_steps_and_time(monkeypatch):
    clock = SimpleNamespace(now=0.0)
    monkeypatch.setattr("semisvm.solvers.base.time", SimpleNamespace(perf_counter=lambda: clock.now))
    problem, order = weighted_problem()
    svm = IncrementalSVM(problem, SMO(1e-8, max_iter=2, max_time=10.0))
    for block in (order[:30], order[30:]):
        before, clock.now = svm._trainer.n_pair_steps, clock.now + 7.0
        svm.add(block, problem.signs[block])
        assert svm._trainer.point.status == "max_iter"
        assert svm._trainer.n_pair_steps - before == 2
        assert svm._trainer.stop.time_left == 10.0
    assert not svm.interrupted


def test_ctrl_c_in_a_training_is_reported_and_the_next_one_goes_on(end_pair_steps):
    problem, order = weighted_problem()
    svm = IncrementalSVM(problem, SMO(1e-7))
    end_pair_steps(2, "interrupted")
    svm.add(order[:20], problem.signs[order[:20]])
    assert not svm.interrupted
    before = svm.scores(np.arange(N))
    svm.add(order[20:30], problem.signs[order[20:30]])
    assert svm.interrupted
    np.testing.assert_allclose(svm.scores(np.arange(N)), before, atol=1e-5)
    svm.add(order[30:40], problem.signs[order[30:40]])
    assert svm.interrupted
    expected = SMO(1e-7).solve(problem_of(problem, order[:40])).scores
    np.testing.assert_allclose(svm.scores(np.arange(N)), expected, atol=1e-5)
