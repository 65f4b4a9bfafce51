"""Metadata routing: the classifier in the rounds, and the helper, are given the weights that they ask for."""

import numpy as np
import pytest
import sklearn
from numpy.testing import assert_allclose, assert_array_equal
from scipy.special import softmax
from sklearn.base import clone
from sklearn.exceptions import UnsetMetadataPassedError
from sklearn.linear_model import RidgeClassifier
from sklearn.model_selection import GridSearchCV
from sklearn.neighbors import KernelDensity, KNeighborsClassifier
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import FunctionTransformer
from sklearn.utils.metadata_routing import MetadataRouter

from factories import two_gaussians
from rounds_reference import partly_labeled_blobs
from semisvm import DCLSSVM, LSSVM, SVM, HelpTraining, SelfTraining
from semisvm._validation import check_training_set
from semisvm.estimators._calibration import held_out_groups
from semisvm.model_selection import LabeledKFold
from semisvm.multiclass import fit_slope
from semisvm.self_training.calibration import class_scores, held_out_scores
from semisvm.self_training.metadata import FitMetadata

RIDGE = RidgeClassifier(alpha=3.0)
MODELS = {  # a wrapper per way in which the classifier is fitted
    "LSSVM that grows": SelfTraining(LSSVM(C=1.0), threshold=0.4),
    "LSSVM that grows, C and gamma by all samples": SelfTraining(LSSVM(), threshold=0.4),
    "SVM by pair steps": SelfTraining(SVM(C=1.0, tol=1e-6), threshold=0.4),
    "semi-supervised": SelfTraining(DCLSSVM(), threshold=0.4, k_best=10),
    "by probabilities": SelfTraining(LSSVM(C=1.0), threshold=0.7, confidence="probability"),
    "of scikit-learn": SelfTraining(RIDGE, threshold=0.4),
    "Help-Training": HelpTraining(LSSVM(C=1.0), KernelDensity(), n_candidates=5),
}


@pytest.fixture
def routing():
    with sklearn.config_context(enable_metadata_routing=True):
        yield


def weighted_samples(k=2):
    X, y, _ = partly_labeled_blobs(k, distance=0.8)
    return X, y, np.random.default_rng(0).uniform(0.1, 4.0, len(y))


def requesting(wrapper, request):
    """The wrapper with this request of all that it fits."""
    wrapper = clone(wrapper)
    for name in ("estimator", "helper"):
        if hasattr(getattr(wrapper, name, None), "set_fit_request"):
            getattr(wrapper, name).set_fit_request(sample_weight=request)
    return wrapper


def fit_without_routing(wrapper, X, y, sample_weight=None):
    with sklearn.config_context(enable_metadata_routing=False):
        return clone(wrapper).fit(X, y, sample_weight=sample_weight)


def assert_same_models(found, expected, X):
    assert_array_equal(found.labeled_iter_, expected.labeled_iter_)
    assert_array_equal(found.transduction_, expected.transduction_)
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-12, atol=1e-12)
    pair = found.supervised_.decision_function(X), expected.supervised_.decision_function(X)
    assert_allclose(*pair, rtol=1e-12, atol=1e-12)


@pytest.mark.parametrize("case", MODELS)
def test_the_request_says_whether_the_classifier_is_weighted(routing, case):
    X, y, weights = weighted_samples()
    wrapper = MODELS[case]
    plain, weighted = (fit_without_routing(wrapper, X, y, one) for one in (None, weights))
    assert plain.n_iter_ > 2
    assert not np.allclose(plain.decision_function(X), weighted.decision_function(X), rtol=1e-2)
    assert_same_models(requesting(wrapper, False).fit(X, y, sample_weight=weights), plain, X)
    assert_same_models(requesting(wrapper, True).fit(X, y, sample_weight=weights), weighted, X)
    assert_same_models(requesting(wrapper, None).fit(X, y), plain, X)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        requesting(wrapper, None).fit(X, y, sample_weight=weights)


@pytest.mark.parametrize("case", ["LSSVM that grows", "SVM by pair steps", "semi-supervised", "of scikit-learn"])
def test_samples_of_weight_zero_are_left_out_whatever_the_request(routing, case):
    X, y, weights = weighted_samples()
    weights[::5] = 0.0
    part = weights > 0
    found = requesting(MODELS[case], False).fit(X, y, sample_weight=weights)
    expected = fit_without_routing(MODELS[case], X[part], y[part])
    assert_array_equal(found.labeled_iter_[part], expected.labeled_iter_)
    assert_allclose(found.decision_function(X), expected.decision_function(X), rtol=1e-9, atol=1e-9)


def test_the_slope_of_the_probabilities_has_the_weights_and_its_rounds_the_request(routing):
    X, y, weights = weighted_samples()
    wrapper = MODELS["LSSVM that grows"]
    found = requesting(wrapper, False).fit(X, y, sample_weight=weights)
    data = check_training_set(clone(wrapper), X, y, np.ones(len(y)), precomputed=False)
    groups = held_out_groups(X, data.labels.codes, 2, False, "SelfTraining")
    held, scores = np.concatenate(groups), held_out_scores(clone(wrapper), data, groups)
    slope = fit_slope(class_scores(scores, False), data.labels.codes[held], weights[held])
    f = found.decision_function(X)
    assert_allclose(found.predict_proba(X), softmax(slope * np.column_stack([-f / 2, f / 2]), axis=1))
    found = requesting(wrapper, True).fit(X, y, sample_weight=weights)
    assert_allclose(found.predict_proba(X), fit_without_routing(wrapper, X, y, weights).predict_proba(X))


def test_pipelines_are_routed_to_in_threads_and_after_the_fit():
    X, y, weights = weighted_samples(3)
    wrapper = SelfTraining(RIDGE, threshold=0.4, multiclass="ovr", n_jobs=2)
    with sklearn.config_context(enable_metadata_routing=True):
        inside = make_pipeline(FunctionTransformer(), clone(RIDGE).set_fit_request(sample_weight=True))
        found = clone(wrapper).set_params(estimator=inside).fit(X, y, sample_weight=weights)
    expected = clone(wrapper).fit(X, y, sample_weight=weights)
    assert_same_models(found, expected, X)  # supervised_ and probabilities are computed without routing now
    assert_allclose(found.predict_proba(X), expected.predict_proba(X))


def test_weights_under_another_name_and_other_metadata(routing):
    X, y, weights = weighted_samples()
    wrapper, seen = SelfTraining(clone(RIDGE).set_fit_request(sample_weight="cost"), threshold=0.4), []

    class Classifier(RidgeClassifier):
        def fit(self, X, y, sample_weight=None, source=None):
            seen.append((X, source))
            return super().fit(X, y, sample_weight)

    expected = fit_without_routing(MODELS["of scikit-learn"], X, y, weights)
    assert_same_models(clone(wrapper).fit(X, y, cost=weights), expected, X)
    with pytest.raises(ValueError, match="are 0 at 4 samples of positive sample_weight"):
        clone(wrapper).fit(X, y, cost=np.where(np.arange(len(y)) < 4, 0.0, 1.0))
    with pytest.raises(TypeError, match="unexpected"):
        clone(wrapper).fit(X, y, price=weights)
    asking = Classifier(alpha=3.0).set_fit_request(source=True, sample_weight=False)
    SelfTraining(asking, threshold=0.4).fit(X, y, sample_weight=weights, source=X[:, 0])
    assert len(seen) > 2
    assert all(np.array_equal(samples[:, 0], source) for samples, source in seen)


def test_the_default_classifier_asks_for_weights(routing):
    X, y, weights = weighted_samples()
    found = SelfTraining(threshold=0.4).fit(X, y, sample_weight=weights)
    assert_same_models(found, fit_without_routing(SelfTraining(threshold=0.4), X, y, weights), X)


def test_the_helper_has_a_request_of_its_own(routing):
    X, y, weights = weighted_samples()
    model, helper = LSSVM(C=1.0).set_fit_request(sample_weight=False), KernelDensity()

    def labeled_in(helper, sample_weight, model=model):
        return HelpTraining(model, helper, n_candidates=5).fit(X, y, sample_weight=sample_weight).labeled_iter_

    class UnweightedDensity(KernelDensity):
        def fit(self, X, y=None):
            return super().fit(X)

    plain = labeled_in(helper, None)
    weighted = labeled_in(clone(helper).set_fit_request(sample_weight=True), weights)
    assert (weighted != plain).any()
    assert_array_equal(labeled_in(clone(helper).set_fit_request(sample_weight=False), weights), plain)
    assert_array_equal(labeled_in(UnweightedDensity(), weights), plain)
    with pytest.raises(UnsetMetadataPassedError, match="sample_weight"):
        labeled_in(helper, weights)


def test_searches_route_through_the_wrapper(routing):
    X, y, weights = weighted_samples()
    for request in (False, True):
        wrapper = requesting(MODELS["of scikit-learn"], request).set_fit_request(sample_weight=True)
        wrapper.set_score_request(sample_weight=True)
        assert isinstance(wrapper.get_metadata_routing(), MetadataRouter)
        search = GridSearchCV(wrapper, {"threshold": [0.4]}, cv=LabeledKFold(2), error_score="raise")
        found = search.fit(X, y, sample_weight=weights).best_estimator_
        assert_same_models(found, fit_without_routing(wrapper, X, y, weights if request else None), X)


def test_without_routing_metadata_other_than_weights_are_refused():
    X, y = two_gaussians()
    with pytest.raises(TypeError, match=r"SelfTraining.fit got cost; without metadata routing it takes X, y and"):
        SelfTraining(RIDGE).fit(X, y, cost=np.ones(len(y)))


def test_a_classifier_without_weights_takes_weights_of_zero_and_one():
    X, y, weights = weighted_samples()
    part = weights > 0.8
    wrapper = SelfTraining(KNeighborsClassifier(5), confidence="probability", threshold=0.7)
    found, expected = (
        clone(wrapper).fit(X, y, sample_weight=part.astype(float)),
        clone(wrapper).fit(X[part], y[part]),
    )
    assert_array_equal(found.labeled_iter_[part], expected.labeled_iter_)
    assert_allclose(found.predict_proba(X), expected.predict_proba(X))


def test_metadata_of_some_samples():
    own = FitMetadata.routed({"sample_weight": [3.0, 2.0, 5.0], "note": "abc"}, np.array([1.0, 7.0, 0.0]))
    assert_array_equal(own.weights, [3.0, 2.0, 0.0])
    part = own.take(np.array([1]))
    assert part.params == {"sample_weight": [2.0], "note": "abc"}
    assert_array_equal(part.weights, [2.0])
