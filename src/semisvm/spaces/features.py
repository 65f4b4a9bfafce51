"""A space of features: f = X w + b."""

from __future__ import annotations

from typing import Any

import numpy as np

from .base import Memo
from .design_matrix import DesignMatrix
from .gram import Gram
from .kernels import Kernel


class Features(Memo):
    """Samples with coordinates of their own; ``coef`` is w.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The training samples.

    Attributes
    ----------
    design : DesignMatrix
        X with its products, which all problems in the space share.
    """

    def __init__(self, X: Any):
        super().__init__()
        self.X = X
        self.n: int = X.shape[0]
        self.design = DesignMatrix(X)
        self._gram: Gram | None = None

    def scores(self, coef: np.ndarray, b: float) -> np.ndarray:
        """f at the training samples."""
        return np.asarray(self.X @ coef, dtype=np.float64) + b

    def norm2(self, coef: np.ndarray) -> float:
        """||w||^2."""
        return float(coef @ coef)

    def norm1(self, coef: np.ndarray) -> float:
        """||w||_1."""
        return float(np.abs(coef).sum())

    def gram(self) -> Gram:
        """The linear kernel on the same samples."""
        if self._gram is None:
            self._gram = Gram(Kernel("linear"), self.X)
        return self._gram

    def from_dual(self, a: np.ndarray) -> np.ndarray:
        """w = X' a."""
        return np.asarray(self.X.T @ a, dtype=np.float64)


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

    def __init__(self, Z: np.ndarray, support: np.ndarray | None, landmarks: Any, transform: np.ndarray):
        super().__init__(Z)
        self.support = support
        self.landmarks = landmarks
        self.transform = transform

    def landmark_coef(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the landmarks: T w."""
        return self.transform @ coef
