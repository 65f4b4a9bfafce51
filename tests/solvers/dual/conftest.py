"""Early ends in the middle of a search."""

import pytest

from semisvm.solvers.dual import smo


@pytest.fixture
def end_pair_steps(monkeypatch):
    """A function that lets the pair steps of the SVM with a given number, from 1 on, end by Ctrl-C or for want of time.

    It returns a list that gets an element per SVM.
    """

    def end_at(number, status):
        run, calls = smo._run_pair_steps, []

        def run_or_end(iterate, tol, stop, whole_matrix):
            calls.append(status)
            if len(calls) == number and status == "interrupted":
                raise KeyboardInterrupt
            if len(calls) >= number and status == "max_time":
                stop.end("max_time")
                return
            run(iterate, tol, stop, whole_matrix)

        monkeypatch.setattr(smo, "_run_pair_steps", run_or_end)
        return calls

    return end_at
