"""The system of a problem: its samples, its form, and solutions from labels."""

from dataclasses import replace

import numpy as np
import pytest

from factories import INTERCEPTS, make_space, random_costs, random_labels, random_problem, random_samples
from references import assert_close, kernel_matrix, least_squares_svm
from semisvm.problem import objective
from semisvm.solvers.least_squares.dense_form import DenseForm
from semisvm.solvers.least_squares.low_rank_form import LowRankForm
from semisvm.solvers.least_squares.system import (
    build_dense_form,
    build_system,
    exact_form_bytes,
    solution_from_labels,
    solve_labeled,
    system_samples,
)
from semisvm.spaces import Kernel

every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
SPACES = {"rbf": {}, "few features": {"space": "csr"}, "many features": {"space": "features", "n_features": 30}}
every_space = pytest.mark.parametrize("space", SPACES)


def squared_problem(space="rbf", **options):
    """A problem with three samples of cost zero, one of them labeled."""
    defaults = {"losses": "squared", "n_zero_weight": 3, "weighted": True, "separation": 0.3}
    return random_problem(0, 9, **(defaults | SPACES[space] | options))


@every_space
def test_samples_of_a_system_have_a_cost_and_labeled_ones_come_first_in_a_dense_form(space):
    problem = squared_problem(space)
    (samples, is_dense), system = system_samples(problem), build_system(problem)
    np.testing.assert_array_equal(np.sort(samples), np.flatnonzero(problem.cost > 0))
    np.testing.assert_array_equal(system.samples, samples)
    np.testing.assert_array_equal(system.labeled, np.flatnonzero(problem.signs[samples]))
    np.testing.assert_array_equal(system.searched, np.flatnonzero(problem.signs[samples] == 0))
    assert is_dense == isinstance(system.form, DenseForm) == (space != "few features")
    if is_dense:
        assert system.labeled.max() < system.searched.min()
    np.testing.assert_array_equal(system.form.cost, problem.cost[samples])
    alone = build_system(problem.labeled_only())
    np.testing.assert_array_equal(alone.samples, np.flatnonzero(problem.is_labeled & (problem.cost > 0)))
    assert not len(alone.searched)


def test_form_is_dense_unless_samples_outnumber_features_and_intercept():
    for n, dense in ((5, True), (6, True), (7, False)):
        problem = random_problem(0, n - 2, n_labeled=2, n_features=5, losses="squared", space="features")
        assert isinstance(build_system(problem).form, DenseForm if dense else LowRankForm)


def test_form_is_computed_once_for_all_labels_and_again_for_other_costs_or_intercepts():
    problem = squared_problem()
    form = build_system(problem).form
    assert build_system(replace(problem, signs=-problem.signs)).form is form
    assert build_system(replace(problem, cost=2.0 * problem.cost)).form is not form
    assert build_system(replace(problem, intercept=False)).form is not form
    assert build_system(problem.labeled_only()).form is not form


@every_intercept
@pytest.mark.parametrize("n_samples, memory", [(10, "1e9"), (20, "1e9"), (20, "6800")])
def test_dense_form_does_not_depend_on_where_kernel_values_come_from(n_samples, memory, intercept, monkeypatch):
    """Fewer and more than half of 30 samples, whose matrix takes 7200 bytes."""
    monkeypatch.setenv("SEMISVM_MEMORY", memory)
    X, y, cost = random_samples(30), random_labels(n_samples), random_costs(n_samples)
    samples = np.random.default_rng(0).permutation(30)[:n_samples]
    form = build_dense_form(make_space(X), samples, cost, intercept)
    K = kernel_matrix(Kernel("rbf", 0.3), X[samples])
    assert_close(form.product(y), least_squares_svm(K, cost, y, intercept)[0])


def test_forms_above_the_memory_limit_are_refused(monkeypatch):
    dense, low_rank = squared_problem(n_zero_weight=0), squared_problem("few features", n_zero_weight=0)
    for problem, needed in ((dense, exact_form_bytes(13, 8)), (low_rank, 8 * 13 * 3)):
        monkeypatch.setenv("SEMISVM_MEMORY", str(needed - 1))
        with pytest.raises(MemoryError, match=r"approximation='nystroem' or raise SEMISVM_MEMORY\.$"):
            build_system(problem)
        monkeypatch.setenv("SEMISVM_MEMORY", str(needed))
        assert build_system(problem).form.n == 13
    assert exact_form_bytes(13, 8) == 2 * 8 * 13**2


@every_space
@every_intercept
@pytest.mark.parametrize("soft", [False, True])
def test_solution_from_labels_is_the_model_of_these_labels(space, intercept, soft):
    problem = squared_problem(space, intercept=intercept)
    system = build_system(problem)
    y = problem.signs[system.samples].copy()
    y[system.searched] = np.random.default_rng(1).uniform(-1.0, 1.0, 9)
    y = y if soft else np.where(y > 0, 1.0, -1.0)
    solution = solution_from_labels(problem, system, y, soft)
    targets = np.zeros(len(problem.signs))
    targets[system.samples] = y
    K = np.asarray(problem.space.gram().compute())
    alpha, b, f = least_squares_svm(K, problem.cost, targets, intercept, system.samples)
    assert_close(solution.dual[system.samples], alpha)
    assert not solution.dual[problem.cost == 0].any()
    assert solution.intercept == pytest.approx(b, abs=1e-9)
    assert_close(solution.scores, f)
    labels = np.where(f > 0, 1.0, -1.0)
    labels[system.samples] = labels[system.samples] if soft else y
    np.testing.assert_array_equal(solution.labels, np.where(problem.is_labeled, problem.signs, labels))
    recomputed = objective(problem, solution.coef, solution.intercept, None if soft else solution.labels)
    assert solution.objective == pytest.approx(recomputed, rel=1e-9)


@every_intercept
def test_certificate_of_a_wrong_solution_says_so(intercept, monkeypatch):
    problem = squared_problem(intercept=intercept).labeled_only()
    right, product = solve_labeled(problem), DenseForm.product
    assert right.status == "converged"
    monkeypatch.setattr(DenseForm, "product", lambda form, y: 1.01 * product(form, y))
    wrong = solve_labeled(problem)
    assert wrong.certificate.value > 1e-3
    assert wrong.certificate.gap > 1e-4
    assert wrong.certificate.lower_bound <= right.objective
    assert wrong.status == "stalled"
