"""Early ends in the middle of a search, and a dual with everything that a dual may have."""

import numpy as np
import pytest

from semisvm.solvers.dual import smo
from semisvm.solvers.dual.dual_problem import Dual
from semisvm.spaces import Gram, Kernel


@pytest.fixture
def end_pair_steps(monkeypatch):
    """A function that lets the pair steps of the SVM with a given number, from 1 on, end by Ctrl-C or for want of time.

    It returns a list that gets an element per SVM.
    """

    def end_at(number, status):
        run, calls = smo._run_pair_steps, []

        def run_or_end(iterate, tol, stop, *options):
            calls.append(status)
            if len(calls) == number and status == "interrupted":
                raise KeyboardInterrupt
            if len(calls) >= number and status == "max_time":
                stop.end("max_time")
                return
            run(iterate, tol, stop, *options)

        monkeypatch.setattr(smo, "_run_pair_steps", run_or_end)
        return calls

    return end_at


@pytest.fixture
def make_dual():
    """A function that makes a random dual with ridges, kinks and two virtual samples, and its matrix."""

    def make(seed=0, n=12, width=1.0):
        rng = np.random.default_rng(seed)
        Z = rng.standard_normal((n + 2, 5))
        lower, upper = -width * rng.uniform(0.2, 1.0, n), width * rng.uniform(0.2, 1.0, n)
        slope, ridge = rng.standard_normal(n), rng.uniform(0.1, 0.5, n)
        dual = Dual(
            Gram(Kernel("linear"), Z[:n]), lower, upper, slope, ridge,
            kink=rng.uniform(lower, upper), slope_above=slope - rng.uniform(0.5, 2.0, n),
            virtual=Z[n:] @ Z.T, virtual_slope=rng.standard_normal(2),
        )  # fmt: skip
        return dual, Z @ Z.T + np.diag(np.r_[ridge, 0.0, 0.0])

    return make
