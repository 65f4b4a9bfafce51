"""The protocols of Adankon and Cheriet: the same numbers as models fitted by hand, on small sets."""

import numpy as np
import pytest
from sklearn.metrics.pairwise import rbf_kernel

from semisvm import CCCPTSVM, LSSVM, SVM, HelpTraining, SwitchingTSVM
from semisvm.bench import PROTOCOLS, DataFolder, Setup, run_task
from semisvm.bench.data import show_labels
from semisvm.bench.tables import (
    adankon_figures,
    adankon_uci,
    adankon_usps,
    genetic_s3vm,
    help_training_selection,
    lssvm_selection,
)
from semisvm.datasets import make_two_gaussians
from semisvm.model_selection import PRESS

SHORT = Setup(DataFolder(), quick=True)


@pytest.fixture
def small_sets(tmp_path):
    """A folder with a set of every file of the UCI table, of the same name and far fewer samples."""
    X, y = make_two_gaussians(90, 4, 0.9, random_state=0)
    for row in adankon_uci.ROWS:
        np.savez(tmp_path / f"{row.file}.npz", X=5 * X + 1, y=y)
    return Setup(DataFolder(tmp_path), quick=True)


SMALL = adankon_uci.ROWS[0]._replace(n_labeled=12, n_unlabeled=38, n_test=40)

# ------------------------------------------------------------------ UCI sets


def test_uci_partitions_are_standardized_and_have_two_labels_of_each_class(small_sets):
    for draw in range(20):
        data = adankon_uci.partition(SMALL, small_sets, draw)
        assert data.X.mean(axis=0) == pytest.approx(0.0, abs=1e-5)
        assert data.X.std(axis=0) == pytest.approx(1.0, abs=1e-5)
        assert (len(data.y), (data.shown != -1).sum(), len(data.y_test)) == (50, 12, 40)
        assert min((data.shown == 1).sum(), (data.shown == 2).sum()) >= 2


def test_uci_tuned_is_the_best_of_the_grid(small_sets):
    data = adankon_uci.partition(SMALL, small_sets, 1)
    axes = adankon_uci.grid(data, small_sets)
    labeled = data.shown != -1
    errors = []
    for gamma in axes["gamma"]:
        for C in axes["C"]:
            model = LSSVM(C, gamma=gamma).fit(data.X[labeled], data.y[labeled])
            errors.append(100 * np.mean(model.predict(data.X_test) != data.y_test))
    found = adankon_uci.measure_tuned(SMALL, "LS-SVM", small_sets, 1)
    assert found.errors == pytest.approx(errors)
    assert found.value == min(errors)


@pytest.mark.parametrize("column", adankon_uci.COLUMNS)
def test_uci_choice_never_sees_labels_that_are_hidden(small_sets, column, monkeypatch):
    data = adankon_uci.partition(SMALL, small_sets, 0)
    rng = np.random.default_rng(0)
    y = np.where(data.shown == -1, rng.permutation(data.y), data.shown)
    shuffled = data._replace(y=y, y_test=rng.permutation(data.y_test))
    chosen = []
    for one in (data, shuffled):
        monkeypatch.setattr(adankon_uci, "partition", lambda row, setup, draw, one=one: one)
        chosen.append(adankon_uci.measure(SMALL, column, "labeled", small_sets, 0).chosen)
    assert chosen[0] == chosen[1]


# ------------------------------------------------------------------ S3VM-GA, SVM-light, CCCP


def test_svm_light_and_cccp_are_the_models_with_the_printed_parameters():
    data = genetic_s3vm.partition("gaus50x", 0.1, SHORT, 2)
    for column, kind in {"SVM-light": SwitchingTSVM, "CCCP": CCCPTSVM}.items():
        model = kind(1.0, C_unlabeled=1.0, gamma=0.01, balance="labeled").fit(data.X, data.shown)
        expected = 100 * np.mean(model.predict(data.X_test) != data.y_test)
        assert genetic_s3vm.measure("gaus50x", 0.1, column, "labeled", SHORT, 2).value == pytest.approx(expected)


def test_genetic_search_finds_two_moons():
    protocol = PROTOCOLS["adankon-genetic"]
    tasks = [task for task in protocol.tasks(SHORT) if task.cell.row == genetic_s3vm.MOONS]
    assert len(tasks) == 5
    found = next(run_task(protocol, SHORT, task) for task in tasks if task.cell.column == "S3VM-GA")
    assert found.value == 0.0


# ------------------------------------------------------------------ model selection of Help-Training


def test_selections_have_the_printed_mean():
    for mean, errors in help_training_selection.SELECTED.values():
        assert len(errors) == 10
        assert np.mean(errors) == pytest.approx(mean, abs=0.0051)


@pytest.fixture
def small_partition():
    X, y = make_two_gaussians(160, 4, 0.9, random_state=1)
    shown = np.where(np.arange(80) < 20, y[:80], -1)
    return help_training_selection.Partition(X[:80], shown, y[:80], X[80:], y[80:])


@pytest.mark.parametrize("kind", ["SVM", "LS-SVM"])
def test_only_the_baseline_sees_labels_that_are_hidden(small_partition, kind):
    module, hidden = help_training_selection, small_partition.shown == -1
    y = np.where(hidden, np.random.default_rng(0).integers(1, 3, len(hidden)), small_partition.y)
    noise = small_partition._replace(y=y)
    for column in (module.HELD_OUT, module.BY_GRADIENT):
        one, other = (module.select(column, kind, data, SHORT, 0) for data in (small_partition, noise))
        assert one == other
    one, other = (module.select(module.ALL_LABELS, kind, data, SHORT, 0) for data in (small_partition, noise))
    assert one != other


def test_selected_parameters_are_those_of_the_model(small_partition, monkeypatch):
    module = help_training_selection
    monkeypatch.setattr(module, "partition", lambda name, n_labeled, setup, draw: small_partition)
    found = module.measure("gaus50", "SVM", module.HELD_OUT, SHORT, 0)
    model = HelpTraining(SVM(**found.chosen)).fit(small_partition.X, small_partition.shown)
    assert found.value == pytest.approx(100 * np.mean(model.predict(small_partition.X_test) != small_partition.y_test))
    best = module.measure_tuned("gaus50", "SVM", SHORT, 0)
    assert best.value <= found.value


# ------------------------------------------------------------------ figures


@pytest.mark.parametrize("figure", adankon_figures.FIGURES, ids=lambda figure: figure.name)
def test_figures_have_whole_curves_and_no_printed_numbers(figure):
    curves = {}
    for cell in figure.cells:
        assert cell.printed is None
        curves.setdefault(cell.column, []).append(cell.x)
    assert len({tuple(curve) for curve in curves.values()}) == 1
    assert {"all labels", "labeled samples"} < set(curves)


def test_choices_of_labeled_samples_are_of_one_set():
    measure = adankon_figures.measure_selection
    reference = {measure("gaus50", "LS-SVM", 0.05, "all labels", number, SHORT, 0).value for number in (1, 2, 3)}
    assert len(reference) == 1
    few = {measure("gaus50", "LS-SVM", 0.05, "labeled samples", number, SHORT, 0).value for number in (1, 2, 3)}
    assert len(few) > 1


def test_ratios_are_labeled_over_unlabeled_samples():
    assert adankon_figures.n_labeled("gaus50", 10.0) == 50
    assert adankon_figures.n_labeled("gaus50", 50.0) == 183
    assert adankon_figures.n_labeled("text", 1.0) == 14


@pytest.mark.parametrize("column", ["labeled samples", *adankon_figures.LSSVM_CURVES])
def test_a_point_of_every_least_squares_curve_is_measured(column):
    assert 0.0 < adankon_figures.measure_ratio("gaus50", "LS-SVM", 20.0, column, SHORT, 0).value < 60.0


# ------------------------------------------------------------------ USPS


@pytest.fixture
def small_digits(tmp_path):
    """Three classes in the form of USPS."""
    rng = np.random.default_rng(0)
    y = np.arange(240) % 3
    X = rng.standard_normal((240, 6)) + 3.0 * np.eye(6)[y]
    np.savez(tmp_path / "usps.npz", X=X, y=y, idx_train=np.arange(150), idx_test=np.arange(150, 240))
    return Setup(DataFolder(tmp_path), quick=True)


@pytest.mark.parametrize("variant", adankon_usps.VARIANTS, ids=lambda variant: variant.title)
def test_every_column_of_usps_is_measured(small_digits, variant):
    assert 0.0 <= adankon_usps.measure(variant, small_digits, 0).value < 100.0


def test_usps_svm_is_that_of_a_tenth_of_the_training_samples(small_digits):
    X, y = (small_digits.data.load("usps")._asdict()[key] for key in ("X", "y"))
    shown = show_labels(y[:150], 15, np.random.default_rng(4))
    model = SVM(10.0, gamma=0.0078).fit(X[:150][shown != -1], y[:150][shown != -1])
    expected = 100 * np.mean(model.predict(X[150:]) != y[150:])
    variant = next(variant for variant in adankon_usps.VARIANTS if variant.method == "SVM")
    assert adankon_usps.measure(variant, small_digits, 4).value == pytest.approx(expected)


# ------------------------------------------------------------------ model selection for the LS-SVM


@pytest.fixture
def small_german(tmp_path):
    X, y = make_two_gaussians(140, 4, 0.9, random_state=2)
    np.savez(tmp_path / "raetsch_german.npz", X=2 * X + 1, y=y)
    return lssvm_selection.ROWS[2]._replace(n_train=60, n_test=80), Setup(DataFolder(tmp_path))


def _press(C, gamma, data):
    return PRESS("loo").value(LSSVM(C, gamma=gamma), data.X, data.y)


@pytest.mark.parametrize(
    ("column", "criterion"),
    [(lssvm_selection.LSSVM_COLUMN, _press), (lssvm_selection.SPARSE_COLUMN, lssvm_selection.empirical_error)],
)
def test_lssvm_selection_is_that_of_leave_one_out(small_german, column, criterion):
    row, setup = small_german
    data = lssvm_selection.partition(row, setup, 0)
    found = lssvm_selection.measure(row, column, setup, 0)
    best = criterion(**found.chosen, data=data)
    for factor in (0.5, 2.0):
        assert best <= criterion(found.chosen["C"], factor * found.chosen["gamma"], data)
    assert 0.0 <= found.value < 30.0


def test_empirical_error_of_the_sparse_model_equals_models_without_each_of_its_samples(small_german):
    data = lssvm_selection.partition(*small_german, 0)
    model = lssvm_selection.sparse_lssvm(2.0, 0.1).fit(data.X, data.shown)
    assert 5 < len(model.support_) < len(data.y)
    y = np.where(data.y == model.classes_[1], 1.0, -1.0)
    f = model.decision_function(data.X)
    Q = rbf_kernel(data.X, gamma=0.1) + 1.0
    for i in model.support_:
        others = model.support_[model.support_ != i]
        f[i] = Q[i, others] @ np.linalg.solve(Q[np.ix_(others, others)] + 0.5 * np.eye(len(others)), y[others])
    expected = np.mean(1.0 / (1.0 + np.exp(3.0 * y * f)))
    assert lssvm_selection.empirical_error(2.0, 0.1, data) == pytest.approx(expected, rel=1e-6)


def test_confident_samples_are_labeled_first_where_there_are_many():
    thresholds = [adankon_uci.model("BS2LS-SVM", 0.1, 1.0, 0.3, n).confidence_threshold for n in (1000, 1001)]
    assert thresholds == [None, adankon_uci.CONFIDENT]
