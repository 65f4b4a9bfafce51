"""A fit that was interrupted goes on from its checkpoint, to the same digits."""

import numpy as np
import pytest

from parallel.data import gaussians, mapped, sparse_samples
from semisvm import AnnealingTSVM, ContinuationTSVM, MultiSwitchTSVM, parallel
from semisvm.parallel.execution import Threads
from semisvm.parallel.journal import Journal


class Breakdown(Exception):
    pass


def interrupted_after(monkeypatch, n_runs, model, X, y, folder):
    """A fit whose tasks fail after some runs; returns how many files it left."""
    runs, ordinary = [], Threads.run

    def run(self, *arguments):
        runs.append(1)
        if len(runs) > n_runs:
            raise Breakdown
        return ordinary(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Threads, "run", run)
        with pytest.raises(Breakdown):
            parallel.fit(model, X, y, checkpoint=folder)
    return len(list(folder.glob("*.npz")))


@pytest.mark.parametrize("cls", [MultiSwitchTSVM, AnnealingTSVM, ContinuationTSVM])
def test_resumed_fit_equals_the_uninterrupted_one(cls, monkeypatch, tmp_path):
    X, y = sparse_samples() if cls is ContinuationTSVM else gaussians()
    expected = parallel.fit(cls(kernel="linear"), X, y)
    folder, runs = tmp_path / "checkpoint", []
    kept = interrupted_after(monkeypatch, 30, cls(kernel="linear"), X, y, folder)
    assert kept > 20
    answer = Journal.answer

    def counted(self, question, compute):
        before = self.n_resumed
        result = answer(self, question, compute)
        runs.append(self.n_resumed == before)
        return result

    monkeypatch.setattr(Journal, "answer", counted)
    found = parallel.fit(cls(kernel="linear"), X, y, checkpoint=folder)
    assert len(runs) - sum(runs) == kept  # all that was there was used
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.intercept_, expected.intercept_)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    assert found.objective_ == expected.objective_
    assert not list(folder.glob("*"))


def test_checkpoint_of_another_fit_is_refused(monkeypatch, tmp_path):
    X, y = gaussians()
    folder = tmp_path / "checkpoint"
    interrupted_after(monkeypatch, 20, MultiSwitchTSVM(kernel="linear"), mapped(tmp_path, X), y, folder)
    for model, table in ((MultiSwitchTSVM(2.0, kernel="linear"), X), (MultiSwitchTSVM(kernel="linear"), X[:, ::-1])):
        with pytest.raises(ValueError, match="is that of another fit"):
            parallel.fit(model, table.copy(), y, checkpoint=folder)


def test_checkpoint_of_other_samples_is_refused_at_once(monkeypatch, tmp_path):
    """Where the first questions are the same: a value of one sample has changed."""
    X, y = gaussians()
    folder = tmp_path / "checkpoint"
    interrupted_after(monkeypatch, 20, MultiSwitchTSVM(0.1, kernel="linear"), X, y, folder)
    X[500, 3] = 99.0
    with pytest.raises(ValueError, match="is that of another fit"):
        parallel.fit(MultiSwitchTSVM(0.1, kernel="linear"), X, y, checkpoint=folder)


def test_answer_that_was_not_written_to_its_end_is_computed_again(tmp_path):
    journal, calls = Journal(tmp_path), []

    def compute():
        calls.append(1)
        return (np.arange(3.0), 2.0), (np.ones(4),)

    first = journal.answer(("question", np.arange(5)), compute)
    (tmp_path / "000001.draft").write_bytes(b"half")
    again = Journal(tmp_path)
    for one, other in zip(first, again.answer(("question", np.arange(5)), compute)):
        for a, b in zip(one, other):
            np.testing.assert_array_equal(a, b)
    assert len(calls) == 1
    again.answer(("next", np.arange(5)), compute)
    assert len(calls) == 2
