"""With metadata routing the weights of the samples reach every estimator, through scikit-learn's own tools."""

import numpy as np
import pytest
import sklearn
from sklearn.base import BaseEstimator, clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.metrics import accuracy_score
from sklearn.model_selection import GridSearchCV, cross_validate
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.svm import SVC

from factories import PATHS, make_estimator, two_gaussians
from semisvm import LSSVM, HelpTraining, SelfTraining, SemiSVM
from semisvm.model_selection import (
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
    return clone(model).set_fit_request(sample_weight=True)


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
