"""The errors are those of models fitted by hand, the intervals those of a textbook."""

import sys

import matplotlib
import numpy as np
import pytest
from scipy import stats

from semisvm import DCLSSVM, LSSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.plots import MethodComparisonDisplay

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_gaussians(60, 4, 0.7, random_state=0)
TEST = make_two_gaussians(30, 4, 0.7, random_state=1)
COMPARE = MethodComparisonDisplay.from_estimators
ERRORS = {"poor": [[30.0, 34.0, 35.0]], "good": [[10.0, 12.0, 11.0]]}


def own_axes():
    return Figure().subplots()


def error_by_hand(estimator, seed, test=None):
    shown = hide_labels(Y, 8, seed)
    X_left, y_left = (X[shown == -1], Y[shown == -1]) if test is None else test
    return 100 * np.mean(estimator.fit(X, shown).predict(X_left) != y_left)


def bar_ends(container):
    (segments,) = container.lines[2]
    return np.array([segment[:, 0] for segment in segments.get_segments()])


def test_errors_are_those_of_models_fitted_by_hand():
    data = {"hidden": (X, Y), "test": (X, Y, *TEST)}
    display = COMPARE([DCLSSVM()], data, n_labels=8, n_draws=3, baseline=LSSVM(), random_state=5)
    for number, test in enumerate((None, TEST)):
        expected = [error_by_hand(DCLSSVM(), 5 + draw, test) for draw in range(3)]
        assert display.errors["DCLSSVM"][number] == pytest.approx(expected)
        supervised = [error_by_hand(LSSVM(), 5 + draw, test) for draw in range(3)]
        assert display.baseline_errors[number] == pytest.approx(supervised)
        drawn = display.points_[display.sets[number]].lines[0]
        assert drawn.get_xdata() == pytest.approx([np.mean(expected)])
    lines = [line.get_xdata()[0] for line in display.ax_.lines if line.get_linestyle() == "--"]
    assert lines == pytest.approx(display.baseline_errors.mean(axis=1))
    assert pyplot.get_fignums() == [display.figure_.number]


def test_methods_are_sorted_by_their_mean():
    display = MethodComparisonDisplay(ERRORS).plot(own_axes())
    assert display.order_ == ["good", "poor"]
    assert [text.get_text() for text in display.ax_.get_yticklabels()] == ["good", "poor"]
    assert display.points_[""].lines[0].get_xdata() == pytest.approx([11.0, 33.0])
    assert display.ax_.get_ylim()[0] > display.ax_.get_ylim()[1]  # the first at the top


@pytest.mark.parametrize("interval", ["confidence", "standard_error", "deviation", None])
def test_intervals(interval):
    display = MethodComparisonDisplay(ERRORS).plot(own_axes(), interval=interval)
    if interval is None:
        assert not display.points_[""].lines[2]
        return
    good = np.array(ERRORS["good"][0])
    if interval == "confidence":
        low, high = stats.ttest_1samp(good, 0.0).confidence_interval(0.95)
    else:
        width = good.std(ddof=1) if interval == "deviation" else stats.sem(good)
        low, high = good.mean() - width, good.mean() + width
    assert bar_ends(display.points_[""])[0] == pytest.approx([low, high])


def test_differences_are_paired():
    display = MethodComparisonDisplay(ERRORS, [29.0, 34.0, 33.0]).plot(own_axes(), difference=True)
    assert display.points_[""].lines[0].get_xdata() == pytest.approx([-21.0, 1.0])
    paired = stats.ttest_rel(ERRORS["poor"][0], [29.0, 34.0, 33.0]).confidence_interval(0.95)
    assert bar_ends(display.points_[""])[1] == pytest.approx(list(paired))
    with pytest.raises(ValueError, match="difference=True needs the same draws of all methods; poor has 3"):
        MethodComparisonDisplay(ERRORS, [29.0]).plot(own_axes(), difference=True)


def test_it_is_drawn_again_in_axes_of_the_user():
    display, ax = MethodComparisonDisplay(ERRORS), own_axes()
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"estimators": []}, "estimators is empty"),
        ({"data": X}, r"data is not a data set; pass \(X, y\) or"),
        ({"data": {}}, "data is empty"),
        ({"data": (X, Y, X)}, "data is not a data set"),
        ({"data": (X, Y, X, None)}, "y_test is missing"),
        ({"data": (X, 2 * Y - 3)}, "y has the class -1, which marks hidden labels"),
        ({"n_labels": 60}, "n_labels has 60; 60 samples of 2 classes allow 2 to 59"),
        ({"n_draws": 0}, "n_draws=0 is not allowed"),
        ({"interval": "range"}, "interval='range' is not allowed"),
        ({"difference": True}, "difference=True needs a baseline"),
    ],
)
def test_bad_input(changed, message):
    with pytest.raises(ValueError, match=message):
        COMPARE(**{"estimators": [LSSVM()], "data": (X, Y), "n_labels": 8, "n_draws": 1} | changed)
    assert not pyplot.get_fignums()


def test_bad_numbers():
    with pytest.raises(ValueError, match=r"errors of a have the shape \(2, 3\); 1 sets need \(1, number of draws\)"):
        MethodComparisonDisplay({"a": np.ones((2, 3))})
    with pytest.raises(ValueError, match="errors of a hold NaN or infinity; leave out the method"):
        MethodComparisonDisplay({"a": [1.0, np.nan]})
    with pytest.raises(ValueError, match="errors is empty"):
        MethodComparisonDisplay({})


def test_a_missing_matplotlib_is_named_before_the_fits(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"MethodComparisonDisplay needs the package matplotlib.*semisvm\[plots\]'"):
        COMPARE([LSSVM()], (X, Y))
