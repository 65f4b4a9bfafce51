"""What ends the rounds of self-training and Help-Training early, and what reports them."""

import re
import warnings

import numpy as np
import pytest
from numpy.testing import assert_allclose, assert_array_equal
from sklearn.base import clone
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import RidgeClassifier

from factories import TaskRecorder
from rounds_reference import assert_rounds_add_up, assert_same_rounds, in_short_rounds, partly_labeled_blobs
from semisvm import CCCPTSVM, LSSVM, SVM, SelfTraining
from semisvm.self_training import WRAPPERS
from semisvm.solvers import IncrementalLSSVM
from semisvm.solvers.dual import smo

both = pytest.mark.parametrize("name", WRAPPERS)


def interrupt_call(monkeypatch, owner, method, number):
    """Ctrl-C comes at the call of this number; returns the list of calls."""
    calls, plain = [], getattr(owner, method)

    def interrupted(*args, **kwargs):
        calls.append(method)
        if len(calls) == number:
            raise KeyboardInterrupt
        return plain(*args, **kwargs)

    monkeypatch.setattr(owner, method, interrupted)
    return calls


def fit_with_interrupt(estimator, X, y):
    """Fit; one warning of the interrupt is due, and Ctrl-C must not leave the fit (it would end the tests)."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator.fit(X, y)
        except KeyboardInterrupt:
            pytest.fail("Ctrl-C left the fit")
    messages = [str(w.message) for w in caught if str(w.message).startswith(type(estimator).__name__)]
    (message,) = (text for text in messages if "puts all" not in text)  # one class for all is a warning of its own
    assert re.search(r"the fit was interrupted, \d+ samples had no label yet; the model of the others is usa", message)
    return estimator


TRAININGS = {
    "Ridge": (RidgeClassifier(), RidgeClassifier, "fit"),
    "LSSVM": (LSSVM(C=1.0, gamma=0.3), IncrementalLSSVM, "add"),
}


@both
@pytest.mark.parametrize("case", TRAININGS)
@pytest.mark.parametrize("n_rounds", [0, 2])
def test_interrupt_in_a_training_keeps_the_model_of_the_rounds_before(monkeypatch, name, n_rounds, case):
    X, y, _ = partly_labeled_blobs()
    model, owner, method = TRAININGS[case]
    before = in_short_rounds(name, model, max_iter=max(n_rounds, 1)).fit(X, y)
    interrupt_call(monkeypatch, owner, method, n_rounds + 2)
    fitted = fit_with_interrupt(in_short_rounds(name, model), X, y)
    assert fitted.termination_condition_ == "interrupted"
    assert fitted.n_iter_ == len(fitted.trace_) + 1 == n_rounds + 1
    assert fitted.labeled_iter_.max() == n_rounds
    assert_rounds_add_up(fitted, y)
    expected = before if n_rounds else before.supervised_
    assert_allclose(fitted.decision_function(X), expected.decision_function(X), rtol=1e-9, atol=1e-9)
    if n_rounds:
        assert_same_rounds(fitted, before)


@pytest.mark.parametrize("case", TRAININGS)
def test_interrupt_in_the_first_training_is_raised(monkeypatch, case):
    X, y, _ = partly_labeled_blobs()
    model, owner, method = TRAININGS[case]
    interrupt_call(monkeypatch, owner, method, 1)
    with pytest.raises(KeyboardInterrupt):
        SelfTraining(model).fit(X, y)


@both
@pytest.mark.parametrize("model", [SVM(tol=1e-7), CCCPTSVM(1.0, tol=1e-7)], ids=["SVM", "CCCPTSVM"])
@pytest.mark.parametrize("number", [1, 4])
def test_interrupt_in_pair_steps_ends_the_rounds(monkeypatch, name, model, number):
    X, y, _ = partly_labeled_blobs()
    interrupt_call(monkeypatch, smo, "pair_steps", number)
    fitted = fit_with_interrupt(in_short_rounds(name, model), X, y)
    assert fitted.termination_condition_ == "interrupted"
    assert_rounds_add_up(fitted, y)
    labeled = fitted.labeled_iter_ >= 0
    assert not labeled.all()
    assert np.isfinite(fitted.decision_function(X)).all()
    if isinstance(model, SVM):  # the final fit is complete
        again = clone(fitted.estimator_).fit(X[labeled], fitted.transduction_[labeled])
        assert_allclose(fitted.decision_function(X), again.decision_function(X), atol=1e-5)


@both
def test_interrupt_in_the_run_of_one_class_ends_those_of_the_others(monkeypatch, name):
    X, y, _ = partly_labeled_blobs(3)
    calls = interrupt_call(monkeypatch, RidgeClassifier, "fit", 3)
    fitted = fit_with_interrupt(in_short_rounds(name, RidgeClassifier(), multiclass="ovr"), X, y)
    assert fitted.termination_condition_ == ["interrupted"] * 3
    assert len(calls) == 3 + 2  # each of the other classes has a first model
    assert fitted.n_iter_.tolist() == [2, 1, 1]
    assert np.isfinite(fitted.decision_function(X)).all()


@both
def test_no_round_begins_after_max_time(name):
    X, y, _ = partly_labeled_blobs()
    with pytest.warns(ConvergenceWarning, match=r"max_time=1e-09 reached, 45 samples had no label yet; the model of"):
        fitted = in_short_rounds(name, SVM(2.0, gamma=0.3), max_time=1e-9).fit(X, y)
    assert (fitted.termination_condition_, fitted.n_iter_, fitted.trace_) == ("max_time", 1, [])
    supervised = SVM(2.0, gamma=0.3).fit(X, y)
    assert_array_equal(fitted.decision_function(X), supervised.decision_function(X))
    assert_array_equal(fitted.transduction_, supervised.transduction_)


# -------------------------------------------------------------------- progress


def task_counts(recorder):
    """Tasks of each kind that began and ended."""
    kinds = ("fit", "binary task", "step")
    begun, ended = ([tasks.count(kind) for kind in kinds] for tasks in (recorder.begun, recorder.ended))
    assert begun == ended
    return begun


@both
def test_callback_stops_the_rounds(name):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y, _ = partly_labeled_blobs()
    recorder = TaskRecorder(stop_after=2)
    stopped = in_short_rounds(name).set_callbacks(recorder).fit(X, y)
    assert (stopped.termination_condition_, stopped.n_iter_) == ("stopped", 3)
    assert task_counts(recorder) == [1, 1, 2]
    limited = in_short_rounds(name, max_iter=2).fit(X, y)
    assert_same_rounds(stopped, limited)
    assert_array_equal(stopped.decision_function(X), limited.decision_function(X))
    n_rounds = len(in_short_rounds(name).fit(X, y).trace_)
    last = in_short_rounds(name).set_callbacks(TaskRecorder(stop_after=n_rounds)).fit(X, y)
    assert last.termination_condition_ == "all_labeled"


@both
@pytest.mark.parametrize("multiclass", ["joint", "ovr"])
def test_callbacks_and_threads_change_nothing(name, multiclass):
    pytest.importorskip("sklearn.callback", reason="scikit-learn before 1.9 has no callbacks")
    X, y, _ = partly_labeled_blobs(3)
    recorder = TaskRecorder()
    plain = in_short_rounds(name, multiclass=multiclass).fit(X, y)
    observed = in_short_rounds(name, multiclass=multiclass, n_jobs=2).set_callbacks(recorder).fit(X, y)
    assert_same_rounds(plain, observed)
    assert_array_equal(plain.decision_function(X), observed.decision_function(X))
    assert task_counts(recorder) == [1, 3 if multiclass == "ovr" else 1, np.sum(plain.n_iter_ - 1)]


@both
def test_verbose_prints_a_line_per_round(name, capsys):
    X, y, _ = partly_labeled_blobs(3)
    fitted = in_short_rounds(name, verbose=1).fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    assert len(lines) == len(fitted.trace_)
    for line, row in zip(lines, fitted.trace_):
        assert line.startswith(f"step {row['step']}  labeled {row['labeled']}  left {row['left']}  threshold ")
    fitted = in_short_rounds(name, verbose=1, multiclass="ovr").fit(X, y)
    lines = capsys.readouterr().out.splitlines()
    counts = [sum(line.startswith(f"problem {c}  step ") for line in lines) for c in range(3)]
    assert counts == list(fitted.n_iter_ - 1)
    in_short_rounds(name).fit(X, y)
    assert capsys.readouterr().out == ""
