"""Estimators that prove how good their labels are: BranchBoundTSVM and SDPTSVM."""

import numpy as np
import pytest
from sklearn.datasets import load_iris, make_moons
from sklearn.exceptions import ConvergenceWarning

from factories import INTERCEPTS, binary_problems, two_gaussians
from references import keeps_balance, smallest_objective, svm_values
from semisvm import S3VM, SDPTSVM, SVM, BranchBoundTSVM
from semisvm.datasets import hide_labels

LOSS = {BranchBoundTSVM: "squared_hinge", SDPTSVM: "hinge"}
every_estimator = pytest.mark.parametrize("cls", LOSS)


@pytest.mark.parametrize("noise, largest_error", [(0.05, 0.0), (0.1, 0.02)])
def test_two_moons_are_labeled_from_two_labels(noise, largest_error):
    X, y = make_moons(100, noise=noise, random_state=0)
    y = y + 1
    fitted = BranchBoundTSVM(C=10.0, gamma=2.0, random_state=0).fit(X, hide_labels(y, 2, random_state=0))
    assert fitted.converged_
    assert fitted.certificate_.gap <= 2e-6 * fitted.objective_
    assert (fitted.transduction_ != y).mean() <= largest_error
    assert (fitted.supervised_.predict(X) != y).mean() > 0.05


@every_estimator
def test_objective_and_bound_are_those_of_the_problem_as_stated(cls):
    X, y = two_gaussians(16, 6, 3)
    options = {"C": 2.0, "C_unlabeled": 1.0, "gamma": 0.2, "balance": 0.5, "random_state": 0}
    fitted = cls(**options).fit(X, y)
    (problem,), _ = binary_problems(fitted, X, y)
    np.testing.assert_array_equal(problem.cost, np.where(y == -1, 1.0, 2.0))
    labels = np.where(fitted.transduction_ == 2, 1.0, -1.0)[None]
    assert keeps_balance(problem, labels).all()
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])
    assert fitted.objective_ == pytest.approx(svm_values(problem, labels)[0], rel=1e-4)
    smallest = smallest_objective(problem)
    assert fitted.certificate_.lower_bound <= smallest * (1.0 + 1e-6)
    assert smallest <= fitted.objective_ * (1.0 + 1e-6)
    if cls is BranchBoundTSVM:
        assert fitted.objective_ == pytest.approx(smallest, rel=1e-6)
        composed = S3VM("squared_hinge", "symmetric_squared_hinge", solver="branch_bound", tol=1e-6, **options)
        assert composed.fit(X, y).objective_ == pytest.approx(smallest, rel=1e-6)


@every_estimator
def test_every_intercept_and_its_supervised_counterpart(cls):
    X, y = two_gaussians(24, 8, 3)
    known = y != -1
    for intercept in INTERCEPTS if cls is BranchBoundTSVM else ["regularized", False]:
        options = {"C": 2.0, "gamma": 0.2, "fit_intercept": intercept}
        supervised = cls(random_state=0, **options).fit(X, y).supervised_
        expected = SVM(loss=LOSS[cls], tol=1e-7, **options).fit(X[known], y[known]).decision_function(X)
        assert (supervised.loss, supervised.fit_intercept) == (LOSS[cls], intercept)
        np.testing.assert_allclose(supervised.decision_function(X), expected, atol=5e-3)
        without_cost = cls(C_unlabeled=0.0, **options).fit(X, y)
        np.testing.assert_allclose(without_cost.decision_function(X), expected, atol=5e-3)


@every_estimator
@pytest.mark.parametrize("multiclass", ["ovr", pytest.param("ovo", marks=pytest.mark.slow)])
def test_three_classes_have_three_certificates(cls, multiclass):
    X, y = load_iris(return_X_y=True)
    samples = np.r_[0:12, 50:62, 100:112]
    X, y = X[samples], y[samples]
    tol = 1e-6 if cls is BranchBoundTSVM else 1e-2
    fitted = cls(C=5.0, tol=tol, multiclass=multiclass, random_state=0).fit(X, hide_labels(y, 24, random_state=1))
    assert [c.kind for c in fitted.certificate_] == ["gap"] * 3
    bounds = np.array([c.lower_bound for c in fitted.certificate_])
    assert (bounds <= fitted.objective_).all()
    if cls is BranchBoundTSVM:
        assert (fitted.objective_ - bounds <= 2e-6 * np.asarray(fitted.objective_)).all()
    assert (fitted.transduction_ == y).mean() > 0.9
    assert set(fitted.predict(X)) <= {0, 1, 2}


@pytest.mark.parametrize("cls, limit", [(BranchBoundTSVM, "max_nodes"), (SDPTSVM, "max_iter")])
def test_limit_warns_and_leaves_a_true_gap(cls, limit):
    X, y = two_gaussians(30, 4, 3)
    with pytest.warns(ConvergenceWarning, match=f"{limit}=1 reached") as warned:
        fitted = cls(C=20.0, gamma=0.5, random_state=0, **{limit: 1}).fit(X, y)
    assert len(warned) == 1
    assert not fitted.converged_
    assert 0.0 < fitted.certificate_.lower_bound < fitted.objective_
    assert fitted.certificate_.gap == pytest.approx(fitted.objective_ - fitted.certificate_.lower_bound)
    assert fitted.predict(X).shape == (30,)
    complete = cls(C=20.0, gamma=0.5, random_state=0).fit(X, y)
    assert fitted.certificate_.lower_bound <= complete.objective_ * (1.0 + 1e-9)
    if cls is BranchBoundTSVM:
        assert complete.objective_ <= fitted.objective_ * (1.0 + 1e-7)


@pytest.mark.parametrize(
    "cls, params",
    [(BranchBoundTSVM, {"max_nodes": 0}), (BranchBoundTSVM, {"max_nodes": 2.5}), (SDPTSVM, {"fit_intercept": True})],
    ids=str,
)
def test_bad_parameters_are_named(cls, params):
    with pytest.raises(ValueError, match=next(iter(params))) as refused:
        cls(**params).fit(*two_gaussians(12, 6))
    assert "\n" not in str(refused.value)


def test_relaxation_of_a_free_intercept_is_refused():
    with pytest.raises(ValueError, match="does not take fit_intercept=True"):
        S3VM("hinge", "symmetric_hinge", solver="relaxation", fit_intercept=True).fit(*two_gaussians(12, 6))
