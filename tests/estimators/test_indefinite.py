"""Kernels that are not positive definite: a warning, no lower bound, or one sentence of refusal."""

import re
import warnings
from dataclasses import replace

import numpy as np
import pytest

from factories import few_unlabeled, make_estimator, random_problem, two_gaussians
from semisvm import LSSVM, SVM
from semisvm.balance import Mean
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS
from semisvm.solvers import CCCP, SMO, BranchBound, IntegerQuadratic, LeastSquares, LowRankRelaxation
from semisvm.spaces import Gram, Kernel, gram, is_definite

REFUSED = "squared hinge has no minimum|is not positive definite; use another kernel"


def sigmoid(A, B):
    """Not a kernel: its matrix has eigenvalues of both signs."""
    return np.tanh(0.5 * A @ B.T - 1.0)


def samples(name, n_labeled=12):
    X, y = two_gaussians(24, n_labeled, n_features=3)
    return few_unlabeled(name, X, y)


@pytest.mark.parametrize("n_labeled", [12, 24], ids=["semi", "supervised"])
@pytest.mark.parametrize("name", ESTIMATORS)
def test_indefinite_kernel_has_a_warning_and_no_bound_or_is_refused(name, n_labeled):
    X, y = samples(name, n_labeled)
    model = make_estimator(name, kernel="precomputed", population=6, generations=5)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            model.fit(sigmoid(X, X), y)
        except ValueError as error:
            assert re.search(REFUSED, str(error))  # noqa: PT017 (a refusal is allowed, not asked for)
            return
    messages = [str(one.message) for one in caught if "the kernel is not positive definite" in str(one.message)]
    assert len(messages) == 1
    assert np.isfinite(model.objective_)
    if "no lower bound" in messages[0]:
        assert model.certificate_.lower_bound is None
        assert model.certificate_.gap is None
        assert model.certificate_.kind not in ("kkt", "gap")


@pytest.mark.parametrize("name", ["SVM", "GradientTSVM"])
def test_function_is_found_indefinite_as_its_matrix_is(name):
    X, y = samples(name)
    with pytest.warns(UserWarning, match="the kernel is not positive definite"):
        make_estimator(name, kernel=sigmoid).fit(X, y)


@pytest.mark.parametrize("n_labeled", [12, 24], ids=["semi", "supervised"])
@pytest.mark.parametrize("name", ["SVM", "LSSVM", "CCCPTSVM", "AnnealingTSVM"])
def test_definite_matrix_has_no_warning(name, n_labeled):
    X, y = samples(name, n_labeled)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        make_estimator(name, kernel="precomputed").fit(np.exp(-0.3 * np.square(X[:, None] - X).sum(axis=2)), y)


def test_kernel_that_is_definite_where_coefficients_sum_to_zero_keeps_its_bound_with_a_free_intercept():
    X, y = samples("SVM")
    K = -np.sqrt(np.square(X[:, None] - X).sum(axis=2))
    assert is_definite(K, sum_zero=True)
    assert not is_definite(K)
    model = make_estimator("SVM", kernel="precomputed").fit(K, y)
    assert model.certificate_.lower_bound == pytest.approx(model.objective_)
    with pytest.warns(UserWarning, match="no lower bound on the objective holds"):
        make_estimator("SVM", kernel="precomputed", fit_intercept=False).fit(K, y)


def indefinite_problem(**options):
    problem = random_problem(0, 6, n_labeled=8, **options)
    X = problem.space.X
    return replace(problem, space=Gram(Kernel("precomputed"), sigmoid(X, X)))


def test_solver_claims_no_bound_and_refuses_a_problem_without_a_minimum():
    certificate = SMO().solve(indefinite_problem().labeled_only()).certificate
    assert (certificate.kind, certificate.lower_bound) == ("stationary", None)
    squared = indefinite_problem(losses="squared_hinge", C=100.0).labeled_only()
    with pytest.raises(ValueError, match="squared hinge has no minimum"):
        SMO().solve(squared)
    mean = indefinite_problem(losses="ramp", balance=Mean(0.1), intercept=False)
    mean = replace(mean, space=Gram(Kernel("precomputed"), -np.abs(mean.space.X)))
    with pytest.raises(ValueError, match="the mean of the unlabeled samples has a negative squared norm"):
        CCCP().solve(mean)


@pytest.mark.parametrize("sum_zero", [False, True])
def test_negative_curvature_outside_the_probed_block_is_found(monkeypatch, sum_zero):
    monkeypatch.setattr(gram, "N_PROBED", 60)
    direction = np.random.default_rng(1).standard_normal(90)
    direction -= direction.mean()
    direction /= np.linalg.norm(direction)
    K = np.eye(90) - 1.3 * np.outer(direction, direction)
    block = np.random.default_rng(0).permutation(90)[:60]
    assert is_definite(K[np.ix_(block, block)], sum_zero)
    assert Gram(Kernel("precomputed"), K).is_indefinite(sum_zero)
    assert not Gram(Kernel("precomputed"), np.eye(90) - 0.9 * np.outer(direction, direction)).is_indefinite(sum_zero)
    X = np.random.default_rng(2).standard_normal((90, 3))
    assert not Gram(Kernel("precomputed"), X @ X.T).is_indefinite(sum_zero)


@pytest.mark.parametrize(
    "solver, losses",
    [
        (LeastSquares(), "squared"),
        (IntegerQuadratic(), "squared"),
        (BranchBound(), "squared_hinge"),
        (LowRankRelaxation(), "hinge"),
    ],
    ids=lambda one: type(one).__name__ if not isinstance(one, str) else "",
)
def test_solvers_that_bound_claim_nothing_of_an_indefinite_kernel(solver, losses):
    problem = indefinite_problem(losses=losses, C=0.02, C_unlabeled=0.02, intercept="regularized")
    assert problem.is_indefinite
    for one in (problem, problem.labeled_only()):
        certificate = solver.solve(one).certificate
        assert (certificate.lower_bound, certificate.gap) == (None, None)
        assert certificate.kind not in ("kkt", "gap")


@pytest.mark.parametrize("name", WRAPPERS)
@pytest.mark.parametrize("learner", [SVM(kernel=sigmoid), LSSVM(0.1, kernel=sigmoid)])
def test_self_training_on_an_indefinite_kernel_warns_once_and_bounds_nothing(name, learner):
    X, y = samples(name)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        model = make_estimator(name, estimator=learner).fit(X, y)
    assert sum("the kernel is not positive definite" in str(one.message) for one in caught) == 1
    assert model.estimator_.certificate_.lower_bound is None
