"""Least squares with fixed labels: the smallest objective is a quadratic form of the labels, 1/2 y'Sy.

M = K + diag(1/c), and S is the top-left block of the inverse of the bordered matrix [[M, 1], [1', 0]] where the
intercept is free, M^-1 where there is none, and (M + 11')^-1 where it is regularized. With alpha = S y,

    min over (w, b) of 1/2 ||w||^2 + 1/2 sum c_i (y_i - f_i)^2 = 1/2 y'Sy
    f = y - alpha / c,     w = sum alpha_i phi(x_i)

S does not depend on the labels, so one form serves all classes, restarts and searches. ``DenseForm`` holds S itself,
``LowRankForm`` a factor of it.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np

from ..base import StoppingRule


class QuadraticForm(ABC):
    """A quadratic form 1/2 y'Sy of the labels of n samples; subclasses differ in how they hold S."""

    n: int
    cost: np.ndarray
    intercept: bool | str
    log_det: float  # log det M, plus log 1'M^-1 1 where the intercept is free
    is_lost: bool = False  # whether Ctrl-C has left it without S and without a factor

    @abstractmethod
    def product(self, y: np.ndarray) -> np.ndarray:
        """S y, for one column of labels or several."""

    @abstractmethod
    def diagonal(self) -> np.ndarray:
        """S_jj."""

    @abstractmethod
    def block(self, rows: np.ndarray, columns: np.ndarray | None = None) -> np.ndarray:
        """S at some rows and columns; the columns are the rows if they are not given."""

    @abstractmethod
    def prepare_entries(self, stop: StoppingRule) -> None:
        """Compute what ``diagonal`` and ``block`` read; the deadline of ``stop`` may end that."""

    def sparse_product(self, y: np.ndarray) -> np.ndarray:
        """S y for a y that is mostly zero."""
        return self.product(y)

    def value(self, y: np.ndarray, alpha: np.ndarray | None = None) -> float:
        """1/2 y'Sy."""
        return 0.5 * float(y @ (self.product(y) if alpha is None else alpha))

    def scores(self, y: np.ndarray, alpha: np.ndarray) -> np.ndarray:
        """f at the samples: y - alpha/c."""
        return y - (alpha.T / self.cost).T

    def leave_one_out(self, y: np.ndarray, alpha: np.ndarray, groups: list[np.ndarray] | None = None) -> np.ndarray:
        """Scores of every sample by the model without it, all other labels unchanged.

        y_j - alpha_j / S_jj; samples of a group are left out together, y_g - (S_gg)^-1 alpha_g.
        """
        held_out = y - alpha / self.diagonal()
        for group in groups or ():
            if len(group) > 1:
                held_out[group] = y[group] - _solve_group(self.block(group), alpha[group])
        return held_out

    def evidence(self, y: np.ndarray) -> tuple[float, float]:
        """Log evidence of the labels at the best overall scale mu, and mu.

        f is a Gaussian process of covariance K/mu, with a flat prior on a free intercept and noise of variance
        1/(mu c_i). At the best mu, m/(y'Sy) with m = n - 1 (n without a free intercept), it is

            -m/2 [log(2 pi y'Sy / m) + 1] - 1/2 [log det M + log 1'M^-1 1]

        so that for given costs and kernel the labels are ranked by y'Sy alone.
        """
        m = self.n - 1 if self.intercept is True else self.n
        alpha = self.product(y)
        rounding = np.finfo(float).eps * float(np.abs(y) @ np.abs(alpha))
        mu = 0.5 * m / max(self.value(y, alpha), rounding)
        return float(-0.5 * m * (np.log(2.0 * np.pi / mu) + 1.0) - 0.5 * self.log_det), mu


def _solve_group(S: np.ndarray, alpha: np.ndarray) -> np.ndarray:
    """(S_gg)^-1 alpha_g; S_gg is positive definite, since leaving samples out adds to it what their costs were."""
    try:
        return np.linalg.solve(S, alpha)
    except np.linalg.LinAlgError:
        raise ValueError(
            "features or kernel values are too large for held-out scores: they leave no digits for 1/C. Center and "
            "scale X, for instance with sklearn.preprocessing.StandardScaler, or lower C."
        ) from None
