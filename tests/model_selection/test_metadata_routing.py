"""With metadata routing the weights of the samples reach every estimator, through scikit-learn's own tools."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score
from sklearn.metrics.pairwise import rbf_kernel
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from factories import PATHS, make_estimator, two_gaussians
from semisvm import LSSVM, SVM, HelpTraining, SelfTraining, SemiSVM
from semisvm.model_selection import (
    GCV,
    PRESS,
    GradientSearchCV,
    LabeledCalibratedClassifierCV,
    LabeledKFold,
    make_labeled_scorer,
)

FOLDS = LabeledKFold(2)
MODELS = {name: make_estimator(name, random_state=0) for name in PATHS} | {
    "SelfTraining": SelfTraining(LSSVM()),
    "SelfTraining of another classifier": SelfTraining(SVC()),
    "HelpTraining": HelpTraining(LSSVM()),
    "GradientSearchCV": GradientSearchCV(LSSVM(gamma=0.1), "press", starts=[{}], max_iter=3, tol=0.1),
    "SemiSVM": SemiSVM(random_state=0),
}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_samples():
    X, y = two_gaussians(n=40, n_labeled=20)
    return X, y, np.random.default_rng(0).uniform(0.1, 4.0, len(y))


def asking(model):
    """The model with a request for weights, and the one inside it."""
    model = clone(model)
    if getattr(model, "estimator", None) is not None:
        model.estimator.set_fit_request(sample_weight=True)
    return model.set_fit_request(sample_weight=True)


@pytest.mark.parametrize("name", MODELS)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_weights_reach_the_estimator(routing, name):
    X, y, weights = weighted_samples()
    model = asking(MODELS[name])
    scorer = make_labeled_scorer().set_score_request(sample_weight=True)
    search = GridSearchCV(make_pipeline(FunctionTransformer(), model), {}, cv=FOLDS, scoring=scorer)
    search.fit(X, y, sample_weight=weights)
    found = search.best_estimator_.decision_function(X)
    np.testing.assert_allclose(found, clone(model).fit(X, y, sample_weight=weights).decision_function(X))
    assert not np.allclose(found, clone(model).fit(X, y).decision_function(X), rtol=1e-3)


@pytest.mark.parametrize("name", ["LSSVM", "SelfTraining", "GradientSearchCV"])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_folds_and_scores_have_the_weights_of_their_samples(routing, name):
    X, y, weights = weighted_samples()
    model = asking(MODELS[name])
    scorer = make_labeled_scorer().set_score_request(sample_weight=True)
    found = cross_validate(
        model,
        X,
        y,
        cv=FOLDS,
        scoring=scorer,
        params={"sample_weight": weights},
        return_estimator=True,
        error_score="raise",
    )
    for i, (train, test) in enumerate(FOLDS.split(X, y)):
        one = clone(model).fit(X[train], y[train], sample_weight=weights[train])
        np.testing.assert_allclose(found["estimator"][i].decision_function(X), one.decision_function(X))
        score = accuracy_score(y[test], one.predict(X[test]), sample_weight=weights[test])
        assert found["test_score"][i] == pytest.approx(score)


@pytest.mark.parametrize("ensemble", [True, False])
def test_calibration_routes_weights_to_estimator_and_splitter(routing, ensemble):
    X, y, weights = weighted_samples()
    asked = []

    class Splitter(BaseEstimator):
        def split(self, X, y, sample_weight=None):
            asked.append(sample_weight)
            return FOLDS.split(X, y)

    def calibrated(inner, cv):
        return LabeledCalibratedClassifierCV(inner, cv=cv, ensemble=ensemble)

    routed = calibrated(asking(LSSVM()), Splitter().set_split_request(sample_weight=True)).set_fit_request(
        sample_weight=True
    )
    pipeline = make_pipeline(FunctionTransformer(), routed).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(asked[0], weights)
    with sklearn.config_context(enable_metadata_routing=False):
        direct = calibrated(LSSVM(), FOLDS).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(pipeline.predict_proba(X), direct.predict_proba(X))


def test_calibration_in_threads_has_the_configuration_of_the_caller(routing):
    X, y, weights = weighted_samples()
    inside = make_pipeline(FunctionTransformer(), asking(LSSVM()))
    one, two = (
        LabeledCalibratedClassifierCV(inside, cv=2, n_jobs=n).fit(X, y, sample_weight=weights).predict_proba(X)
        for n in (1, 2)
    )
    np.testing.assert_array_equal(one, two)


def test_calibration_obeys_the_request_of_its_estimator(routing):
    X, y, weights = weighted_samples()
    with pytest.raises(UnsetMetadataPassedError):
        LabeledCalibratedClassifierCV(LSSVM()).fit(X, y, sample_weight=weights)
    inner = LSSVM().set_fit_request(sample_weight=False)
    model = LabeledCalibratedClassifierCV(inner, cv=2).fit(X, y, sample_weight=weights)
    fitted = model.calibrated_classifiers_[0].estimator
    np.testing.assert_array_equal(fitted.decision_function(X), LSSVM().fit(X, y).decision_function(X))
    inside = make_pipeline(FunctionTransformer(), asking(LSSVM()))
    model = LabeledCalibratedClassifierCV(inside, cv=2).fit(X, y, sample_weight=weights)
    plain = LabeledCalibratedClassifierCV(asking(LSSVM()), cv=2).fit(X, y, sample_weight=weights)
    np.testing.assert_allclose(model.predict_proba(X), plain.predict_proba(X))


# -------------------------------------------------------------------- searches of hyperparameters


def held_out_press(model, X, y, criterion_weights, groups):
    """Weighted sum of squared residuals of samples that a model without them scores, which is fitted unweighted."""
    total = 0.0
    for group in groups:
        partly = y.copy()
        partly[group] = -1
        f = clone(model).fit(X, partly).decision_function(X[group])
        total += criterion_weights[group] @ (np.where(y[group] == 2, 1.0, -1.0) - f) ** 2
    return total


@pytest.mark.parametrize(
    "model, params, cv",
    [
        (LSSVM(gamma=0.1), None, "auto"),
        (LSSVM(gamma=0.1), "C", "auto"),  # by the eigendecomposition
        (SVM(gamma=0.1, tol=1e-6), None, FOLDS),
    ],
    ids=["closed form", "spectrum", "folds"],
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_search_obeys_the_request_of_its_estimator(routing, model, params, cv):
    X, y, weights = weighted_samples()

    def search(request=None):
        inner = clone(model).set_fit_request(sample_weight=request)
        return GradientSearchCV(inner, PRESS(cv), params=params, starts=[{}], max_iter=4, tol=1e-3)

    found = search(False).fit(X, y, sample_weight=weights)
    best = clone(model).set_params(**found.best_params_)
    np.testing.assert_array_equal(found.decision_function(X), clone(best).fit(X, y).decision_function(X))
    groups = np.flatnonzero(y != -1)[:, None]
    if cv is FOLDS:
        groups = [test for _, test in FOLDS.split(X, y)]
    assert found.best_criterion_ == pytest.approx(held_out_press(best, X, y, weights, groups), rel=1e-5)
    assert found.best_criterion_ < found.path_["criterion"][0]
    weighted = search(True).fit(X, y, sample_weight=weights)
    direct = search()
    with sklearn.config_context(enable_metadata_routing=False):
        direct.fit(X, y, sample_weight=weights)
    assert weighted.best_params_ == direct.best_params_ != found.best_params_
    np.testing.assert_array_equal(weighted.decision_function(X), direct.decision_function(X))
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        search().fit(X, y, sample_weight=weights)


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_search_routes_weights_under_another_name(routing):
    X, y, weights = weighted_samples()
    model = LSSVM(C=1.0, gamma=0.1)
    inner = clone(model).set_fit_request(sample_weight="cost")
    search = GradientSearchCV(inner, GCV(), starts=[{}], max_iter=2, tol=0.1)
    known = y != -1
    found = clone(search).fit(X, y, cost=weights)
    fitted = clone(model).fit(X, y, sample_weight=weights)
    residual = np.where(y == 2, 1.0, -1.0)[known] - fitted.decision_function(X)[known]
    leverage = 1.0 - np.diag(inverse_of(X[known], weights[known])) / weights[known]
    n = known.sum()
    assert found.path_["criterion"][0] == pytest.approx(n * residual @ residual / (n - leverage.sum()) ** 2)
    assert (found.path_["param_C"][0], found.path_["param_gamma"][0]) == pytest.approx((1.0, 0.1))
    best = clone(model).set_params(**found.best_params_).fit(X, y, sample_weight=weights)
    np.testing.assert_array_equal(found.decision_function(X), best.decision_function(X))


def inverse_of(X, costs):
    """S of least squares: the block of the inverse of K + diag(1/c) bordered by ones, with gamma = 0.1."""
    n = len(X)
    H = np.ones((n + 1, n + 1))
    H[:n, :n], H[n, n] = rbf_kernel(X, gamma=0.1) + np.diag(1.0 / costs), 0.0
    return np.linalg.inv(H)[:n, :n]


def test_search_refuses_a_criterion_of_weight_zero(routing):
    X, y, weights = weighted_samples()
    inner = LSSVM(gamma=0.1).set_fit_request(sample_weight=False)
    with pytest.raises(ValueError, match="sample_weight is 0 at all labeled samples"):
        GradientSearchCV(inner, "press").fit(X, y, sample_weight=np.where(y == -1, weights, 0.0))
