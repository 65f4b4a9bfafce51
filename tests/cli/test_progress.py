"""What a terminal shows while a command runs."""

import io
import sys

import numpy as np
import pytest

from semisvm import CCCPTSVM, SemiSVM
from semisvm.cli.progress import FitProgress, ProgressDisplay
from semisvm.cli.terminal import format_seconds
from semisvm.datasets import hide_labels, make_two_gaussians

pytest.importorskip("sklearn.callback", reason="callbacks came with scikit-learn 1.9")


class Terminal(io.StringIO):
    """A stream that looks like a terminal."""

    def isatty(self):
        return True


class Recorder:
    """What a callback tells a display."""

    def __init__(self):
        self.n_parts, self.n_done, self.details = None, 0, []

    def expect(self, n_parts):
        self.n_parts = n_parts

    def advance(self):
        self.n_done += 1

    def detail(self, text):
        self.details.append(text)


@pytest.fixture(scope="module")
def data():
    X, y = make_two_gaussians(60, n_features=3, random_state=0)
    return X, hide_labels(y, 20, random_state=0)


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_every_part_of_an_ensemble_is_counted(data, n_jobs):
    recorder = Recorder()
    SemiSVM(random_state=0, n_jobs=n_jobs).set_callbacks(FitProgress(recorder)).fit(*data)
    assert recorder.n_parts == recorder.n_done > 14
    assert recorder.details == []


def test_iterations_of_a_single_problem_are_counted(data):
    recorder = Recorder()
    model = CCCPTSVM().set_callbacks(FitProgress(recorder)).fit(*data)
    assert recorder.n_parts is None
    assert recorder.details == [f"iteration {i + 1}" for i in range(len(model.trace_))]


def test_terminal(data, monkeypatch):
    terminal, report = Terminal(), io.StringIO()
    monkeypatch.setattr(sys, "stderr", terminal)
    monkeypatch.setenv("TERM", "xterm")
    model = SemiSVM(random_state=0)
    with ProgressDisplay(report=report) as display:
        display.begin("reading [bold]x[/bold]", 4)
        display.say(["read"])
        display.begin("fitting")
        with display.following(model):
            model.fit(*data)
    assert "reading [bold]x[/bold]" in terminal.getvalue()
    assert "fitting" in terminal.getvalue()
    assert report.getvalue() == "read\n"
    assert not hasattr(model, "_skl_callbacks")
    assert np.isin(model.transduction_, data[1]).all()


def test_without_a_terminal_nothing_is_shown(capsys):
    with ProgressDisplay() as display:
        display.begin("reading", 4)
        display.advance()
        display.say(["read"])
    assert capsys.readouterr() == ("", "")


def test_seconds():
    assert [format_seconds(s) for s in (0.4, 59.6, 61, 3725)] == ["0 s", "1 min 0 s", "1 min 1 s", "1 h 2 min"]
