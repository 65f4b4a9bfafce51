"""A protocol that takes no time: the error of a draw is a known function of it."""

import numpy as np

from semisvm import LSSVM
from semisvm.bench import FIXED, TEST_TUNED, Cell, Measured, Printed, Protocol
from semisvm.bench.data import Partition, show_labels
from semisvm.datasets import make_two_gaussians

ERRORS = (4.0, 6.0, 8.0, 6.0)  # mean 6, standard deviation sqrt(8/3)


def known_error(setup, draw):
    return Measured(ERRORS[draw], objective=draw / 7, chosen={"C": 10})


def raising(setup, draw):
    raise RuntimeError("the solver\nbroke")


def fitted_error(model, setup, draw):
    X, y = make_two_gaussians(160, 5, 0.9, random_state=draw)  # Bayes error Phi(-.9 sqrt(5)) = 2.2 %
    shown = show_labels(y[:60], 20, np.random.default_rng(draw))
    return Measured(Partition(X[:60], shown, y[:60], X[60:], y[60:]).error(model))


class BrokenLSSVM(LSSVM):
    """The model that an error of sign in a solver would give."""

    def predict(self, X):
        return 3 - super().predict(X)


def protocol(*cells, selection=FIXED, draws=4, name="toy"):
    return Protocol(name, "A toy | table", "Nobody, 1900.", "https://example.org", selection, cells, draws)


KNOWN = Cell("first", "known", Printed(6.0, 1.0, 4), known_error)
ABSENT = Cell("second", "absent", Printed(5.0, test_size=100), known_error, needs=("nosuch",))
UNREADABLE = Cell("third", "program", Printed(5.0, test_size=100), None, why_not="needs another program")
TOY = protocol(KNOWN, ABSENT, UNREADABLE, selection=TEST_TUNED)
