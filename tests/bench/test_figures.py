"""The protocols of figures: curves over labels, widths, levels and sizes, on small data."""

import numpy as np
import pytest

from semisvm import DCLSSVM, ContinuationTSVM
from semisvm.bench import PROTOCOLS, DataFolder, Setup, run_task
from semisvm.bench.tables import akrouch_levels, akrouch_parameters, akrouch_shares, gieseke_1, gieseke_4, gieseke_5
from semisvm.bench.tables import shim_4_1 as shim
from semisvm.bench.tables.akrouch_shares import LINEAR, PROJECTED, Digits
from semisvm.model_selection import GCV, OCV

NOTHING = Setup(DataFolder(), quick=True)
SMALL, PAIR = Digits(tuple(range(10)), 120, 50), Digits((0, 3), 60, 30)


@pytest.fixture
def setup(tmp_path):
    """A set in the form of MNIST: ten classes of eight pixels."""
    rng = np.random.default_rng(0)
    y = np.arange(800) % 10
    X = np.clip(60 * rng.standard_normal((10, 8))[y] + 20 * rng.standard_normal((800, 8)) + 128, 0, 255)
    np.savez(tmp_path / "mnist.npz", X=X.astype(np.uint8), y=y, idx_train=np.arange(500), idx_test=np.arange(500, 800))
    return Setup(DataFolder(tmp_path), quick=True)


FIGURES = [name for name, protocol in PROTOCOLS.items() if protocol.x_label]


@pytest.mark.parametrize("name", FIGURES)
def test_curves_rise_along_the_axis(name):
    protocol = PROTOCOLS[name]
    assert "figure" in name
    for column in {cell.column for cell in protocol.cells}:
        x = [cell.x for cell in protocol.cells if cell.column == column]
        assert x == sorted(set(x))
    assert any(cell.in_quick for cell in protocol.cells)


def test_all_figures_are_there():
    assert {name.rpartition("-")[2] for name in FIGURES if name.startswith("akrouch")} == {"2", "3", "4", "5", "8"}
    assert {name.rpartition("-")[2] for name in FIGURES if name.startswith("gieseke")} == {"4a", "4b", "5"}
    assert "shim-figure-4.1" in FIGURES


@pytest.mark.parametrize("varied, percent, counts", [("labeled", 10, (25, 225)), ("unlabeled", 80, (50, 200))])
def test_gieseke_points_that_table_1_has_too(varied, percent, counts):
    row = next(row for row in gieseke_1.ROWS if (row.name, row.n_labeled, row.n_unlabeled) == ("Gaussian2C", *counts))
    assert gieseke_4.measure(varied, percent, "RLSC", NOTHING, 1) == gieseke_1.measure(row, "RLSC", NOTHING, 1)


@pytest.mark.parametrize("method", gieseke_5.METHODS)
def test_the_time_of_a_fit(method):
    found = gieseke_5.measure("Gaussian2C", 25, method, NOTHING, 0)
    assert 0 < found.value < 60_000
    assert found.objective > 0


# ------------------------------------------------------------------ Akrouch and Nederveen


def test_mnist_is_drawn_from_its_parts_with_labels_of_every_class(setup):
    data = akrouch_shares.partition(SMALL, 25, setup, 0)
    assert data.X.shape == (120, 8)
    assert data.X_test.shape == (50, 8)
    assert 0 <= data.X.min() < data.X.max() <= 1
    assert (data.shown != -1).sum() == 30
    assert len(np.unique(data.shown[data.shown != -1])) == 10
    few = akrouch_shares.partition(PAIR, 1, setup, 0)
    assert set(few.y) == set(few.y_test) == {1, 4}
    assert sorted(few.shown[few.shown != -1]) == [1, 4]


@pytest.mark.parametrize(
    "space",
    [LINEAR, *(pytest.param(space, marks=pytest.mark.slow) for space in (PROJECTED, akrouch_shares.ALL_SAMPLES))],
)
def test_errors_on_test_and_unlabeled_samples(setup, space):
    data = akrouch_shares.partition(PAIR, 25, setup, 0)
    fitted = akrouch_shares.model(space, 0.5).fit(data.X, data.shown)
    hidden = data.shown == -1
    wrong = {"test": fitted.predict(data.X_test) != data.y_test, "unlabeled": (fitted.transduction_ != data.y)[hidden]}
    for where, errors in wrong.items():
        found = akrouch_shares.measure(PAIR, 25, f"{space}: {where}", 0.5, setup, 0)
        assert found.value == pytest.approx(100 * errors.mean())


def test_components_of_labeled_samples_are_as_many_as_labels(setup):
    data = akrouch_shares.partition(PAIR, 25, setup, 0)
    fitted = akrouch_shares.model(PROJECTED, 0.5).fit(data.X, data.shown)
    assert isinstance(fitted, ContinuationTSVM)
    assert fitted.landmarks == "labeled"
    assert akrouch_shares.model(PROJECTED, 2.0).gamma == pytest.approx(1 / 8)


def test_the_supervised_curve(setup):
    found = akrouch_shares.measure(PAIR, 25, "SVM, linear: test", 1.0, setup, 0)
    assert 0 <= found.value < 50


def test_levels_have_decreasing_smoothing(setup, monkeypatch):
    monkeypatch.setattr(akrouch_levels, "PAIR", PAIR)
    found = [akrouch_levels.measure(level, LINEAR, setup, 0) for level in (0, 10)]
    assert found[0].chosen["smoothing"] > 10 * found[1].chosen["smoothing"]
    assert found[0].value > found[1].value


def test_parameters_are_cross_validated_on_labeled_samples_alone(setup, monkeypatch):
    monkeypatch.setattr(akrouch_parameters, "PAIR", PAIR)
    data = akrouch_shares.partition(PAIR, 25, setup, 0)
    rng = np.random.default_rng(0)
    shuffled = data._replace(y=np.where(data.shown == -1, rng.permutation(data.y), data.shown))
    model = akrouch_shares.model(LINEAR, 1.0)
    errors = [akrouch_parameters.cross_validated(model, one, 0) for one in (data, shuffled)]
    assert errors[0] == errors[1] == akrouch_parameters.measure_costs(100.0, 100.0, setup, 0).value


def test_the_width_of_the_kernel(setup, monkeypatch):
    monkeypatch.setattr(akrouch_parameters, "ALL_DIGITS", SMALL._replace(n_train=400))
    for column in (akrouch_parameters.TEST, akrouch_parameters.CROSS_VALIDATED):
        narrow, wide = (akrouch_parameters.measure_width(sigma, column, setup, 0).value for sigma in (0.01, 0.7))
        assert wide < narrow


# ------------------------------------------------------------------ Shim and Seok


@pytest.mark.parametrize("column, criterion", [("GCV", GCV()), ("OCV", OCV())])
def test_criteria_of_shim_are_those_of_model_selection(column, criterion):
    data = shim.partition(0)
    model = DCLSSVM(100.0, C_unlabeled=1.0, gamma=1 / 3, balance=None)
    expected = 100 * criterion.value(model, data.X, data.shown)
    assert shim.criterion(column, 3.0, NOTHING, 0).value == pytest.approx(expected, rel=1e-6)


def test_the_cells_of_shim_run():
    protocol = PROTOCOLS["shim-figure-4.1"]
    tasks = [task for task in protocol.tasks(NOTHING) if task.draw == 0 and task.cell.x == 3]
    found = {task.cell.column: run_task(protocol, NOTHING, task) for task in tasks}
    assert not any(result.failure for result in found.values())
    assert found["LOO-CV"].value > found["OCV"].value > 0  # labels that are fixed know the sample that is left out
