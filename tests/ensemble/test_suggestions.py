"""Which samples to label next: the batch is recomputed naively, and holds neither labeled nor equal samples."""

import warnings

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression, RidgeClassifier
from sklearn.pipeline import make_pipeline
from sklearn.svm import SVC

from semisvm import SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.ensemble import Suggestion, suggest_labels, suggestions
from semisvm.ensemble.committee import measure_doubt, vote_shares
from semisvm.ensemble.coverage import greedy_coverage, neighborhood_width


def clouds(n_classes, n=90, seed=0):
    """Overlapping clouds in three dimensions, a fifth of them labeled."""
    rng = np.random.default_rng(seed)
    y = np.arange(n) % n_classes
    X = rng.standard_normal((n, 3)) + 2.0 * np.eye(3)[y % 3] * (1 + y // 3)[:, None]
    return X, np.where(np.arange(n) < n // 5, y, -1)


def logistic(X, y):
    return LogisticRegression().fit(X[y >= 0], y[y >= 0])


@pytest.fixture(scope="module", params=[2, 3])
def ensemble(request):
    X, y = clouds(request.param, 60)
    return SemiSVM(safety="bold", random_state=0).fit(X, y), X, y


def best_of_all(X, labeled, candidates, weights, width, n):
    """The greedy rule, every value of F computed anew."""

    def value(samples):
        nearest = np.square(X[candidates][:, None] - X[samples][None]).sum(axis=2).min(axis=1)
        return weights @ np.exp(-nearest / width)

    batch, worth = [], []
    for _ in range(n):
        gains = {i: value([*labeled, *batch, i]) - value([*labeled, *batch]) for i in candidates if i not in batch}
        batch.append(max(gains, key=gains.get))
        worth.append(gains[batch[-1]] / weights.sum())
    return batch, worth


def test_the_batch_is_that_of_the_greedy_rule(ensemble):
    model, X, y = ensemble
    labeled, rest = np.flatnonzero(y >= 0), np.flatnonzero(y < 0)
    doubt = measure_doubt(model, X[rest])
    weights = suggestions.CERTAIN_WEIGHT + doubt.uncertainty + doubt.disagreement
    distances = np.sort(np.square(X[:, None] - X[None]).sum(axis=2), axis=1)
    width = np.median(distances[:, max(2, round(len(X) / (len(labeled) + 8)))])
    batch, worth = best_of_all(X, labeled, rest, weights, width, 8)
    found = suggest_labels(model, X, y, n=8)
    assert [one.position for one in found] == batch
    np.testing.assert_allclose([one.worth for one in found], worth, rtol=1e-9)


@pytest.mark.parametrize("seed", range(5))
def test_lazy_gains_choose_as_gains_that_are_all_computed(seed):
    rng = np.random.default_rng(seed)
    K, weights, covered = rng.random((40, 30)) ** 4, rng.random(30), rng.random(30) / 4
    for one in greedy_coverage(K, weights, covered, 40):
        gains = np.maximum(K - covered, 0.0) @ weights
        np.testing.assert_allclose(one.gain, gains.max(), rtol=1e-12, atol=1e-15)
        np.testing.assert_allclose(gains[one.candidate], gains.max(), rtol=1e-12, atol=1e-15)
        covered = np.maximum(covered, K[one.candidate])


def test_votes_are_those_of_the_members(ensemble):
    model, X, _ = ensemble
    shares, a = vote_shares(model, X), model.average_weight_
    np.testing.assert_allclose(shares.sum(axis=1), 1.0)
    expected = np.zeros_like(shares)
    expected[np.arange(len(X)), model.supervised_.predict(X)] += 1.0 - a
    for space in model._models_:
        k = space.n_columns
        f = np.tanh(space.models.scores(X) / space.sizes)
        for j in range(0, f.shape[1], k):
            voted = (f[:, j] > 0).astype(int) if k == 1 else f[:, j : j + k].argmax(axis=1)
            expected[np.arange(len(X)), voted] += a * space.weights[j]
    np.testing.assert_allclose(shares, expected)


def test_suggestions_are_unlabeled_distinct_and_in_the_order_of_worth(ensemble):
    model, X, y = ensemble
    found = suggest_labels(model, X, y, n=12, random_state=0)
    positions = [one.position for one in found]
    assert len(set(positions)) == 12
    assert (y[positions] == -1).all()
    assert np.all(np.diff([one.worth for one in found]) <= 1e-12)
    for one in found:
        assert isinstance(one, Suggestion)
        assert one.reason in suggestions.REASONS
        assert min(one.uncertainty, one.disagreement, one.novelty) >= 0.0
        assert max(one.uncertainty, one.disagreement, one.novelty) <= 1.0
    assert found == suggest_labels(model, X, y, n=12, random_state=0)


def test_an_ensemble_of_sparse_samples():
    X, y = clouds(2, 40)
    X = sparse.csr_array(np.where(X > 0, X, 0.0))
    found = suggest_labels(SemiSVM(random_state=0).fit(X, y), X, y, n=6)
    assert len({one.position for one in found}) == 6
    assert (y[[one.position for one in found]] == -1).all()


def test_of_copies_one_is_suggested_while_other_samples_are_left():
    X, y = clouds(2, 40)
    X, y = np.r_[X, X, X[:4]], np.r_[y, np.full(44, -1)]  # copies of labeled and of unlabeled samples
    found = suggest_labels(logistic(X, y), X, y, n=1000)
    positions = [one.position for one in found]
    assert sorted(positions) == np.flatnonzero(y < 0).tolist()
    n_distinct = len(np.unique(X[y < 0], axis=0)) - (y[:40] >= 0).sum()  # without the copies of labeled samples
    assert len(np.unique(X[positions[:n_distinct]], axis=0)) == n_distinct
    assert not (X[positions[:n_distinct], None] == X[y >= 0]).all(axis=2).any()


def test_copies_of_labeled_samples_are_suggested_if_there_are_no_others():
    X = np.repeat(np.eye(2), 3, axis=0)
    y = np.array([0, -1, -1, 1, -1, -1])
    assert sorted(one.position for one in suggest_labels(logistic(X, y), X, y, n=3)) in ([1, 2, 4], [1, 4, 5])


def test_one_of_each_uncertain_cluster_comes_before_a_second_one():
    rng = np.random.default_rng(0)
    centers = np.array([[-6.0, 0.0], [6.0, 0.0], [0.0, 8.0], [0.0, -8.0], [0.0, 0.0]])
    cluster = np.repeat(np.arange(5), 20)
    X = centers[cluster] + 0.3 * rng.standard_normal((100, 2))
    y = np.full(100, -1)
    y[[0, 20]] = 0, 1
    found = suggest_labels(logistic(X, y), X, y, n=3)
    assert {int(cluster[one.position]) for one in found} == {2, 3, 4}
    assert found[0].disagreement is None


def test_reasons_are_the_measures_in_which_a_sample_stands_out():
    doubt = suggestions.Doubt(np.array([0.9, 0.1, 0.2, 0.3]), np.array([0.0, 0.8, 0.1, 0.0]))
    novelty = np.array([0.3, 0.1, 0.7, 0.2])
    found = suggestions._explain([0, 1, 2], {0: 0.5}, np.array([4, 5, 6, 7]), doubt, novelty)
    assert [one.reason for one in found] == [suggestions.UNCERTAIN, suggestions.DISAGREE, suggestions.UNLIKE]
    assert [(one.position, one.worth) for one in found] == [(4, 0.5), (5, 0.0), (6, 0.0)]
    flat = suggestions.Doubt(np.zeros(4), np.zeros(4))
    assert suggestions._explain([0], {}, np.arange(4), flat, np.zeros(4))[0].reason == suggestions.TYPICAL


@pytest.mark.parametrize("n_classes", [2, 3, 6])
@pytest.mark.parametrize("model", [LogisticRegression(), SVC(), RidgeClassifier()], ids=lambda one: type(one).__name__)
def test_other_classifiers_and_sparse_samples(model, n_classes):
    X, y = clouds(n_classes)
    found = []
    for samples in (X, sparse.csr_matrix(X), sparse.csr_array(X)):
        model.fit(samples[y >= 0], y[y >= 0])
        found.append([one.position for one in suggest_labels(model, samples, y, n=5)])
    assert len(set(found[0])) == 5
    assert (y[found[0]] == -1).all()
    assert found[0] == found[1] == found[2]


def test_pipelines_of_texts():
    words = np.array(["red", "green", "blue", "hot", "cold", "warm"])
    rng = np.random.default_rng(0)
    texts = [" ".join(rng.choice(words[3 * (i % 2) : 3 * (i % 2) + 3], 4)) for i in range(30)]
    y = [("color", "heat")[i % 2] if i < 10 else "" for i in range(30)]
    model = make_pipeline(TfidfVectorizer(), SVC()).fit(texts[:10], y[:10])
    found = [one.position for one in suggest_labels(model, texts, y, n=4)]
    assert len(set(found)) == 4
    assert min(found) >= 10


def test_data_frames():
    X, y = clouds(2, 40)
    frame = pd.DataFrame(X, columns=["a", "b", "c"])
    model = LogisticRegression().fit(frame[y >= 0], y[y >= 0])
    with warnings.catch_warnings():
        warnings.simplefilter("error")  # of names that are missing
        found = suggest_labels(model, frame, y, n=6)
    assert [one.position for one in found] == [one.position for one in suggest_labels(logistic(X, y), X, y, n=6)]


def test_the_marker_of_the_model_counts():
    X, y = clouds(2, 40)
    signs = np.where(y < 0, 0, 2 * y - 1)
    model = SVC().fit(X[y >= 0], signs[y >= 0])
    with pytest.raises(ValueError, match="there is none to suggest"):
        suggest_labels(model, X, np.where(y < 0, 1, y))
    model.unlabeled = 0
    assert {int(signs[one.position]) for one in suggest_labels(model, X, signs, n=9)} == {0}
    again = SVC().fit(X[y >= 0], signs[y >= 0])
    assert suggest_labels(model, X, signs, n=9) == suggest_labels(again, X, signs, n=9, unlabeled=0)


def test_many_samples_are_compared_in_part(monkeypatch):
    X, y = clouds(2, 300)
    model = logistic(X, y)
    monkeypatch.setattr(suggestions, "MAX_CANDIDATES", 40)
    monkeypatch.setattr(suggestions, "MAX_COVERED", 30)
    found = suggest_labels(model, X, y, n=60, random_state=1)
    assert found == suggest_labels(model, X, y, n=60, random_state=1)
    assert len({one.position for one in found}) == 60  # those beyond the candidates come by their weight
    assert [one.worth for one in found[40:]] == [0.0] * 20
    monkeypatch.setattr(suggestions, "MAX_MEASURED", 50)
    looked_at = {one.position for one in suggest_labels(model, X, y, n=50, random_state=1)}
    assert len(looked_at) == 50
    assert looked_at != {one.position for one in suggest_labels(model, X, y, n=50, random_state=2)}
    assert len(suggest_labels(model, X, y, n=70, random_state=1)) == 70


def test_probabilities_that_are_not_known_are_uncertain():
    class Unsure(LogisticRegression):
        def predict_proba(self, X):
            return np.where(X[:, :1] > 1.0, np.nan, super().predict_proba(X))

    X, y = clouds(2, 40)
    doubt = measure_doubt(Unsure().fit(X[y >= 0], y[y >= 0]), X)
    np.testing.assert_array_equal(doubt.uncertainty[X[:, 0] > 1.0], 1.0)


def test_refusals():
    X, y = clouds(3, 30)
    model = logistic(X, y)
    with pytest.raises(ValueError, match="all 30 samples have a label; there is none to suggest"):
        suggest_labels(model, X, np.abs(y))
    with pytest.raises(ValueError, match="n=0 is not allowed; n takes a whole number of 1 or more"):
        suggest_labels(model, X, y, n=0)
    with pytest.raises(ValueError, match="X has 30 samples and y has 29 values"):
        suggest_labels(model, X, y[:-1])
    ovo = SVC(decision_function_shape="ovo").fit(X, np.arange(30) % 4)
    with pytest.raises(ValueError, match="6 scores for 4 classes"):
        suggest_labels(ovo, X, y)
    with pytest.raises(ValueError, match="neither predict_proba nor decision_function"):
        measure_doubt(object(), X)


def test_widths_of_equal_samples():
    assert neighborhood_width(np.ones((5, 2)), 3) == 1.0
    assert neighborhood_width(np.array([[0.0], [0.0], [0.0], [0.0], [2.0]]), 10) == 4.0
    assert neighborhood_width(np.array([[1.0]]), 1) == 1.0


def test_hidden_labels_of_the_data_sets_are_never_suggested():
    X, y = make_two_gaussians(80, random_state=0)
    partly = hide_labels(y, 20, random_state=0)
    found = suggest_labels(SVC().fit(X, y), X, partly, n=80)
    assert sorted(one.position for one in found) == np.flatnonzero(partly == -1).tolist()
