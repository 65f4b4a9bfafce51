"""Machines of labeled rows to which labeled rows are added, each trained from the one before.

Least squares: the bordered system of the rows so far is inverted once and the inverse grows by a block. The hinge: the
boxes of the new rows open, and pair steps go on from the last point.
"""

from __future__ import annotations

import numpy as np

from ..linalg import Growing
from ..problem import Problem
from ..spaces import Gram, in_threads, one_blas_thread, submatrix
from .held_labels import Trainer
from .least_squares import need_memory
from .limits import Limits, deadline

LOOKS, LOOKED_AT = 32, 64  # additions between two strict looks at how far the system is from being solved, and rows
OFF, FAR_OFF = 1e-9, 1e-4  # in units of labels: the inverse is made anew at a strict look, and at once


class GrowingLeastSquares:
    r"""The least-squares machine of some rows, for several columns of labels at once.

    The system of the rows so far is

        [0  1'        ] [b    ]   [0]
        [1  K + 1/c   ] [alpha] = [Y]

    without its first row and column where there is no free intercept, and with K + 1 for K where the intercept is part
    of the norm. A free intercept lets K be centred by the mean of all rows, which keeps it well conditioned and makes a
    conditionally positive definite kernel a positive definite one.

    Parameters
    ----------
    gram : Gram
        Kernel values of all rows, held whole.
    cost : array of shape (n,)
        What a unit of loss costs at each row; above zero where a row may come to have a label.
    intercept : {True, False, "regularised"}
        As in ``Problem``.
    columns : int
        Columns of labels.

    Attributes
    ----------
    rows : int array of shape (m,)
        The rows so far, in the order in which they came.
    alpha, bias : arrays of shape (m, columns) and (columns,)
        The machine, in centred kernel values.
    """

    def __init__(self, gram: Gram, cost: np.ndarray, intercept: bool | str, columns: int):
        need_memory(gram.n, gram.dtype.itemsize)
        self._gram, self._cost = gram, cost
        self._border = int(intercept is True)
        self._mean = gram.times(np.full(gram.n, 1.0 / gram.n)) if self._border else np.zeros(gram.n)
        self._shift = self._mean.mean() if self._border else float(intercept == "regularised")
        self._intercept = intercept
        self._growing = Growing(gram.n + self._border, in_threads)
        self._looked, self._allowed = 0, OFF
        self.rows = np.zeros(0, dtype=int)
        self._given = np.zeros((0, columns))  # right-hand sides, the border's first
        self._found = np.zeros((0, columns))  # solutions

    def add(self, rows: np.ndarray, signs: np.ndarray) -> None:
        """Put rows with labels of shape (s, columns) to the others."""
        cross, corner = self._values(self.rows, rows), self._values(rows, rows)
        corner[np.diag_indices(len(rows))] += 1.0 / self._cost[rows]
        new = np.asarray(signs, dtype=np.float64)
        if self._border:
            if len(self.rows):
                cross = np.vstack([np.ones((1, len(rows))), cross])
            else:
                corner = np.block([[np.zeros((1, 1)), np.ones((1, len(rows)))], [np.ones((len(rows), 1)), corner]])
                new = np.vstack([np.zeros((1, new.shape[1])), new])
                cross = np.zeros((0, len(rows) + 1))
        with one_blas_thread:  # the products are thin: those of many rows are spread over the cores by hand
            V, T = self._growing.add(cross, corner)
            step = T @ (new - cross.T @ self._found)
            self._found = np.vstack([self._found - V @ step, step])
        self._given = np.vstack([self._given, new])
        self.rows = np.concatenate([self.rows, rows])
        self._looked += 1
        self._look(OFF if self._looked >= LOOKS else FAR_OFF)

    def _values(self, rows: np.ndarray, columns: np.ndarray) -> np.ndarray:
        """Kernel values, centred."""
        K, few = self._gram.whole, len(rows) <= len(columns)
        K = submatrix(K, rows, columns) if few else submatrix(K, columns, rows).T  # rows of K lie together in memory
        K = K.astype(np.float64, copy=False)
        if self._border:
            K -= self._mean[columns]
            K -= self._mean[rows, None]
        K += self._shift
        return K

    def _look(self, allowed: float) -> None:
        """Where the solution is off by more than is allowed, invert the system anew.

        Kernel values may be symmetric up to rounding only, so what is off then is the measure for later looks.
        """
        if self._looked >= LOOKS:
            self._looked = 0
        if self._off() > max(allowed, self._allowed):
            system = self._system()
            self._growing.clear()
            self._growing.add(np.zeros((0, len(system))), system)
            self._found = self._growing.times(self._given)
            self._allowed = max(OFF, 10.0 * self._off())

    def _off(self) -> float:
        """How far some rows are from solving the system, in units of labels."""
        some = np.unique(np.linspace(0, len(self.rows) - 1, LOOKED_AT).astype(int))
        left = self.signs[some] - self.scores(self.rows[some])
        return float(np.abs(left - self.alpha[some] / self._cost[self.rows[some], None]).max())

    def _system(self) -> np.ndarray:
        """The matrix of the rows so far."""
        M = self._values(self.rows, self.rows)
        M[np.diag_indices(len(M))] += 1.0 / self._cost[self.rows]
        if not self._border:
            return M
        return np.block([[np.zeros((1, 1)), np.ones((1, len(M)))], [np.ones((len(M), 1)), M]])

    @property
    def alpha(self) -> np.ndarray:
        """The coefficient of every row so far."""
        return self._found[self._border :]

    @property
    def bias(self) -> np.ndarray:
        """What is added to centred kernel values."""
        return self._found[0] if self._border else np.zeros(self._found.shape[1])

    @property
    def signs(self) -> np.ndarray:
        """The labels of the rows so far."""
        return self._given[self._border :]

    @property
    def inverse(self) -> np.ndarray:
        """The inverse of the system."""
        return self._growing.inverse

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """F at any rows, shape (len(rows), columns)."""
        return self._values(rows, self.rows) @ self.alpha + self.bias

    def left_out(self) -> np.ndarray:
        """Scores of the rows so far as machines without them have them: y - alpha_j / inverse_jj."""
        spread = self._growing.diagonal()[self._border :, None]
        return self.signs - self.alpha / spread


class GrowingHinge:
    """The SVM of some rows, by pair steps that go on from the last machine.

    Parameters
    ----------
    problem : Problem
        With the costs of all rows; its labeled loss is a hinge or a squared hinge. Its signs are not looked at.
    tol : float
        Largest violation of the optimality conditions, in units of f.
    max_iter : int
        Largest number of pair steps of one training.
    max_time : float or None
        Seconds after which one training ends.

    Attributes
    ----------
    interrupted : bool
        Whether Ctrl-C came during a training.
    """

    def __init__(self, problem: Problem, tol: float, max_iter: int, max_time: float | None = None):
        self._cost, self._tol, self._max_iter, self._max_time = problem.cost, tol, max_iter, max_time
        self._signs = np.zeros(len(problem.cost))
        self._trainer = Trainer(problem, Limits())
        self._scores: np.ndarray | None = None
        self.interrupted = False

    def add(self, rows: np.ndarray, signs: np.ndarray) -> None:
        """Put rows with labels to the others."""
        self._signs[rows] = signs
        self._trainer.limits = Limits(self._max_iter, deadline(self._max_time))
        self._trainer.train(self._signs.copy(), np.where(self._signs != 0, self._cost, 0.0), self._tol)
        self._scores = self._trainer.scores()
        self.interrupted |= self._trainer.point.status == "interrupted"

    def scores(self, rows: np.ndarray) -> np.ndarray:
        """F at any rows."""
        return self._scores[rows]
