"""A fit that keeps no number per sample ends where the one that keeps them does."""

import pickle
from itertools import count

import numpy as np
import pytest
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning

from parallel.data import gaussians, mapped, three_classes
from semisvm import AnnealingTSVM, MultiSwitchTSVM, parallel
from semisvm.balance import Count
from semisvm.losses import SquaredHinge
from semisvm.parallel import out_of_core
from semisvm.problem import Problem, objective
from semisvm.solvers.primal import OutOfCoreSwitch
from semisvm.spaces import DesignMatrix, Features

LINEAR = MultiSwitchTSVM(kernel="linear", balance=0.5)


def objective_at_threshold(model, X, y, tau):
    """The objective at the labels f > tau, by its definition."""
    known = y >= 0
    f = X @ model.coef_[0] + model.intercept_[0]
    signs = np.where(known, np.where(y == model.classes_[1], 1.0, -1.0), np.where(f > tau, 1.0, -1.0))
    cost = np.where(known, model.C_, model.C_ * known.sum() / (~known).sum())
    problem = Problem(Features(X), signs, cost, SquaredHinge(), intercept=model.fit_intercept)
    return objective(problem, model.coef_[0], float(model.intercept_[0]))


@pytest.mark.parametrize("fit_intercept", [True, False, "regularized"])
def test_objective_is_that_of_the_labels_and_not_above_the_one_in_memory(fit_intercept, tmp_path):
    X, y = gaussians(3000)
    model = clone(LINEAR).set_params(fit_intercept=fit_intercept)
    expected = clone(model).fit(X, y)
    found = parallel.fit(model, mapped(tmp_path, X), y, out_of_core=True)
    assert found.converged_
    tau = found._thresholds_[0]
    assert found.objective_ == pytest.approx(objective_at_threshold(found, X, y, tau), rel=1e-9)
    assert found.objective_ <= expected.objective_ * (1 + 1e-6)
    labels = parallel.transduce(found, X).compute()
    np.testing.assert_array_equal(labels[y >= 0], y[y >= 0])
    assert np.mean(labels[y < 0] == found.classes_[1]) == pytest.approx(0.5, abs=1e-3)
    assert found.share_.reached[found.classes_[1]] == pytest.approx(0.5, abs=1e-3)


def test_start_on_a_part_of_the_samples(monkeypatch, tmp_path):
    X, y = gaussians(4000)
    whole = parallel.fit(clone(LINEAR), X, y, out_of_core=True)
    monkeypatch.setattr(out_of_core, "N_START", 500)
    monkeypatch.setattr(out_of_core, "N_CALIBRATION", 200)
    found = parallel.fit(clone(LINEAR), mapped(tmp_path, X), y, out_of_core=True)
    assert found.objective_ == pytest.approx(whole.objective_, rel=0.02)
    assert found.converged_
    assert len(found._labeled_[0]) == 40
    for cost in (None, 0.01):
        model = parallel.fit(clone(LINEAR).set_params(C_unlabeled=cost), X, y, out_of_core=True)
        np.testing.assert_allclose(model.predict_proba(X).sum(axis=1), 1.0)


def test_several_classes(monkeypatch):
    X, y = three_classes(3000)
    expected = MultiSwitchTSVM(kernel="linear").fit(X, y)
    found = parallel.fit(MultiSwitchTSVM(kernel="linear"), X, y, out_of_core=True)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-3)
    labels = parallel.transduce(found, X).compute()
    assert np.mean(labels != expected.transduction_) < 0.01
    reached = {name: np.mean(labels[y == None] == name) for name in found.classes_}  # noqa: E711
    assert found.share_.reached == pytest.approx(reached, abs=1e-9)


def test_absent_attributes_say_what_to_do(tmp_path):
    X, y = gaussians()
    model = parallel.fit(clone(LINEAR), X, y, out_of_core=True)
    for name in ("transduction_", "training_scores_"):
        assert not hasattr(model, name)
        with pytest.raises(AttributeError, match=r"was not kept .* transduce\(model, X\)"):
            getattr(model, name)
    copy = pickle.loads(pickle.dumps(model))
    np.testing.assert_array_equal(parallel.transduce(copy, X).compute(), parallel.transduce(model, X).compute())
    np.testing.assert_array_equal(copy.supervised_.predict(X), model.supervised_.predict(X))
    assert hasattr(model.fit(X, y), "transduction_")


def test_little_memory_chooses_it_by_itself(monkeypatch):
    X, y = gaussians()
    assert hasattr(parallel.fit(clone(LINEAR), X, y), "transduction_")
    monkeypatch.setenv("SEMISVM_MEMORY", "1e5")
    assert not hasattr(parallel.fit(clone(LINEAR), X, y), "transduction_")


def test_what_it_cannot_take_is_refused():
    X, y = gaussians()
    for model, weight in ((AnnealingTSVM(kernel="linear"), None), (MultiSwitchTSVM(), None), (LINEAR, np.ones(len(y)))):
        with pytest.raises(ValueError, match="out_of_core=True takes MultiSwitchTSVM with kernel='linear'"):
            parallel.fit(clone(model), X, y, weight, out_of_core=True)


def test_resumed_fit_equals_the_uninterrupted_one(monkeypatch, tmp_path):
    X, y = gaussians(3000)
    monkeypatch.setattr(out_of_core, "N_START", 300)
    expected = parallel.fit(clone(LINEAR), X, y, out_of_core=True)
    from semisvm.parallel.samples import BlockedSamples

    ordinary, calls = BlockedSamples.sum_over_rows, []

    def broken(self, *arguments):
        calls.append(1)
        if len(calls) == 3:
            raise ConnectionError
        return ordinary(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(BlockedSamples, "sum_over_rows", broken)
        with pytest.raises(ConnectionError):
            parallel.fit(clone(LINEAR), X, y, out_of_core=True, checkpoint=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) == 2
    found = parallel.fit(clone(LINEAR), X, y, out_of_core=True, checkpoint=tmp_path)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    assert found.objective_ == expected.objective_


def test_share_of_a_count_is_within_its_slack():
    X, y = gaussians(3000)
    model = MultiSwitchTSVM(kernel="linear", balance=0.3, balance_tol=0.05)
    found = parallel.fit(model, X, y, out_of_core=True)
    assert abs(found.share_.reached[found.classes_[1]] - 0.3) <= 0.05 + 1e-3
    assert Count(0.3, 0.05).slack == 0.05


def test_lines_tell_how_far_it_is_and_what_is_left(capsys):
    X, y = gaussians(3000)
    model = parallel.fit(clone(LINEAR).set_params(verbose=1), X, y, out_of_core=True)
    lines = [dict(cell.rsplit(" ", 1) for cell in line.split("  ")) for line in capsys.readouterr().out.splitlines()]
    passes = [line for line in lines if "n_left" in line]
    assert len(passes) == model.n_iter_ < len(lines)
    assert all(float(line["seconds_left"]) >= 0 for line in passes)
    left = [int(line["n_left"]) for line in passes]
    assert left[0] > left[-1] > 0


def test_ctrl_c_on_the_way_to_the_start_costs_a_few_passes(monkeypatch):
    X, y = gaussians(3000)
    ordinary, calls = DesignMatrix.adjoint, count(1)

    def interrupted(self, P):
        if next(calls) == 20:
            raise KeyboardInterrupt
        return ordinary(self, P)

    with monkeypatch.context() as patch:
        patch.setattr(DesignMatrix, "adjoint", interrupted)
        with pytest.warns(ConvergenceWarning, match="the fit was interrupted"):
            found = parallel.fit(clone(LINEAR), X, y, out_of_core=True)
    assert not found.converged_
    assert found.n_iter_ == 1
    assert found.objective_ == pytest.approx(objective_at_threshold(found, X, y, found._thresholds_[0]), rel=1e-9)


@pytest.mark.parametrize("make", [gaussians, three_classes])
def test_the_path_and_all_problems_share_the_time(make, monkeypatch):
    X, y = make(3000)
    given = []
    ordinary = OutOfCoreSwitch.solve
    monkeypatch.setattr(
        OutOfCoreSwitch, "solve", lambda self, *args: given.append(self.max_time) or ordinary(self, *args)
    )
    model = parallel.fit(clone(LINEAR).set_params(balance=None, max_time=1000.0), X, y, out_of_core=True)
    shares = np.array(given) * np.arange(len(given), 0, -1)
    assert np.all(np.diff([1000.0, *shares]) < 0)
    assert len(given) == np.size(model.objective_)
    with pytest.warns(ConvergenceWarning, match="max_time"):
        cut = parallel.fit(clone(LINEAR).set_params(balance=None, max_time=1e-3), X, y, out_of_core=True)
    assert np.all(np.asarray(cut.n_iter_) <= 2)
