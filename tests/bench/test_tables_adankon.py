"""The protocols of Adankon and Cheriet: the same numbers as models fitted by hand, on small sets."""

import numpy as np
import pytest

from semisvm import CCCPTSVM, LSSVM, SwitchingTSVM
from semisvm.bench import PROTOCOLS, DataFolder, Setup, run_task
from semisvm.bench.tables import adankon_uci, genetic_s3vm
from semisvm.datasets import make_two_gaussians

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
