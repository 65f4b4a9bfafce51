"""What every form answers."""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np


class Form(ABC):
    """A quadratic form 1/2 y'Sy over the labels of n rows; subclasses say how S is held.

    ``n``, ``cost``, ``times(y)`` = S y, ``bias(y, alpha)``, ``diagonal()``, ``block(rows, columns)`` and ``log_det``
    are theirs; the rest follows.
    """

    n: int
    cost: np.ndarray
    intercept: bool | str
    log_det: float

    @abstractmethod
    def times(self, y: np.ndarray) -> np.ndarray:
        """S y."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """S_jj."""

    @abstractmethod
    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns."""

    def times_some(self, y: np.ndarray) -> np.ndarray:
        """S y for a y most of which is zero."""
        return self.times(y)

    def value(self, y: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """1/2 y'Sy."""
        return 0.5 * float(y @ (self.times(y) if alpha is None else alpha))

    def scores(self, y: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """Scores at the rows: y - alpha/c."""
        return y - (alpha.T / self.cost).T

    def left_out(self, y: np.ndarray, alpha: np.ndarray, groups: list[np.ndarray] | None = None) -> np.ndarray:
        """Scores of every row as a machine without that row has them, all other labels as they are.

        y_j - alpha_j / S_jj; rows of a group are left out together, y_g - (S_gg)^-1 alpha_g.
        """
        held_out = y - alpha / self.diagonal()
        for group in groups or ():
            if len(group) > 1:
                held_out[group] = y[group] - np.linalg.solve(self.block(group), alpha[group])
        return held_out

    def evidence(self, y: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """Log evidence of the labels at the best overall scale.

        f is a Gaussian process of covariance K/mu, with a flat prior on a free intercept and noise of variance
        1/(mu c_i). At the mu that is best, m/(y'Sy) with m = n - 1 (n without a free intercept),

            -m/2 [log(2 pi y'Sy / m) + 1] - 1/2 [log det M + log 1'M^-1 1]

        so that for given costs and kernel the labels are ranked by y'Sy alone.
        """
        m = self.n - 1 if self.intercept is True else self.n
        return float(-0.5 * m * (np.log(4.0 * np.pi * self.value(y, alpha) / m) + 1.0) - 0.5 * self.log_det)
