"""Self-training and Help-Training by hand, and what is asserted of the rounds of fitted estimators."""

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from factories import blobs, make_estimator


def partly_labeled_blobs(n_classes=2, n=60, n_labeled=15, distance=1.5, seed=8):
    """Overlapping classes 1, 2, ... of three features: X, partly hidden labels, and all labels."""
    X, y = blobs(n_classes, n, n_labeled, 3, distance, seed, first_class=1)
    return X, y, 1 + np.arange(n) % n_classes


def in_short_rounds(name, estimator=None, **params):
    """SelfTraining or HelpTraining that labels a few samples per round, until all have a label."""
    short = {"k_best": 6, "threshold_decay": 0.8, "n_candidates": 4}  # of those that a class has
    return make_estimator(name, estimator=estimator, **(short | params))


def label_by_hand(estimator, X, y, threshold, decay=None, k_best=None, candidates=None, quota=None):
    """The rounds as the docstrings state them, every model fitted from scratch: labels, rounds and confidences.

    ``candidates`` is a function of the labels so far, ``quota`` the number of samples of each class.
    """
    y, iteration, confidence = y.copy(), np.where(y == -1, -1, 0), np.full(len(y), np.nan)
    classes, quota = np.unique(y[y != -1]), None if quota is None else np.array(quota)
    while (y == -1).any():
        rest, number = np.flatnonzero(y == -1), iteration.max() + 1
        f = clone(estimator).fit(X[y != -1], y[y != -1]).decision_function(X[rest])
        scores = np.column_stack([-f, f]) if f.ndim == 1 else f.copy()
        if quota is not None and np.count_nonzero(quota) == 1:
            c = np.argmax(quota)
            y[rest], iteration[rest], confidence[rest] = classes[c], number, scores[:, c]
            break
        for c, count in enumerate([] if quota is None else quota):
            ordered = np.sort(scores[:, c])[::-1]
            scores[:, c] -= (ordered[count - 1] + ordered[count]) / 2 if count else np.inf
        second, first = np.sort(scores, axis=1)[:, -2:].T
        margin = (first - second) / 2
        allowed = np.ones(len(rest), dtype=bool) if candidates is None else np.isin(rest, candidates(y))
        while decay is not None and margin[allowed].max() < threshold:
            threshold *= decay
        taken = np.flatnonzero(allowed & (margin > threshold if decay is None else margin >= threshold))
        taken = sorted(taken, key=lambda i: -margin[i])[:k_best]
        if not len(taken):
            break
        for i in taken:
            c = scores[i].argmax()
            if quota is None or quota[c]:
                y[rest[i]], iteration[rest[i]], confidence[rest[i]] = classes[c], number, margin[i]
                if quota is not None:
                    quota[c] -= 1
    return y, iteration, confidence


def densest_samples(X, gamma, counts, rank="difference"):
    """The candidates of Help-Training with Gaussian Parzen windows, as a function of the labels so far."""
    windows = rbf_kernel(X, gamma=gamma)

    def candidates(y):
        rest, classes = np.flatnonzero(y == -1), np.unique(y[y != -1])
        G = np.column_stack([windows[rest][:, y == c].mean(axis=1) for c in classes])
        if rank == "difference":
            G = np.column_stack([G[:, c] - np.delete(G, c, axis=1).max(axis=1) for c in range(len(classes))])
        order = np.argsort(-G, axis=0, kind="stable")
        return rest[np.concatenate([order[:count, c] for c, count in enumerate(counts)])]

    return candidates


def assert_rounds_are(fitted, labels, iteration, confidence, rtol=1e-7):
    """A fitted estimator has given these labels in these rounds with these confidences."""
    assert_array_equal(fitted.labeled_iter_, iteration)
    assert_array_equal(fitted.transduction_[iteration >= 0], labels[iteration >= 0])
    assert_allclose(fitted.confidence_, confidence, rtol=rtol, atol=rtol)


def assert_same_rounds(one, other, rtol=1e-7):
    """Two fitted estimators have labeled the same samples in the same rounds."""
    assert_array_equal(one.labeled_iter_, other.labeled_iter_)
    assert_array_equal(one.transduction_, other.transduction_)
    assert_allclose(one.confidence_, other.confidence_, rtol=rtol, atol=rtol)


def assert_rounds_add_up(fitted, y):
    """Every sample has one label from one source, and the trace adds up to the samples."""
    iteration, confidence, labeled = fitted.labeled_iter_, fitted.confidence_, y != -1
    assert (iteration[labeled] == 0).all()
    assert (iteration[~labeled] != 0).all()
    assert_array_equal(fitted.transduction_[labeled], y[labeled])
    assert_array_equal(np.isnan(confidence), iteration < 1)
    assert [row["step"] for row in fitted.trace_] == list(range(1, fitted.n_iter_))
    left = np.count_nonzero(~labeled)
    for row in fitted.trace_:
        now = iteration == row["step"]
        left -= row["labeled"]
        assert (row["labeled"], row["left"]) == (np.count_nonzero(now), left)
        assert row["confidence"] == pytest.approx(confidence[now].mean())
        assert row["labeled"] > 0
    assert left == np.count_nonzero(iteration == -1)
    assert (fitted.termination_condition_ == "all_labeled") == (left == 0)
