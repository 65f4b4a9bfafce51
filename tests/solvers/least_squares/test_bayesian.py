"""Most probable labels: the optimum against all labels, bounds below it, confident samples, and the evidence."""

import importlib.util
import sys
from dataclasses import replace

import numpy as np
import pytest
from scipy import stats

from factories import INTERCEPTS, least_squares_problem
from references import (
    assert_close,
    assert_least_squares_of_labels,
    keeps_balance,
    label_vectors,
    labeling_values,
    least_squares_matrix,
    least_squares_svm,
    problem_form,
)
from semisvm.balance import Count, Free
from semisvm.solvers import IntegerQuadratic, StoppingRule
from semisvm.solvers.least_squares import bayesian
from semisvm.solvers.least_squares.labelings import DenseLabelings
from semisvm.solvers.least_squares.optimal_labels import convex_program, enumerate_all, relaxation_bound, solve_scip
from semisvm.solvers.least_squares.system import build_system

HAS_SCIP = importlib.util.find_spec("pyscipopt") is not None
needs_scip = pytest.mark.skipif(not HAS_SCIP, reason="SCIP, of the extra 'exact', is not installed")
BALANCES = [Free(), Count(0.4), Count(0.3, 0.15)]
every_space = pytest.mark.parametrize("space", ["rbf", "features", "many features"])
every_balance = pytest.mark.parametrize("balance", BALANCES, ids=["free", "count", "slack"])
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)
both_proofs = pytest.mark.parametrize("proof", ["enumeration", pytest.param("scip", marks=needs_scip)])


def coupled_problem(seed=0, n_unlabeled=7, **options):
    """Large costs, so that the labels of close samples depend on each other."""
    return least_squares_problem(seed, n_unlabeled, **({"C": 20.0, "C_unlabeled": 20.0} | options))


def smallest_value(problem):
    return labeling_values(problem_form(problem), label_vectors(problem)).min()


def assert_gap_is_true(problem, solution, tolerance=1e-9):
    """The bound is below the objective of all labels, and the gap is the distance to it."""
    certificate = solution.certificate
    assert certificate.kind == "gap"
    assert certificate.lower_bound <= smallest_value(problem) + tolerance
    assert certificate.value == certificate.gap
    assert certificate.gap == pytest.approx(solution.objective - certificate.lower_bound, abs=1e-9)


@every_space
@every_balance
@every_intercept
def test_labels_of_few_samples_are_optimal_and_bounds_are_below_the_optimum(space, balance, intercept):
    for seed in range(2):
        problem = least_squares_problem(seed, 8 + seed, space=space, balance=balance, intercept=intercept)
        smallest = smallest_value(problem)
        exact = IntegerQuadratic().solve(problem, rng=0)
        searched = IntegerQuadratic(exact=False, n_init=2).solve(problem, rng=0)
        for solution in (exact, searched):
            assert_least_squares_of_labels(problem, solution)
            assert_gap_is_true(problem, solution)
            assert solution.status == "converged"
        assert exact.objective == pytest.approx(smallest, rel=1e-9)
        assert exact.certificate.gap <= 1e-9
        assert exact.trace[-1]["objective"] == pytest.approx(smallest, rel=1e-9)
        assert searched.objective >= smallest - 1e-9


@needs_scip
@every_balance
@every_intercept
def test_scip_proves_the_optimum(balance, intercept, monkeypatch):
    monkeypatch.setattr(bayesian, "MAX_ENUMERATED", 0)
    problem = coupled_problem(4, balance=balance, intercept=intercept)
    smallest = smallest_value(problem)
    for exact in (True, "auto"):
        solution = IntegerQuadratic(exact=exact, n_init=1).solve(problem, rng=0)
        assert_least_squares_of_labels(problem, solution)
        assert solution.status == "converged"
        assert solution.objective == pytest.approx(smallest, rel=1e-9)
        assert smallest - 1e-5 <= solution.certificate.lower_bound <= smallest + 1e-6


@both_proofs
@every_space
@every_balance
def test_proofs_improve_on_any_labels(proof, space, balance):
    problem = coupled_problem(7, space=space, balance=balance)
    Y, system = label_vectors(problem), build_system(problem)
    values = labeling_values(problem_form(problem), Y)
    worst = Y[values.argmax()][system.samples]
    if proof == "scip":
        best = solve_scip(problem, system, worst, system.searched, StoppingRule())
    else:
        best = enumerate_all(problem, system, worst, system.searched)
    assert best.is_optimal
    assert system.form.value(best.y) == pytest.approx(values.min(), rel=1e-9)
    assert best.bound == pytest.approx(values.min(), abs=1e-5)


@needs_scip
def test_scip_without_time_keeps_the_labels_and_a_bound():
    problem = coupled_problem(7, 12)
    system = build_system(problem)
    y = label_vectors(problem)[0][system.samples]
    stop = StoppingRule(max_time=1e-9)
    best = solve_scip(problem, system, y, system.searched, stop)
    assert stop.status == "max_time"
    assert not best.is_optimal
    assert best.bound <= smallest_value(problem) + 1e-6
    assert system.form.value(best.y) <= system.form.value(y)


@every_space
def test_convex_program_has_the_values_of_the_form_and_its_bound_is_below_all_labels(space):
    problem = coupled_problem(3, 8, space=space)
    system, Y = build_system(problem), label_vectors(problem)
    values, Y = labeling_values(problem_form(problem), Y), Y[:, system.samples]
    for free in (system.searched, system.searched[::2]):  # the others stay as in the first labeling
        same = (np.delete(Y, free, axis=1) == np.delete(Y[0], free)).all(axis=1)
        P, q, constant = convex_program(system, Y[0], free)
        smallest_eigenvalue = np.linalg.eigvalsh(P)[0]
        assert 0.0 < smallest_eigenvalue < 1e-6 * np.linalg.eigvalsh(P)[-1]
        found = [0.5 * x @ P @ x + q @ x + constant for x in Y[same][:, free]]
        assert_close(found, values[same])
        bound = relaxation_bound(system, Y[0], free)
        assert bound <= values[same].min() + 1e-9
        box_points = np.random.default_rng(0).uniform(-1.0, 1.0, (500, len(free)))
        assert bound <= min(0.5 * x @ P @ x + q @ x for x in box_points) + constant
        assert relaxation_bound(system, -Y[-1], system.searched) <= values.min() + 1e-9


@pytest.mark.parametrize("weighted", [False, True])
def test_optimum_of_weighted_samples(weighted):
    problem = least_squares_problem(1, 9, balance=Count(0.4, 0.1), weighted=weighted)
    if not weighted:
        problem = replace(problem, weights=np.full(len(problem.signs), 0.7))
    solution = IntegerQuadratic().solve(problem, rng=0)
    assert_least_squares_of_labels(problem, solution)
    assert solution.objective == pytest.approx(smallest_value(problem), rel=1e-9)


def confident_signs(problem, threshold, max_distance):
    """Signs with those of confident samples close to labeled ones filled in."""
    K, known = np.asarray(problem.space.gram().compute()), problem.is_labeled
    f = least_squares_svm(K, problem.cost, problem.signs, problem.intercept, np.flatnonzero(known))[2]
    distance = (K.diagonal()[:, None] + K.diagonal() - 2.0 * K)[:, known].min(axis=1)
    limit = np.median(distance[~known]) if max_distance is None else max_distance**2
    return np.where(~known & (distance <= limit) & (np.abs(f) >= threshold), np.sign(f), problem.signs)


def agreeing(Y, signs):
    """The labelings that agree with the signs that are given."""
    return Y[(Y[:, signs != 0] == signs[signs != 0]).all(axis=1)]


@pytest.mark.parametrize("max_distance", [None, 0.6, 10.0])
@pytest.mark.parametrize("exact", ["auto", False, pytest.param("scip", marks=needs_scip)])
@every_balance
def test_confident_samples_keep_their_sign_and_the_bound_holds_for_all_labels(
    max_distance, exact, balance, monkeypatch
):
    if exact == "scip":
        monkeypatch.setattr(bayesian, "MAX_ENUMERATED", 0)
    n_fixed = []
    for seed in range(3):
        problem = least_squares_problem(seed, 8, space=["rbf", "features"][seed % 2], balance=balance)
        fixed = confident_signs(problem, 0.3, max_distance)
        n_fixed.append((fixed != problem.signs).sum())
        solver = IntegerQuadratic(exact == "scip" or exact, confidence_threshold=0.3, max_distance=max_distance)
        np.testing.assert_array_equal(solver.fix_confident(problem).signs, fixed)
        solution = solver.solve(problem, rng=0)
        np.testing.assert_array_equal(solution.labels[fixed != 0], fixed[fixed != 0])
        assert_gap_is_true(problem, solution, 1e-6)
        S, allowed = problem_form(problem), agreeing(label_vectors(problem), fixed)
        if len(allowed):  # confident samples alone may break the balance
            assert_least_squares_of_labels(problem, solution)
            smallest = labeling_values(S, allowed).min()
            assert solution.objective >= smallest - 1e-9
            assert exact is False or solution.objective == pytest.approx(smallest, rel=1e-9)
    assert max(n_fixed) > 0
    assert min(n_fixed) < 8 or max_distance == 10.0


@both_proofs
def test_confident_samples_that_break_the_balance_leave_the_others_on_the_other_side(proof, monkeypatch):
    monkeypatch.setattr(bayesian, "MAX_ENUMERATED", 18 if proof == "enumeration" else 0)
    n_positive = []
    for seed in range(4):
        problem = least_squares_problem(seed, balance=Count(0.0))
        fixed = confident_signs(problem, 0.0, None)
        n_positive.append(np.count_nonzero(fixed[problem.searched] > 0))
        solution = IntegerQuadratic(exact=True, confidence_threshold=0.0).solve(problem, rng=0)
        np.testing.assert_array_equal(solution.labels, np.where(fixed == 0, -1.0, fixed))
    assert max(n_positive) > 0


def test_without_scip_the_extra_is_named(monkeypatch):
    problem, find_spec = least_squares_problem(), importlib.util.find_spec
    expected = IntegerQuadratic().solve(problem, rng=0).objective
    monkeypatch.setitem(sys.modules, "pyscipopt", None)
    monkeypatch.setattr(importlib.util, "find_spec", lambda name: None if name == "pyscipopt" else find_spec(name))
    assert IntegerQuadratic(exact=True).solve(problem, rng=0).objective == expected  # few samples are enumerated
    monkeypatch.setattr(bayesian, "MAX_ENUMERATED", 3)
    with pytest.raises(ImportError) as refused:
        IntegerQuadratic(exact=True).solve(problem, rng=0)
    assert "pip install 'semisvm[exact]'" in str(refused.value)
    assert str(refused.value).count(".") == 1
    searched = IntegerQuadratic().solve(problem, rng=0)
    assert_least_squares_of_labels(problem, searched)
    assert_gap_is_true(problem, searched)


def test_no_bound_is_computed_of_many_samples(monkeypatch):
    monkeypatch.setattr(bayesian, "MAX_BOUNDED", 7)
    solution = IntegerQuadratic(exact=False).solve(least_squares_problem(), rng=0)
    assert solution.certificate.kind == "no_flip"
    assert solution.certificate.lower_bound is None


def test_ctrl_c_in_the_search_leaves_labels_with_a_true_bound(monkeypatch):
    problem, sweep, n_calls = least_squares_problem(1, 10, balance=Count(0.4)), DenseLabelings.sweep, []

    def interrupted(labelings, order):
        n_calls.append(1)
        if len(n_calls) == 2:
            raise KeyboardInterrupt
        return sweep(labelings, order)

    monkeypatch.setattr(DenseLabelings, "sweep", interrupted)
    solution = IntegerQuadratic().solve(problem, rng=0)
    assert solution.status == "interrupted"
    assert_least_squares_of_labels(problem, solution)
    assert_gap_is_true(problem, solution)


@every_intercept
@pytest.mark.parametrize("space", ["rbf", "features"])
def test_evidence_is_the_density_of_a_gaussian_process_at_its_best_scale(space, intercept):
    problem = least_squares_problem(0, 9, space=space, intercept=intercept)
    for stated in (problem, problem.labeled_only()):
        solution = IntegerQuadratic().solve(stated, rng=0)
        used = np.flatnonzero(np.ones(15) if stated is problem else problem.signs)
        y, n = solution.labels[used], len(used)
        K, cost = np.asarray(problem.space.gram().compute())[np.ix_(used, used)], problem.cost[used]
        M = least_squares_matrix(K, cost, intercept)[:n, :n]
        flat = 0.0
        if intercept is True:  # a flat prior on b leaves what is orthogonal to 1
            basis = np.linalg.svd(np.ones((1, n)))[2][1:]
            y, M, flat = basis @ y, basis @ M @ basis.T, -0.5 * np.log(n)
        mu = len(y) / (y @ np.linalg.solve(M, y))
        evidence, *others = (stats.multivariate_normal(None, M / (k * mu)).logpdf(y) + flat for k in (1.0, 0.9, 1.1))
        assert solution.details == pytest.approx({"evidence": evidence, "mu": mu}, rel=1e-9)
        assert max(others) < evidence


@pytest.mark.parametrize("threshold", [0.2, 0.5, 5.0])
def test_share_of_uneven_weights_is_kept_with_confident_samples(threshold):
    problem = least_squares_problem(2, 12, balance=Count(0.5, 0.1), weighted=True)
    solution = IntegerQuadratic(confidence_threshold=threshold).solve(problem, rng=0)
    allowed = agreeing(label_vectors(problem), confident_signs(problem, threshold, None))
    assert keeps_balance(problem, solution.labels[None]).all()
    assert solution.objective == pytest.approx(labeling_values(problem_form(problem), allowed).min(), rel=1e-9)
