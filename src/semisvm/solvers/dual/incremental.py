"""An SVM to which labeled samples are added; each training starts from the last point."""

from __future__ import annotations

import numpy as np

from ...problem import Problem
from ..base import StoppingRule
from .convex import SupervisedSVM
from .fixed_labels import Trainer


class IncrementalSVM:
    """The SVM of the samples added so far.

    Parameters
    ----------
    problem : Problem
        With the costs of all samples; its labeled loss is a hinge or a squared hinge. Its signs are not used.
    solver : SupervisedSVM
        Tolerance and limits of one training.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C ended a training.
    """

    def __init__(self, problem: Problem, solver: SupervisedSVM):
        self._cost, self._solver = problem.cost, solver
        self._signs = np.zeros(len(problem.cost))
        self._trainer = Trainer(problem, StoppingRule(), solver.max_iter)
        self._scores = np.zeros(len(problem.cost))
        self.interrupted = False

    def add(self, samples: np.ndarray, signs: np.ndarray) -> None:
        """Add samples with labels of +-1 and train."""
        self._signs[samples] = signs
        self._trainer.stop = StoppingRule(max_time=self._solver.max_time)
        self._trainer.train(self._signs.copy(), np.where(self._signs != 0, self._cost, 0.0), self._solver.tol)
        self._scores = self._trainer.scores()
        self.interrupted |= self._trainer.point.status == "interrupted"

    def scores(self, samples: np.ndarray) -> np.ndarray:
        """f at any samples."""
        return self._scores[samples]
