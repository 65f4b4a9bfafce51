"""The boundary drawn is where scores are equal, along a hyperplane and a curve; samples are where they belong."""

import sys

import matplotlib
import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.ensemble import BaggingClassifier, RandomForestClassifier
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler

from semisvm import DCLSSVM, LSSVM, SVM, SelfTraining, SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians, make_two_moons
from semisvm.plots import DecisionBoundaryDisplay
from semisvm.plots.planes import kernel_density

matplotlib.use("Agg")
from matplotlib import pyplot
from matplotlib.figure import Figure

X, Y = make_two_moons(60, random_state=0)
SHOWN = hide_labels(Y, 10, random_state=0)
LINEAR = LSSVM(kernel="linear").fit(X, SHOWN)
WIDE, WIDE_Y = make_two_gaussians(40, 4, random_state=0)
WIDE_SHOWN = hide_labels(WIDE_Y, 10, random_state=0)


def own_axes():
    return Figure().subplots()


def draw(model, X=X, y=SHOWN, **options):
    return DecisionBoundaryDisplay.from_estimator(model, X, y, ax=own_axes(), **{"grid_resolution": 40} | options)


def vertices(contours):
    return np.concatenate([path.vertices for path in contours.get_paths()])


def test_boundary_and_margin_of_a_hyperplane():
    display = DecisionBoundaryDisplay.from_estimator(LINEAR, X, SHOWN, grid_resolution=10)
    (boundary,) = display.boundary_
    assert LINEAR.decision_function(vertices(boundary)) == pytest.approx(0.0, abs=1e-9)
    for level, path in zip((-1.0, 1.0), display.margin_.get_paths()):
        assert LINEAR.decision_function(path.vertices) == pytest.approx(level, abs=1e-9)
    assert pyplot.get_fignums() == [display.figure_.number]


def test_boundary_of_a_kernel():
    model = DCLSSVM(gamma=2.0).fit(X, SHOWN)
    display = draw(model, grid_resolution=150)
    assert model.decision_function(vertices(display.boundary_[0])) == pytest.approx(0.0, abs=5e-3)
    assert np.abs(model.decision_function(vertices(display.margin_))) == pytest.approx(1.0, abs=5e-3)


def test_boundaries_of_several_classes_are_where_the_two_largest_scores_are_equal():
    three = np.where(SHOWN == 2, np.where(X[:, 0] > 1, 3, 2), SHOWN)
    model = LSSVM(kernel="linear").fit(X, three)
    display = draw(model, y=three, grid_resolution=200)
    assert display.scores.shape == (200, 200, 3)
    assert len(display.boundary_) == 3
    assert display.margin_ is None
    for contours in display.boundary_:
        largest = np.sort(model.decision_function(vertices(contours)), axis=1)[:, -2:]
        assert largest[:, 0] == pytest.approx(largest[:, 1], abs=0.02)  # near the common point of three, by rounding
        assert np.median(largest[:, 1] - largest[:, 0]) < 1e-9
    assert list(display.marks_) == [1, 2, 3]


def test_labeled_samples_are_marked_by_class():
    display = draw(LINEAR)
    for label, marks in display.marks_.items():
        assert np.asarray(marks.get_offsets()) == pytest.approx(X[label == SHOWN])
    low, high = X.min(axis=0), X.max(axis=0)
    assert display.ax_.get_xlim()[0] < low[0] < high[0] < display.ax_.get_xlim()[1]
    assert display.ax_.get_ylim()[0] < low[1] < high[1] < display.ax_.get_ylim()[1]


def test_density_is_a_sum_of_gaussians_over_the_unlabeled_samples():
    display = draw(LINEAR)
    rest = X[SHOWN == -1]
    widths = 0.5 * len(rest) ** (-1 / 6) * rest.std(axis=0)
    for i, j in ((0, 0), (20, 10), (11, 31)):
        point = np.array([display.x0[j], display.x1[i]])
        kernels = np.exp(-0.5 * (((rest - point) / widths) ** 2).sum(axis=1)) / (2 * np.pi * widths.prod())
        assert display.density[i, j] == pytest.approx(kernels.mean())
    grid = np.linspace(-9, 9, 100)
    mass = kernel_density(np.repeat(rest, 100, axis=0), grid, grid).sum() * (grid[1] - grid[0]) ** 2
    assert mass == pytest.approx(1.0)
    assert np.isfinite(kernel_density(np.zeros((1, 2)), grid, grid)).all()


def test_other_features_are_at_their_medians():
    model = LSSVM(kernel="linear").fit(WIDE, WIDE_SHOWN)
    display = draw(model, WIDE, WIDE_SHOWN, features=(2, 0))
    point = np.median(WIDE, axis=0)
    point[[2, 0]] = display.x0[5], display.x1[7]
    assert display.scores[7, 5] == pytest.approx(model.decision_function([point])[0])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("feature 2", "feature 0")
    assert "medians" in display.ax_.get_title()


@pytest.mark.parametrize("frame", [pd.DataFrame, pl.DataFrame])
def test_data_frames_name_the_features(frame):
    names = list("abcd")
    data = frame(dict(zip(names, WIDE.T)))
    model = make_pipeline(StandardScaler(), LSSVM(kernel="linear")).fit(data, WIDE_SHOWN)
    display = draw(model, data, WIDE_SHOWN, features=["d", "b"])
    assert (display.ax_.get_xlabel(), display.ax_.get_ylabel()) == ("d", "b")
    unnamed = make_pipeline(StandardScaler(), LSSVM(kernel="linear")).fit(WIDE, WIDE_SHOWN)
    assert display.scores == pytest.approx(draw(unnamed, WIDE, WIDE_SHOWN, features=[3, 1]).scores)


def test_sparse_samples_text_labels_and_markers():
    text = np.where(SHOWN == -1, None, np.where(SHOWN == 1, "ham", "spam"))
    model = LSSVM(kernel="linear", unlabeled=None).fit(sparse.csr_array(X), text)
    display = draw(model, sparse.csr_array(X), text)
    assert display.scores == pytest.approx(draw(LINEAR).scores)
    assert list(display.marks_) == ["ham", "spam"]
    zero = np.where(SHOWN == -1, 0, SHOWN)
    assert np.array_equal(draw(LSSVM(unlabeled=0).fit(X, zero), y=zero).codes < 0, SHOWN == -1)


def test_the_margin_of_pipelines_and_wrappers_is_that_of_their_model():
    pipeline = make_pipeline(StandardScaler(), SelfTraining(LSSVM())).fit(X, SHOWN)
    display = draw(pipeline)
    assert display.margin == 1.0
    assert pipeline.decision_function(vertices(display.boundary_[0])) == pytest.approx(0.0, abs=0.05)
    assert draw(BaggingClassifier(LSSVM(), 2, random_state=0).fit(X, Y), y=Y, density=False).margin is None


def test_scores_that_have_no_margin_and_no_boundary():
    assert draw(SemiSVM(random_state=0).fit(X, Y), y=Y, density=False).margin is None
    assert draw(LogisticRegression().fit(X, Y), y=Y, density=False).margin_ is None
    one_sided = DecisionBoundaryDisplay([0, 1], [0, 1], np.ones((2, 2)), [1, 2], [[0.5, 0.5]], [0]).plot(own_axes())
    assert one_sided.boundary_ == []


def test_it_is_drawn_again_in_axes_of_the_user():
    display, ax = draw(LINEAR), own_axes()
    before = vertices(display.boundary_[0])
    assert display.plot(ax) is display
    assert display.ax_ is ax
    assert display.figure_ is ax.figure
    assert vertices(display.boundary_[0]) == pytest.approx(before)
    assert not pyplot.get_fignums()


@pytest.mark.parametrize(
    "changed, message",
    [
        ({"X": WIDE, "y": WIDE_SHOWN}, r"X has 4 features and a plane has 2; pass features=\(i, j\), two of 0 to 3"),
        (
            {"features": (0, 2)},
            r"features=\(0, 2\) is not allowed; features takes two different ones, positions from 0",
        ),
        ({"features": (1, 1)}, r"features=\(1, 1\) is not allowed"),
        ({"features": "a"}, "features='a' is not allowed"),
        ({"X": X[:, :1]}, "X has 1 feature and a plane has 2; use MarginHistogramDisplay"),
        ({"X": X[:, 0]}, r"X has the shape \(60,\)"),
        ({"X": np.where(X[3] == X, np.nan, X)}, "X holds NaN or infinity in 1 of 60 samples; .* Drop or impute"),
        ({"X": [["a", "b"]] * 60}, "X holds values that are not numbers"),
        ({"y": Y}, "y has a label for each of 60 samples; .* by -1, None or NaN, .* or density=False"),
        ({"y": np.full(60, -1)}, "y holds no labeled sample"),
        ({"y": SHOWN[:9]}, "X has 60 samples and y has 9 values"),
        ({"y": np.where(SHOWN == 2, 7, SHOWN)}, "y has the class 7, which the estimator has not seen; .* are 1, 2"),
        ({"grid_resolution": 1}, "grid_resolution=1 is not allowed"),
        ({"padding": -1.0}, "padding=-1.0 is not allowed"),
        ({"estimator": LSSVM}, "LSSVM is a class; DecisionBoundaryDisplay takes a fitted estimator"),
        ({"estimator": RandomForestClassifier(2).fit(X, Y)}, "RandomForestClassifier has no decision_function"),
        (
            {"estimator": SVM(kernel="precomputed").fit(X @ X.T, Y)},
            "takes kernel values, which are not known on a grid",
        ),
    ],
)
def test_bad_input(changed, message):
    arguments = {"estimator": LINEAR, "X": X, "y": SHOWN} | changed
    with pytest.raises(ValueError, match=message):
        DecisionBoundaryDisplay.from_estimator(**arguments)
    assert not pyplot.get_fignums()


def test_an_estimator_that_is_not_fitted():
    with pytest.raises(NotFittedError, match="LSSVM instance is not fitted"):
        draw(LSSVM())


def test_bad_numbers():
    with pytest.raises(ValueError, match=r"scores have the shape \(2, 2\); 3 classes on this grid need .* \(2, 2, 3\)"):
        DecisionBoundaryDisplay([0, 1], [0, 1], np.ones((2, 2)), [1, 2, 3], [[0, 0]], [0])
    with pytest.raises(ValueError, match="2 codes need two features"):
        DecisionBoundaryDisplay([0, 1], [0, 1], np.ones((2, 2)), [1, 2], [[0, 0]], [0, 1])


def test_a_missing_matplotlib_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "matplotlib", None)
    with pytest.raises(ImportError, match=r"DecisionBoundaryDisplay needs the package matplotlib.*semisvm\[plots\]'"):
        DecisionBoundaryDisplay.from_estimator(LINEAR, X, SHOWN)
