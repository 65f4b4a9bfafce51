"""``SVM`` and ``RampSVM``: other libraries, unfinished fits, and the parameters of the ramp."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.svm import LinearSVC

from factories import binary_problems, formulation_of, two_gaussians
from semisvm import SVM, RampSVM
from semisvm.problem import objective
from semisvm.solvers import CCCP, SupervisedSVM
from semisvm.solvers.dual import smo


def overlapping_classes(n=150, shift=0.3):
    """All samples labeled, many of them in the margin."""
    return two_gaussians(n, n, 6, shift)


@pytest.mark.parametrize("loss", ["hinge", "squared_hinge"])
@pytest.mark.parametrize("fit_intercept", ["regularized", False])
def test_linear_models_are_those_of_liblinear(loss, fit_intercept):
    X, y = overlapping_classes()
    ours = SVM(0.7, loss=loss, kernel="linear", fit_intercept=fit_intercept, tol=1e-7).fit(X, y)
    theirs = LinearSVC(C=0.7, loss=loss, dual=True, fit_intercept=bool(fit_intercept), tol=1e-9, max_iter=1_000_000)
    theirs.fit(X, y)
    np.testing.assert_allclose(ours.coef_, theirs.coef_, atol=2e-5)
    np.testing.assert_allclose(ours.intercept_, theirs.intercept_, atol=2e-5)


@pytest.mark.parametrize(
    ("limit", "message"),
    [({"max_iter": 5}, "max_iter=5 reached, violation .* usable"), ({"max_time": 1e-9}, "max_time=1e-09")],
    ids=["max_iter", "max_time"],
)
def test_unfinished_fit_warns_and_is_usable(limit, message):
    X, y = overlapping_classes(600)
    with pytest.warns(ConvergenceWarning, match=message):
        fitted = SVM(100.0, tol=1e-9, **limit).fit(X, y)
    assert not fitted.converged_
    assert fitted.certificate_.value > fitted.tol
    assert np.isfinite(fitted.decision_function(X)).all()


def test_ctrl_c_keeps_what_was_reached(monkeypatch):
    X, y = overlapping_classes(600)
    run, calls = smo.pair_steps, []

    def interrupt(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return run(*args)

    monkeypatch.setattr(smo, "pair_steps", interrupt)
    with pytest.warns(ConvergenceWarning, match="interrupted"):
        fitted = SVM(100.0, tol=1e-9).fit(X, y)
    assert len(calls) == 2
    assert fitted.score(X, y) > 0.7
    (problem,), _ = binary_problems(fitted, X, y)
    coef = np.zeros(len(y))
    coef[fitted.support_] = fitted.dual_coef_[0]
    assert fitted.objective_ == pytest.approx(objective(problem, coef, fitted.intercept_[0]))


def test_parameters_reach_the_solver_and_the_loss():
    limits = {"tol": 0.1, "max_iter": 7, "max_time": 8.0}
    assert formulation_of(SVM(**limits)).solver == SupervisedSVM(**limits)
    ramp = formulation_of(RampSVM(s=0.25, init="subset", **limits))
    assert ramp.solver == CCCP("subset", **limits)
    assert ramp.labeled.s == 0.25


def test_subset_of_the_start_is_drawn_by_random_state(monkeypatch):
    monkeypatch.setattr("semisvm.solvers.dual.cccp.SUBSET_SIZE", 20)
    X, y = overlapping_classes(300)
    first, same, other = (RampSVM(s=0.0, init="subset", random_state=seed).fit(X, y) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first.objective_path_, same.objective_path_)
    assert first.objective_path_[0] != other.objective_path_[0]
