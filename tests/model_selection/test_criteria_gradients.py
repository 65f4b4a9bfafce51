"""Gradients of the criteria in the logarithms of the hyperparameters, against finite differences."""

import numpy as np
import pytest
from sklearn.base import clone

from factories import INTERCEPTS, blobs, two_gaussians
from semisvm import DCLSSVM, LSSVM, SVM, BayesianLSSVM, LocalSearchRLSC, SwitchingLSSVM
from semisvm.model_selection import GCV, OCV, PRESS, EmpiricalError, Evidence, LabeledShuffleSplit, LeaveOneOutError
from semisvm.model_selection.criteria import ModelFamily
from semisvm.model_selection.criteria.closed_form import Slopes, dense_models
from semisvm.model_selection.criteria.spectral_form import SpectralForm

STEP = 1e-5


def partly_labeled(seed=0):
    X, y = two_gaussians(n=36, n_labeled=22, n_features=3, shift=0.7, seed=seed)
    return X, y, np.random.default_rng(seed).uniform(0.5, 2.0, len(y))


def check_gradient(criterion, model, X, y, w, params):
    value, gradient = criterion.value_and_gradient(model, X, y, w, params)
    assert value == pytest.approx(criterion.value(model, X, y, w))
    size = max(abs(derivative) for derivative in gradient.values())
    assert size > 1e-6
    for name in params:
        own = getattr(model, name)
        up, down = (
            criterion.value(clone(model).set_params(**{name: own * np.exp(step)}), X, y, w) for step in (STEP, -STEP)
        )
        assert gradient[name] == pytest.approx((up - down) / (2.0 * STEP), rel=1e-5, abs=1e-6 * size), name


VALIDATION = LabeledShuffleSplit(1, test_size=6, random_state=0)
CLOSED = {"press": PRESS(), "ocv": OCV(), "empirical": EmpiricalError(), "gcv": GCV(), "evidence": Evidence()}
HELD = {"folds": EmpiricalError(3), "validation": EmpiricalError(VALIDATION, slope=2.0, offset=0.1), "press": PRESS(3)}


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("name", CLOSED)
@pytest.mark.parametrize("params", [("C", "gamma"), ("C",)], ids=["kernel matrix", "eigendecomposition"])
def test_criteria_of_the_ls_svm(name, intercept, params):
    check_gradient(CLOSED[name], LSSVM(2.0, gamma=0.3, fit_intercept=intercept), *partly_labeled(), params)


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("name", HELD)
@pytest.mark.parametrize("loss", ["hinge", "squared_hinge", "squared"])
def test_criteria_of_splits(name, intercept, loss):
    model = LSSVM(2.0) if loss == "squared" else SVM(2.0, loss=loss)
    check_gradient(HELD[name], model.set_params(gamma=0.3, fit_intercept=intercept), *partly_labeled(), ("C", "gamma"))


def test_leave_one_out_of_the_svm():
    check_gradient(EmpiricalError("loo"), SVM(2.0, gamma=0.3), *partly_labeled(), ("C", "gamma"))


@pytest.mark.parametrize("seed", range(3))
def test_without_a_free_support_vector_the_intercept_moves_with_two_samples(seed):
    X, y, _ = partly_labeled(seed)
    y[y > 0] = -1
    y[:16] = np.r_[1, 2, 1, 2, 1, 2, 1, 2, np.full(7, 2), 1]  # equally many in training, not in the test part
    model, train, test = SVM(1e-2, gamma=0.3), np.arange(8), np.arange(8, 16)
    np.testing.assert_allclose(np.abs(clone(model).fit(X[train], y[train]).dual_coef_), 1e-2)
    check_gradient(EmpiricalError([(train, test)]), model, X, y, None, ("C", "gamma"))


SEMI_SUPERVISED = {
    "DCLSSVM": DCLSSVM(5.0, gamma=0.3),
    "own cost": DCLSSVM(5.0, C_unlabeled=0.5, gamma=0.3),
    "SwitchingLSSVM": SwitchingLSSVM(5.0, gamma=0.3, random_state=0),
    "LocalSearchRLSC": LocalSearchRLSC(5.0, gamma=0.3, random_state=0),
    "BayesianLSSVM": BayesianLSSVM(3.0, C_unlabeled=1.0, gamma=0.3, exact=False, random_state=0),
}


@pytest.mark.parametrize("name", SEMI_SUPERVISED)
@pytest.mark.parametrize("criterion", [OCV(), GCV(), Evidence(), EmpiricalError(3)], ids=["ocv", "gcv", "ev", "folds"])
def test_criteria_at_the_labels_that_a_semi_supervised_model_finds(name, criterion):
    model = SEMI_SUPERVISED[name]
    params = ("C", "gamma") if model.C_unlabeled is None else ("C_unlabeled", "gamma", "C")
    check_gradient(criterion, model, *partly_labeled(), params)


KERNELS = {
    "linear": ({}, ("C",)),
    "poly": ({"coef0": 0.5, "degree": 2}, ("C", "gamma", "coef0")),
    "laplacian": ({"coef0": 0.5}, ("C", "gamma", "coef0")),
    "multiquadric": ({"coef0": 0.5}, ("C", "gamma", "coef0")),
    "multiquadric without coef0": ({}, ("C", "gamma")),
    "inverse_multiquadric": ({"coef0": 0.5}, ("C", "gamma", "coef0")),
    "kmod": ({"sigma": 1.2}, ("C", "gamma", "sigma")),
    "kmod without sigma": ({}, ("C", "gamma")),
}


@pytest.mark.parametrize("name", KERNELS)
def test_derivatives_of_every_kernel(name):
    extra, params = KERNELS[name]
    for model in (LSSVM(2.0), SVM(0.1)):
        model.set_params(kernel=name.split()[0], gamma=0.4, **extra)
        check_gradient(EmpiricalError(3), model, *partly_labeled(), params)


def test_several_classes_have_one_gradient():
    X, y = blobs(n_classes=3, n=45, n_labeled=30, first_class=1)
    for criterion in (PRESS(), GCV(), Evidence(), EmpiricalError(3)):
        check_gradient(criterion, LSSVM(2.0, gamma=0.3), X, y, None, ("C", "gamma"))
    check_gradient(EmpiricalError(3), SVM(2.0, gamma=0.3), X, y, None, ("C", "gamma"))


@pytest.mark.parametrize("intercept", INTERCEPTS)
@pytest.mark.parametrize("C", [1e-3, 2.0, 1e6])
def test_the_eigendecomposition_gives_the_same_models_as_the_inverse(intercept, C):
    X, y, w = partly_labeled()
    family = ModelFamily(LSSVM(C, gamma=0.3, fit_intercept=intercept), X, y, w, ("C",))
    dense, spectral = dense_models(family.at(family.start)), SpectralForm(family, family.start).at(C)
    for name in ("y", "samples", "labeled", "degrees"):
        np.testing.assert_array_equal(getattr(dense, name), getattr(spectral, name))
    for name in ("alpha", "diagonal", "log_det", "cost"):
        np.testing.assert_allclose(getattr(dense, name), getattr(spectral, name), rtol=1e-6, atol=1e-9)
    rng = np.random.default_rng(0)
    slopes = Slopes(rng.standard_normal(dense.alpha.shape), rng.standard_normal(len(dense.diagonal)), 0.7, dense.cost)
    np.testing.assert_allclose(dense.gradient(slopes), spectral.gradient(slopes), rtol=1e-6)


def test_the_error_has_no_gradient():
    with pytest.raises(ValueError, match=r"LeaveOneOutError is constant almost everywhere.*use EmpiricalError"):
        LeaveOneOutError().value_and_gradient(LSSVM(), *partly_labeled())


@pytest.mark.parametrize("params", [("C", "degree"), ("C", "C"), (), ("C_unlabeled",), ("coef0",)])
def test_other_hyperparameters_are_refused(params):
    with pytest.raises(ValueError, match=r"params=.* is not allowed; params takes different names out of C, gamma"):
        PRESS().value_and_gradient(LSSVM(), *partly_labeled(), params)
