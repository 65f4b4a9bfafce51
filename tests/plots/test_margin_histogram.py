"""The bars are counts of scores, made by hand here."""

import sys

import matplotlib
import numpy as np
import pytest
from sklearn.exceptions import NotFittedError

from semisvm import DCLSSVM, LSSVM, SemiSVM
from semisvm.datasets import hide_labels, make_two_moons
from semisvm.plots import MarginHistogramDisplay

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_moons(80, random_state=0)
SHOWN = hide_labels(Y, 12, random_state=0)
MODEL = DCLSSVM().fit(X, SHOWN)
THREE = np.where(SHOWN == 2, np.where(X[:, 0] > 1, 3, 2), SHOWN)


def own_axes():
    return Figure().subplots()


def heights(bars):
    return [bar.get_height() for bar in bars]


def count(values, edges):
    ends = [*edges[1:-1], np.inf]  # the last bin holds its upper edge
    return [sum(low <= value < high for value in values) for low, high in zip(edges, ends)]


def test_counts_are_those_by_hand():
    display = MarginHistogramDisplay.from_estimator(MODEL, X, SHOWN, bins=7)
    f = MODEL.decision_function(X)
    assert display.bin_edges == pytest.approx(np.linspace(f.min(), f.max(), 8))
    assert list(display.unlabeled_counts) == count(f[SHOWN == -1], display.bin_edges)
    assert heights(display.ax_.containers[0]) == list(display.unlabeled_counts)
    for bars, label in zip(display.labeled_ax_.containers, (1, 2)):
        assert list(display.labeled_counts[f"labeled {label}"]) == count(f[label == SHOWN], display.bin_edges)
        assert heights(bars) == list(display.labeled_counts[f"labeled {label}"])
    assert display.inside_margin == pytest.approx(np.mean(np.abs(f[SHOWN == -1]) < 0.999))
    assert [line.get_xdata()[0] for line in display.ax_.lines] == [0.0, -1.0, 1.0]
    assert pyplot.get_fignums() == [display.figure_.number]


def test_several_classes_have_the_difference_of_the_two_largest_scores():
    model = LSSVM().fit(X, THREE)
    display = MarginHistogramDisplay.from_estimator(model, X, THREE, ax=own_axes())
    scores = np.sort(model.decision_function(X), axis=1)
    assert display.unlabeled == pytest.approx((scores[:, -1] - scores[:, -2])[SHOWN == -1])
    assert list(display.labeled) == ["labeled 1", "labeled 2", "labeled 3"]
    assert [line.get_xdata()[0] for line in display.ax_.lines] == [0.0, 2.0]
    pairwise = LSSVM(multiclass="ovo").fit(X, THREE)
    assert MarginHistogramDisplay.from_estimator(pairwise, X, THREE, ax=own_axes()).margin is None


def test_averaged_scores_have_no_margin():
    model = SemiSVM(random_state=0).fit(X, SHOWN)
    display = MarginHistogramDisplay.from_estimator(model, X, SHOWN, ax=own_axes())
    assert display.inside_margin is None
    assert len(display.ax_.lines) == 1


def test_it_is_drawn_again_in_axes_of_the_user():
    display = MarginHistogramDisplay([0.0, 0.5, 2.0], {"a": [-1.0], "b": []}, bins=[-1, 0, 1, 2], margin=1.0)
    assert list(display.unlabeled_counts) == [0, 2, 1]
    assert display.inside_margin == pytest.approx(2 / 3)
    for _ in range(2):
        ax = own_axes()
        assert display.plot(ax) is display
        assert display.ax_ is ax
        assert heights(ax.containers[0]) == [0, 2, 1]
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"y": Y}, "y has a label for each of 80 samples; .* Pass the y of fit.$"),
        ({"y": np.full(80, -1)}, "y holds no labeled sample"),
        ({"X": np.where(X[3] == X, np.inf, X)}, "X holds NaN or infinity in 1 of 80 samples"),
    ],
)
def test_bad_input(changed, message):
    with pytest.raises(ValueError, match=message):
        MarginHistogramDisplay.from_estimator(**{"estimator": MODEL, "X": X, "y": SHOWN} | changed)
    assert not pyplot.get_fignums()


def test_an_estimator_that_is_not_fitted():
    with pytest.raises(NotFittedError):
        MarginHistogramDisplay.from_estimator(LSSVM(), X, SHOWN)


def test_bad_numbers():
    with pytest.raises(ValueError, match="scores of a are not a sequence of finite numbers"):
        MarginHistogramDisplay([0.0], {"a": [np.nan]})
    with pytest.raises(ValueError, match="there are no scores"):
        MarginHistogramDisplay([], {"a": []})


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"MarginHistogramDisplay needs the package matplotlib.*semisvm\[plots\]'"):
        MarginHistogramDisplay.from_estimator(MODEL, X, SHOWN)
