"""A space of features: f = X w + b.

**Samples far from the origin.** Products of samples with an offset are large numbers whose small differences matter: an
offset of r times the range of the samples costs a factor r^2 of the precision. With a free intercept the samples may be
centered, since f = (x - center)'w + b is the same function of x with another intercept.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import sparse

from .base import Memo
from .design_matrix import DesignMatrix
from .gram import Gram
from .kernels import Kernel, centered, entries_per_feature, row_blocks

FAR = 10.0  # times the range of the samples: a mean beyond costs more than two digits


class Features(Memo):
    """Samples with coordinates of their own; ``coef`` is w.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The training samples, without their center.
    center : array of shape (d,) or None
        What was subtracted from them: f = (x - center)'w + b at a sample x.
    design : DesignMatrix or None
        X with its products, which all problems in the space share; None for those of an X in memory.
    """

    def __init__(self, X: Any, center: np.ndarray | None = None, design: DesignMatrix | None = None):
        super().__init__()
        self.X = X
        self.center = center
        self.n: int = X.shape[0]
        self.design = design or DesignMatrix(X)
        self._gram: Gram | None = None

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """f at the training samples."""
        return self.design.product(coef) + b

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2."""
        return float(coef @ coef)

    def norm1(self, coef: np.ndarray) -> float:
        """||w||_1."""
        return float(np.abs(coef).sum())

    def gram(self) -> Gram:
        """The linear kernel on the same samples."""
        with self._guard:
            if self._gram is None:
                self._gram = Gram(Kernel("linear"), self.X)
            return self._gram

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """w = X' a."""
        return self.design.adjoint(a)


class MappedFeatures(Features):
    """Features Z = k(X, landmarks) T that stand for a kernel.

    A model f = <w, z(x)> + b is one of the landmarks with coefficients T w, so that new samples are predicted as with
    any kernel.

    Attributes
    ----------
    X : array of shape (n, r)
        Z.
    support : int array of shape (m,) or None
        Which training samples the landmarks are; None if they were given.
    landmarks : array or CSR of shape (m, d)
        The landmarks; None for a precomputed kernel.
    transform : array of shape (m, r)
        T.
    """

    def __init__(
        self,
        Z: Any,
        support: np.ndarray | None,
        landmarks: Any,
        transform: np.ndarray,
        design: DesignMatrix | None = None,
    ):
        super().__init__(Z, design=design)
        self.support = support
        self.landmarks = landmarks
        self.transform = transform

    def landmark_coef(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the landmarks: T w."""
        return self.transform @ coef


def offset_and_range(X: Any) -> tuple[float, float]:
    """The largest mean of a feature, in absolute value, and the largest range of one."""
    blocks = row_blocks(X) if sparse.issparse(X) else [X]
    total = np.zeros(X.shape[1])
    largest, smallest = total - np.inf, total + np.inf
    with np.errstate(over="ignore"):
        for block in blocks:
            high, low = (_dense(values) for values in (block.max(axis=0), block.min(axis=0)))
            largest, smallest = np.maximum(largest, high), np.minimum(smallest, low)
            total += _dense(block.sum(axis=0, dtype=np.float64))
        return float(np.abs(total).max()) / X.shape[0], float((largest - smallest).max())


def _dense(values: Any) -> np.ndarray:
    """One axis of numbers, whatever scipy returns."""
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def is_far_from_origin(X: Any) -> bool:
    """Whether the mean of a feature is far larger than the range of every feature."""
    if sparse.issparse(X) and (entries_per_feature(X) < X.shape[0]).all():
        return False  # the range of a feature that is zero at some sample is at least its mean
    mean, largest_range = offset_and_range(X)
    return 0.0 < FAR * largest_range < mean


def linear_features(X: Any, free_intercept: bool) -> Features:
    """The samples as features, centered if they are far from the origin and the intercept is free."""
    return Features(*centered(X)) if free_intercept and is_far_from_origin(X) else Features(X)
