"""scikit-learn's callbacks see every task and step of a fit, and can stop it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.estimators import ESTIMATORS
from semisvm.solvers import pairs, smo

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
ALL = pytest.mark.parametrize("name", ESTIMATORS)


class Watch:
    """Counts tasks by name and stops a task after a number of steps."""

    def __init__(self, stop_after=None):
        self.begun, self.ended, self.stop_after = [], [], stop_after

    def setup(self, estimator, context):
        self.begun.append("setup")

    def teardown(self, estimator, context):
        self.ended.append("teardown")

    def on_fit_task_begin(self, estimator, context):
        self.begun.append(context.task_name)

    def on_fit_task_end(self, estimator, context):
        self.ended.append(context.task_name)
        return context.task_name == "step" and self.stop_after is not None and context.task_id + 1 >= self.stop_after


def data(classes=2):
    X, y = make_two_gaussians(120, 6, 0.6, random_state=0)
    y = np.where(np.arange(len(y)) % 3 == 0, classes, np.minimum(y, classes))
    return X, hide_labels(y, 30, random_state=0)


@ALL
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_task_that_begins_ends(name, n_jobs):
    watch = Watch()
    X, y = data(3)
    ESTIMATORS[name](n_jobs=n_jobs).set_callbacks(watch).fit(X, y)
    assert watch.begun.count("fit") == watch.ended.count("fit") == 1
    assert watch.begun.count("binary task") == watch.ended.count("binary task") == 3
    assert watch.begun.count("step") == watch.ended.count("step") >= 3
    assert watch.begun[0] == "setup"
    assert watch.ended[-1] == "teardown"


@ALL
def test_callbacks_do_not_change_the_answer(name):
    X, y = data()
    seed = {"random_state": 0} if "random_state" in ESTIMATORS[name]().get_params() else {}
    plain = ESTIMATORS[name](**seed).fit(X, y)
    watched = ESTIMATORS[name](**seed).set_callbacks(Watch()).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), watched.decision_function(X))


def test_a_callback_stops_a_fit_and_the_machine_is_usable():
    X, y = data()
    machine = ESTIMATORS["CCCPTSVM"]().set_callbacks(Watch(stop_after=1)).fit(X, y)
    assert machine.n_iter_ == 1
    assert not machine.converged_
    assert np.isfinite(machine.decision_function(X)).all()


def test_the_progress_bar_of_scikit_learn_shows_it(capsys):
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    X, y = data()
    ESTIMATORS["CCCPTSVM"]().set_callbacks(callback.ProgressBar()).fit(X, y)
    assert "CCCPTSVM" in capsys.readouterr().out


def test_ctrl_c_in_one_task_ends_the_others_at_once(monkeypatch):
    X, y = data(3)
    calls = []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return pairs.pair_steps(*args)

    monkeypatch.setattr(smo, "pair_steps", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted in 3 of 3 binary tasks"):
        machine = ESTIMATORS["CCCPTSVM"](tol=1e-9).fit(X, y)
    assert not machine.converged_
    assert len(calls) <= 4
    assert np.isfinite(machine.decision_function(X)).all()
