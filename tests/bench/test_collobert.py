"""Tables and figures of Collobert et al. on tiny data: the same numbers as models fitted by hand."""

import numpy as np
import pytest
from sklearn.svm import SVC

from semisvm import SVM, RampSVM
from semisvm.bench import PROTOCOLS, DataFolder, Setup, run_task
from semisvm.bench.data import Partition
from semisvm.bench.tables import (
    collobert_1_1,
    collobert_1_5,
    collobert_figure_1_2,
    collobert_figure_1_7,
    collobert_figure_1_8,
    collobert_figures_1_3_to_1_5,
)
from semisvm.bench.tables.collobert_1_1 import ADULT, BANANA, ERROR, SUPPORT, USPS
from semisvm.bench.tables.collobert_1_3 import SplitErrors
from semisvm.datasets import make_two_gaussians


@pytest.fixture(scope="module")
def setup(tmp_path_factory):
    """Two Gaussians under the names of the sets."""
    folder = tmp_path_factory.mktemp("data")
    X, y = make_two_gaussians(400, 6, 0.6, random_state=0)
    for name in ("raetsch_banana", "raetsch_waveform", "adult_a9a"):
        np.savez(folder / f"{name}.npz", X=X, y=2 * y - 3)
    np.savez(folder / "usps.npz", X=3 * X, y=np.where(y == 1, 0, 1 + np.arange(400) % 9))
    labeled = np.array([np.r_[0:20], np.r_[20:40]])
    rest = np.array([np.setdiff1d(np.arange(400), rows) for rows in labeled])
    for name in ("g50c", "text"):
        np.savez(folder / f"{name}.npz", X=X, y=2 * y - 3, idx_labs=labeled, idx_unls=rest)
    digits = np.random.default_rng(0).permutation(np.arange(1300) % 10)
    pixels = np.random.default_rng(1).integers(0, 80, (1300, 20)) + 120 * np.eye(20, dtype=int)[digits]
    parts = {"idx_train": np.arange(1100), "idx_test": np.arange(1100, 1300)}
    np.savez(folder / "mnist.npz", X=pixels.astype(np.uint8), y=digits.astype(np.int8), **parts)
    return Setup(DataFolder(folder), quick=True)


def small(row, **changes):
    return row._replace(sizes=(200, 100), **changes)


def test_shares_of_support_vectors_are_the_printed_counts():
    printed = {cell.key: cell.printed.mean for cell in collobert_1_1.PROTOCOL.cells}
    assert printed["USPS+N", "RampSVM, support vectors"] * 73.29 == pytest.approx(601)
    assert printed["Adult", "SVM, support vectors"] * 325.62 == pytest.approx(11347)
    assert printed["Waveform", "SVM, support vectors"] == printed["Waveform", "RampSVM, support vectors"] * 983 / 865


# ------------------------------------------------------------------ ramp loss


def test_only_training_labels_are_flipped(setup):
    data = collobert_1_1.partition(small(USPS), setup, 3)
    clean = collobert_1_1.partition(small(USPS, noise=0.0), setup, 3)
    assert (len(data.y), len(data.y_test)) == (200, 100)
    assert np.sum(data.y != clean.y) == 20
    assert np.array_equal(data.y_test, clean.y_test)
    stored = setup.data.load("usps")
    is_zero = {tuple(x): digit == 1 for x, digit in zip(stored.X, stored.y)}  # the first class is the digit 0
    assert all((label == 2) == is_zero[tuple(x)] for x, label in zip(data.X_test, data.y_test))


@pytest.mark.parametrize("kind", [ERROR, SUPPORT])
def test_table_1_1_has_the_svm_of_scikit_learn(setup, kind):
    row = small(BANANA, fixed=(0.2, 1.0))
    data = collobert_1_1.partition(row, setup, 1)
    svc = SVC(C=1.0, gamma=0.2, tol=1e-6).fit(data.X, data.y)
    expected = {ERROR: np.mean(svc.predict(data.X_test) != data.y_test), SUPPORT: svc.n_support_.sum() / 200}
    found = collobert_1_1.measure(row, "SVM", kind, setup, 1)
    assert found.value == pytest.approx(100 * expected[kind])
    assert found.chosen == {"gamma": 0.2, "C": 1.0}


def test_the_choice_is_by_validation_error_or_sparse_within_a_standard_error():
    scores = [collobert_1_1.Score(*score) for score in ((10.0, 90), (10.0, 80), (10.9, 30), (11.1, 20), (10.9, 40))]
    assert collobert_1_1.choose(scores, 900, sparse=False) == 1  # the standard error is 1
    assert collobert_1_1.choose(scores, 900, sparse=True) == 2
    assert collobert_1_1.choose(scores, 90, sparse=True) == 3


def test_validation_samples_are_no_others_than_training_samples():
    X, y = make_two_gaussians(80, 2, 1.5, random_state=0)
    data = Partition(X, y, y, X[:0], y[:0])
    (score,), n_validation = collobert_1_1.validate(data, [SVM(1.0, gamma=0.5)], 4, 50)
    order = np.random.default_rng((4, 1)).permutation(80)
    svc = SVC(C=1.0, gamma=0.5, tol=1e-6).fit(X[order[:50]], y[order[:50]])
    assert n_validation == 30
    assert score.error == pytest.approx(100 * np.mean(svc.predict(X[order[50:]]) != y[order[50:]]))
    assert score.n_support == svc.n_support_.sum()


def test_every_column_of_table_1_1_has_its_own_model(setup):
    models = collobert_1_1.grid(USPS, "RampSVM", False)
    assert {type(model) for model in models} == {RampSVM}
    assert len(models) == len(USPS.gamma) * len(USPS.C) * len(USPS.s)
    assert len(collobert_1_1.grid(USPS, "SVM", False)) == len(USPS.gamma) * len(USPS.C)


def test_figure_1_2_counts_support_vectors(setup):
    data = collobert_1_1.partition(ADULT, setup, 0, 150)
    svc = SVC(C=ADULT.fixed[1], gamma=ADULT.fixed[0], tol=1e-6).fit(data.X, data.y)
    assert collobert_figure_1_2.measure_count(ADULT, "H1", 150, setup, 0).value == svc.n_support_.sum()
    counts = [collobert_figure_1_2.measure_count(ADULT, loss, 150, setup, 0).value for loss in ("H1", "R-1", "R0")]
    assert counts[2] < counts[0]
    both = [collobert_figure_1_2.measure_ramp(ADULT, -1000.0, kind, setup, 0).value for kind in (ERROR, SUPPORT)]
    data = collobert_1_1.partition(ADULT, setup, 0, 2000)
    svc.fit(data.X, data.y)
    expected = [np.mean(svc.predict(data.X_test) != data.y_test), svc.n_support_.sum() / len(data.y)]
    assert both == pytest.approx(100 * np.array(expected))  # the ramp of a large negative s is the hinge


def test_figure_1_3_ends_at_100_and_never_rises(setup):
    path = [collobert_figures_1_3_to_1_5.measure_objective(USPS, step, setup, 0).value for step in range(40)]
    assert path[0] > 100 + 1e-6
    assert path[-1] == pytest.approx(100)
    assert np.all(np.diff(path) <= 1e-9)


def test_figure_1_4_measures_the_starts_that_there_are():
    cells = PROTOCOLS["collobert-figure-1.4"].cells
    measured = {(cell.x, cell.column.split(", ")[1]) for cell in cells if cell.measure is not None}
    assert measured == {(100, "SVM"), (10, "RampSVM"), (100, "RampSVM")}


def test_figure_1_5_compares_only_at_the_error_of_the_svm(setup, monkeypatch):
    protocol = PROTOCOLS["collobert-figure-1.5"]
    tasks = {task.cell.key: task for task in protocol.tasks(setup._replace(quick=False))}
    collobert_figures_1_3_to_1_5.raced.cache_clear()
    monkeypatch.setitem(collobert_figures_1_3_to_1_5.TUNED_RAMPS, "Adult", (-1000.0,))
    result = run_task(protocol, setup, tasks["Adult", SUPPORT])
    assert result.value == pytest.approx(100.0)
    assert result.chosen["error"] == result.chosen["error of the SVM"]
    collobert_figures_1_3_to_1_5.raced.cache_clear()
    monkeypatch.setitem(collobert_figures_1_3_to_1_5.TUNED_RAMPS, "Adult", (0.99,))
    assert "errs as little" in run_task(protocol, setup, tasks["Adult", SUPPORT]).failure


# ------------------------------------------------------------------ TSVM


@pytest.mark.parametrize(
    ("column", "totals"),
    [
        ("CCCP-TSVM", [20, 20]),  # C* = C l/u: the cost of all unlabeled samples stays that of the labeled ones
        ("SVMlight-TSVM", [380, 60]),  # C* = C
        pytest.param("nabla-TSVM", [380, 60], marks=pytest.mark.slow),
    ],
)
def test_figure_1_7_chooses_with_all_unlabeled_samples_and_times_fewer(setup, monkeypatch, column, totals):
    seen = []
    cls = collobert_figure_1_7.TSVMS[column]
    fit = cls.fit

    def record(model, X, y):
        seen.append((len(y), np.sum(y != -1), model.C_unlabeled * np.sum(y == -1) / model.C))
        return fit(model, X, y)

    monkeypatch.setattr(cls, "fit", record)
    collobert_figure_1_7.chosen_tsvm.cache_clear()
    found = collobert_figure_1_7.measure("g50c", column, 60, setup, 0)
    assert found.value > 0
    assert [(n, n_labeled) for n, n_labeled, _ in seen] == [(400, 20), (80, 20)]
    assert [total for *_, total in seen] == pytest.approx(totals)


def test_figure_1_8_follows_one_fit(setup):
    errors = SplitErrors(setup.data.load("g50c"), 1)
    last = errors.error(collobert_figure_1_8.tsvm("g50c", errors), errors.data.X)
    assert collobert_figure_1_8.measure("g50c", "test error", 60, setup, 1).value == last
    path = [collobert_figure_1_8.measure("g50c", "objective", step, setup, 1) for step in range(1, 30)]
    values = [one.value for one in path]
    assert values[-1] == pytest.approx(100)
    assert np.all(np.diff(values) <= 1e-9)
    stopped = collobert_figure_1_8.tsvm("g50c", errors, 1)
    with pytest.warns(match="max_iter"):
        stopped.fit(errors.data.X, errors.shown)
    assert stopped.objective_ == pytest.approx(path[0].objective)


@pytest.mark.filterwarnings("ignore:CCCPTSVM")
def test_table_1_5_shows_training_labels_and_hides_those_of_test_samples(setup):
    one = collobert_1_5.MnistFit(100, 2000, setup, 0)
    data = setup.data.load("mnist")
    assert np.sum(one.shown != -1) == 100
    assert np.array_equal(one.X[100:300], data.X[1100:] / 255.0)
    assert len(one.X) == 1300  # all there are, each once
    assert (one.model.C, one.model.C_unlabeled, one.model.s, one.model.gamma) == (10.0, 1.0, -0.1, 0.0128)
    assert isinstance(collobert_1_5.MnistFit(100, 0, setup, 0).model, SVM)
    assert collobert_1_5.measure_error(100, 0, setup, 0).value < 50
    assert collobert_1_5.measure_time(1000, 2000, setup, 0).value > 0
