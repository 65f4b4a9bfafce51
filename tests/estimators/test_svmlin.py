"""The transductive SVMs of SVMlin: limit cases, extreme costs, and what their parameters do."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from factories import INTERCEPTS, formulation_of, two_gaussians
from semisvm import SVM, AnnealingTSVM, MultiSwitchTSVM
from semisvm.solvers import Annealing, MultiSwitch

every_class = pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM])


def overlapping_classes(n=60, n_labeled=14):
    return two_gaussians(n, n_labeled, n_features=5, shift=0.8)


@every_class
@pytest.mark.parametrize("kernel", ["linear", "rbf"])
@pytest.mark.parametrize("intercept", INTERCEPTS)
def test_without_unlabeled_samples_or_their_cost_the_model_is_supervised(cls, kernel, intercept):
    X, y = overlapping_classes()
    known = y != -1
    params = {"kernel": kernel, "gamma": 0.2, "fit_intercept": intercept}
    f = SVM(2.0, loss="squared_hinge", tol=1e-10, **params).fit(X[known], y[known]).decision_function(X)
    no_cost = cls(2.0, C_unlabeled=0.0, tol=1e-8, **params).fit(X, y)
    np.testing.assert_allclose(no_cost.decision_function(X), f, atol=1e-6)
    all_labeled = cls(2.0, tol=1e-8, **params).fit(X[known], y[known])
    np.testing.assert_allclose(all_labeled.decision_function(X), f, atol=1e-6)
    searched = cls(2.0, tol=1e-8, **params).fit(X, y)
    assert np.abs(searched.decision_function(X) - f).max() > 1e-2


@every_class
@pytest.mark.parametrize("balance", ["labeled", 0.3, None])
@pytest.mark.filterwarnings("ignore:.* the model puts all 46 unlabeled samples into the class")  # they are equal
def test_unlabeled_samples_that_are_all_equal_and_one_label_per_class(cls, balance):
    X, y = overlapping_classes()
    X[y == -1] = X[y == -1][0]
    fitted = cls(1.0, kernel="linear", balance=balance).fit(X, y)
    assert fitted.converged_
    assert np.isfinite(fitted.decision_function(X)).all()
    if balance == 0.3:
        assert (fitted.transduction_[y == -1] == 2).sum() == round(0.3 * 46)
    X, y = overlapping_classes(n_labeled=2)
    fitted = cls(1.0, kernel="linear", balance=0.5).fit(X, y)
    assert fitted.converged_
    assert (fitted.transduction_[y == -1] == 2).sum() == 29


@every_class
def test_constant_features_are_left_alone(cls):
    X, y = overlapping_classes()
    plain = cls(1.0, kernel="linear").fit(X, y)
    with_zeros = cls(1.0, kernel="linear").fit(np.c_[X, np.zeros(60)], y)
    np.testing.assert_allclose(with_zeros.coef_[0], np.r_[plain.coef_[0], 0.0], atol=1e-7)
    constant = np.c_[X, np.full(60, 3.0)]
    fitted = cls(1.0, kernel="linear").fit(constant, y)
    np.testing.assert_allclose(fitted.decision_function(constant), plain.decision_function(X), atol=1e-6)
    assert abs(fitted.coef_[0, -1]) < 1e-6  # a free intercept costs nothing


@every_class
@pytest.mark.parametrize("C", [1e-6, 1e6])
@pytest.mark.parametrize("C_unlabeled", [1e-6, 1e6])
def test_extreme_costs_converge(cls, C, C_unlabeled):
    X, y = overlapping_classes()
    for intercept in INTERCEPTS:
        fitted = cls(C, C_unlabeled=C_unlabeled, kernel="linear", fit_intercept=intercept).fit(X, y)
        assert fitted.converged_
        assert np.isfinite(fitted.decision_function(X)).all()
        assert fitted.certificate_.value <= 1e-3


@every_class
def test_default_cost_decreases_with_the_number_of_labels(cls):
    for n_labeled, expected in [(12, 10.0), (20, 10.0), (50, 1.0), (100, 1.0)]:
        X, y = overlapping_classes(150, n_labeled)
        assert cls(kernel="linear").fit(X, y).C_ * X.var(axis=0).sum() == pytest.approx(expected, rel=1e-9)


@every_class
def test_share_of_the_other_class_changes_the_sign_of_f(cls):
    X, y = overlapping_classes()
    swapped = np.where(y == -1, -1, 3 - y)
    for balance, other in ((None, None), (0.3, 0.7)):
        one, two = cls(1.0, kernel="linear", balance=balance).fit(X, y), cls(1.0, kernel="linear", balance=other)
        np.testing.assert_allclose(two.fit(X, swapped).decision_function(X), -one.decision_function(X), atol=1e-6)
        np.testing.assert_array_equal(two.transduction_, 3 - one.transduction_)


@every_class
def test_unfinished_fit_warns_and_is_usable(cls):
    X, y = overlapping_classes()
    for limit, word in [({"max_iter": 2}, "max_iter=2"), ({"max_time": 1e-9}, "max_time")]:
        with pytest.warns(ConvergenceWarning, match=word):
            fitted = cls(kernel="linear", **limit).fit(X, y)
        assert not fitted.converged_
        assert np.isfinite(fitted.decision_function(X)).all()


def test_parameters_reach_the_solver_and_the_problem():
    params = {"tol": 0.1, "max_iter": 7, "max_time": 8.0}
    assert formulation_of(MultiSwitchTSVM(max_switches=9, **params)).solver == MultiSwitch(max_switches=9, **params)
    assert formulation_of(AnnealingTSVM(**params)).solver == Annealing(**params)
    X, y = overlapping_classes()
    for refused in (0, -1, 1.5, "many"):
        with pytest.raises(ValueError, match="max_switches"):
            MultiSwitchTSVM(max_switches=refused).fit(X, y)
    counts = []
    for slack in (0.0, 0.4):
        fitted = MultiSwitchTSVM(kernel="linear", balance=0.1, balance_tol=slack).fit(X, y)
        counts.append((fitted.transduction_[y == -1] == 2).sum())
    assert counts[0] == 5
    assert 5 < counts[1] <= 23
