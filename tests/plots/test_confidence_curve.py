"""The accuracy of the most confident samples is counted by hand; samples of equal confidence stay together."""

import sys

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError
from sklearn.svm import LinearSVC

from semisvm import DCLSSVM, LSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.plots import ConfidenceCurveDisplay

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_gaussians(80, 3, 1.0, random_state=0)
SHOWN = hide_labels(Y, 12, random_state=0)
X_TEST, Y_TEST = make_two_gaussians(50, 3, 1.0, random_state=1)
MODEL = LSSVM().fit(X, SHOWN)
CURVES = ConfidenceCurveDisplay.from_estimators


def own_axes():
    return Figure().subplots()


def test_accuracies_are_counted_by_hand():
    display = CURVES({"a": MODEL, "b": DCLSSVM().fit(X, SHOWN)}, X_TEST, Y_TEST)
    confidence, correct = np.abs(MODEL.decision_function(X_TEST)), MODEL.predict(X_TEST) == Y_TEST
    shares, accuracies = display.curves["a"].T
    assert len(shares) == 50
    for share, accuracy in ((shares[i], accuracies[i]) for i in (0, 9, 33, 49)):
        kept = np.argsort(confidence)[::-1][: round(50 * share)]
        assert accuracy == pytest.approx(correct[kept].mean())
    assert accuracies[-1] == pytest.approx(MODEL.score(X_TEST, Y_TEST))
    assert np.column_stack(display.lines_["a"].get_data()) == pytest.approx(100 * display.curves["a"])
    assert list(display.lines_) == ["a", "b"]
    assert pyplot.get_fignums() == [display.figure_.number]


def test_samples_of_equal_confidence_stay_together():
    display = ConfidenceCurveDisplay.from_predictions(
        ["a", "a", "b", "b"], ["a", "b", "b", "a"], [2.0, 1.0, 1.0, 0.5], name="one", ax=own_axes()
    )
    assert display.curves["one"] == pytest.approx(np.array([[0.25, 1.0], [0.75, 2 / 3], [1.0, 0.5]]))


def test_several_classes_are_sorted_by_the_difference_of_the_two_largest_scores():
    three = np.where(Y == 2, np.where(X[:, 0] > 1, 3, 2), Y)
    model = LSSVM().fit(X, three)
    scores = np.sort(model.decision_function(X), axis=1)
    by_hand = ConfidenceCurveDisplay.from_predictions(
        three, model.predict(X), scores[:, -1] - scores[:, -2], ax=own_axes()
    )
    assert CURVES(model, X, three, ax=own_axes()).curves["LSSVM"] == pytest.approx(by_hand.curves["classifier"])


def test_unlabeled_samples_are_skipped():
    known = SHOWN != -1
    some, rest = CURVES(MODEL, X, SHOWN, ax=own_axes()), CURVES(MODEL, X[known], Y[known], ax=own_axes())
    assert some.curves["LSSVM"] == pytest.approx(rest.curves["LSSVM"])


def test_estimated_accuracies_are_means_of_probabilities():
    probability = np.sort(MODEL.predict_proba(X_TEST).max(axis=1))[::-1]
    for options in ({"confidence": "probability"}, {}):
        display = CURVES(MODEL, X_TEST, ax=own_axes(), **options)
        assert not display.curves
        assert display.estimated["LSSVM"][:, 1] == pytest.approx(np.cumsum(probability) / np.arange(1, 51))
    both = CURVES(MODEL, X_TEST, Y_TEST, estimated=True, ax=own_axes())
    assert both.estimated["LSSVM"] == pytest.approx(display.estimated["LSSVM"])
    assert both.estimated_lines_["LSSVM"].get_linestyle() == "--"
    assert list(both.lines_) == ["LSSVM"]


def test_it_is_drawn_again_in_axes_of_the_user():
    display, ax = ConfidenceCurveDisplay({"a": [[0.5, 1.0], [1.0, 0.9]]}), own_axes()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert list(display.lines_["a"].get_ydata()) == [100.0, 90.0]
    assert not pyplot.get_fignums()


def test_bad_input():
    with pytest.raises(NotFittedError):
        CURVES(LSSVM(), X_TEST, Y_TEST)
    with pytest.raises(ValueError, match="LinearSVC has no predict_proba, which ConfidenceCurveDisplay draws"):
        CURVES(LinearSVC().fit(X, Y), X_TEST)
    with pytest.raises(ValueError, match="confidence='margin' is not allowed"):
        CURVES(MODEL, X_TEST, Y_TEST, confidence="margin")
    with pytest.raises(ValueError, match="X holds NaN or infinity in 50 of 50 samples"):
        CURVES(MODEL, X_TEST * np.nan, Y_TEST)
    with pytest.raises(ValueError, match="y holds no labeled sample"):
        CURVES(MODEL, X_TEST, np.full(50, -1))
    with pytest.raises(ValueError, match="curves is empty"):
        ConfidenceCurveDisplay({})
    with pytest.raises(ValueError, match=r"the curve of a is not .* pass both as shares, not in percent"):
        ConfidenceCurveDisplay({"a": [[50.0, 100.0]]})
    with pytest.raises(ValueError, match=r"have the shapes \(2,\), \(2,\) and \(1,\); pass one number per sample"):
        ConfidenceCurveDisplay.from_predictions([1, 2], [1, 2], [0.5])
    with pytest.raises(ValueError, match="confidences hold NaN or infinity"):
        ConfidenceCurveDisplay.from_predictions([1, 2], [1, 2], [0.5, np.nan])
    with pytest.raises(ValueError, match="there are no samples"):
        ConfidenceCurveDisplay.from_predictions([], [], [])
    assert not pyplot.get_fignums()


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"ConfidenceCurveDisplay needs the package matplotlib.*semisvm\[plots\]'"):
        CURVES(MODEL, X_TEST, Y_TEST)
