"""scikit-learn's callbacks see every binary problem and iteration of a fit, and can stop it."""

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning

from factories import PATHS, TaskRecorder, blobs, make_estimator, two_gaussians
from semisvm import CCCPTSVM
from semisvm.solvers.dual import pair_steps, smo

callback = pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
every_path = pytest.mark.parametrize("name", PATHS)


def data(n_classes=2):
    return two_gaussians(90, 30, 6) if n_classes == 2 else blobs(n_classes, 90, 30, 6, distance=1.0)


@every_path
@pytest.mark.parametrize("n_jobs", [None, 2])
def test_every_task_that_begins_ends(name, n_jobs):
    recorder = TaskRecorder()
    make_estimator(name, n_jobs=n_jobs).set_callbacks(recorder).fit(*data(3))
    assert recorder.begun.count("fit") == recorder.ended.count("fit") == 1
    assert recorder.begun.count("binary task") == recorder.ended.count("binary task") == 3
    assert recorder.begun.count("step") == recorder.ended.count("step") >= 3
    assert recorder.begun[0] == "setup"
    assert recorder.ended[-1] == "teardown"


@every_path
def test_callbacks_do_not_change_the_answer(name):
    X, y = data()
    plain = make_estimator(name, random_state=0).fit(X, y)
    recorded = make_estimator(name, random_state=0).set_callbacks(TaskRecorder()).fit(X, y)
    np.testing.assert_array_equal(plain.decision_function(X), recorded.decision_function(X))


def test_a_callback_stops_a_fit_and_the_model_is_usable():
    X, y = data()
    model = CCCPTSVM().set_callbacks(TaskRecorder(stop_after=1)).fit(X, y)
    assert model.n_iter_ == 1
    assert not model.converged_
    assert np.isfinite(model.decision_function(X)).all()


def test_the_progress_bar_of_scikit_learn(capsys):
    pytest.importorskip("rich", reason="scikit-learn's bar is drawn by rich")
    CCCPTSVM().set_callbacks(callback.ProgressBar()).fit(*data())
    assert "CCCPTSVM" in capsys.readouterr().out


def test_ctrl_c_in_one_problem_ends_the_others(monkeypatch):
    X, y = data(3)
    calls = []

    def interrupted(*args):
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return pair_steps.pair_steps(*args)

    monkeypatch.setattr(smo, "pair_steps", interrupted)
    with pytest.warns(ConvergenceWarning, match="interrupted in 3 of 3 binary problems"):
        model = CCCPTSVM(tol=1e-9).fit(X, y)
    assert not model.converged_
    assert len(calls) <= 4
    assert np.isfinite(model.decision_function(X)).all()
