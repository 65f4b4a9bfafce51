"""The errors against the number of labels are those of models fitted by hand."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from sklearn.linear_model import LogisticRegression

from semisvm import DCLSSVM, LSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.plots import LearningCurveDisplay

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_gaussians(80, 5, 0.7, random_state=0)
CURVES = LearningCurveDisplay.from_estimators


def own_axes():
    return Figure().subplots()


def error_by_hand(estimator, n_labels, seed, test=None, supervised=False):
    shown = hide_labels(Y, n_labels, seed)
    fitted = estimator.fit(X, shown)
    fitted = fitted.supervised_ if supervised else fitted
    X_left, y_left = (X[shown == -1], Y[shown == -1]) if test is None else test
    return 100 * np.mean(fitted.predict(X_left) != y_left)


def test_errors_are_those_of_models_fitted_by_hand():
    display = CURVES(
        {"without": LSSVM(), "with": DCLSSVM()}, X, Y, n_labels=[6, 20], n_draws=3, supervised=True, random_state=5
    )
    for name, estimator in (("without", LSSVM()), ("with", DCLSSVM())):
        expected = [[error_by_hand(estimator, n, 5 + draw) for draw in range(3)] for n in (6, 20)]
        assert display.errors[name] == pytest.approx(np.array(expected))
        line = display.lines_[name]
        assert line.get_xdata() == pytest.approx([6, 20])
        assert line.get_ydata() == pytest.approx(np.mean(expected, axis=1))
    assert list(display.supervised_errors) == ["with"]
    supervised = [error_by_hand(DCLSSVM(), n, 5, supervised=True) for n in (6, 20)]
    assert display.supervised_errors["with"][:, 0] == pytest.approx(supervised)
    dashed = [line for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert [line.get_label() for line in dashed] == ["with, supervised"]
    assert dashed[0].get_ydata() == pytest.approx(display.supervised_errors["with"].mean(axis=1))
    assert pyplot.get_fignums() == [display.figure_.number]


def test_errors_on_test_samples():
    test = make_two_gaussians(50, 5, 0.7, random_state=1)
    display = CURVES(
        LSSVM(), X, Y, n_labels=8, n_draws=2, X_test=test[0], y_test=test[1], random_state=0, ax=own_axes()
    )
    assert display.errors["LSSVM"] == pytest.approx(np.array([[error_by_hand(LSSVM(), 8, d, test) for d in (0, 1)]]))


@pytest.mark.parametrize("spread, divisor", [("standard_error", np.sqrt(3)), ("deviation", 1.0)])
def test_bands_are_spreads_over_draws(spread, divisor):
    errors = np.array([[10.0, 20.0, 30.0], [4.0, 5.0, 9.0]])
    display = LearningCurveDisplay([10, 20], {"a": errors}).plot(own_axes(), spread=spread)
    (band,) = display.ax_.collections
    heights = band.get_paths()[0].vertices
    for n_labels, row in zip((10, 20), errors):
        ends = heights[heights[:, 0] == n_labels, 1]
        width = row.std(ddof=1) / divisor
        assert (ends.min(), ends.max()) == pytest.approx((row.mean() - width, row.mean() + width))


def test_numbers_of_labels_are_drawn_in_order():
    display = LearningCurveDisplay([20, 10], {"a": [[1.0], [2.0]]}).plot(own_axes())
    assert list(display.lines_["a"].get_ydata()) == [2.0, 1.0]
    assert not display.ax_.collections  # no spread of a single draw


def test_axes_of_the_user_are_used_and_no_figure_is_made():
    ax = own_axes()
    display = LearningCurveDisplay([10, 20], {"a": [[1.0, 2.0], [2.0, 3.0]]}).plot(ax)
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert not pyplot.get_fignums()


def test_estimators_of_one_class_get_numbers():
    display = CURVES([LSSVM(1.0), LSSVM(10.0)], X, Y, n_labels=[10], n_draws=1, random_state=0, ax=own_axes())
    assert list(display.errors) == ["LSSVM 1", "LSSVM 2"]


def test_data_frames_text_labels_and_other_classifiers():
    frame, text = pd.DataFrame(X), np.where(Y == 1, "ham", "spam")
    ours = CURVES(LSSVM(), frame, text, n_labels=[10], n_draws=2, random_state=0, ax=own_axes())
    numbers = CURVES(LSSVM(), X, Y, n_labels=[10], n_draws=2, random_state=0, ax=own_axes())
    assert ours.errors["LSSVM"] == pytest.approx(numbers.errors["LSSVM"])
    other = CURVES(
        LogisticRegression(), X, Y, n_labels=[80], n_draws=1, X_test=X, y_test=Y, supervised=True, ax=own_axes()
    )
    assert not other.supervised_errors


@pytest.mark.parametrize("samples", [X.tolist(), pl.DataFrame(X)], ids=["list", "polars"])
def test_lists_and_polars_data_frames(samples):
    expected = CURVES(LSSVM(), X, Y, n_labels=[10], n_draws=1, random_state=0, ax=own_axes())
    display = CURVES(LSSVM(), samples, Y, n_labels=[10], n_draws=1, random_state=0, ax=own_axes())
    assert display.errors["LSSVM"] == pytest.approx(expected.errors["LSSVM"])


@pytest.mark.parametrize("marker", [np.nan, None, 0])
def test_all_markers_of_hidden_labels(marker):
    expected = CURVES(LSSVM(), X, Y, n_labels=[10], n_draws=2, random_state=0, ax=own_axes())
    estimator = LSSVM(unlabeled=0 if marker == 0 else None)
    y = Y.astype(float) if marker is np.nan else Y
    display = CURVES(estimator, X, y, n_labels=[10], n_draws=2, unlabeled=marker, random_state=0, ax=own_axes())
    assert display.errors["LSSVM"] == pytest.approx(expected.errors["LSSVM"])


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"estimators": []}, "estimators is empty"),
        ({"n_labels": []}, "n_labels is empty"),
        ({"n_labels": [1]}, "n_labels has 1; 80 samples of 2 classes allow 2 to 79"),
        ({"n_labels": [80]}, "counted on hidden labels unless X_test"),
        ({"n_labels": [2.5]}, "n_labels=2.5 is not allowed"),
        ({"n_draws": 0}, "n_draws=0 is not allowed"),
        ({"spread": "range"}, "spread='range' is not allowed"),
        ({"X_test": X}, "y_test is missing"),
        ({"random_state": np.random.default_rng()}, "random_state=.* is not allowed"),
        ({"y": 2 * Y - 3}, "y has the class -1, which marks hidden labels"),
    ],
)
def test_bad_input(changed, message):
    arguments = {"estimators": [LSSVM()], "X": X, "y": Y, "n_labels": [10], "n_draws": 1} | changed
    with pytest.raises(ValueError, match=message):
        CURVES(**arguments)
    assert not pyplot.get_fignums()


def test_bad_numbers():
    with pytest.raises(ValueError, match=r"errors of a have the shape \(2,\); 1 numbers of labels need \(1, "):
        LearningCurveDisplay([10], {"a": [1.0, 2.0]})
    with pytest.raises(ValueError, match="supervised_errors have 'b'"):
        LearningCurveDisplay([10], {"a": [[1.0]]}, {"b": [[1.0]]})


def test_a_missing_matplotlib_is_named_before_the_fits(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"LearningCurveDisplay needs the package matplotlib.*semisvm\[plots\]'\.$"):
        CURVES([LSSVM()], X, Y)
