r"""Supervised least squares at one kernel and all values of C, by one eigendecomposition.

With c = C w, U = diag(w)^(1/2) and :math:`UKU = V \Lambda V'`; where the intercept is free, u = U1/|U1| is removed
from UKU and gets an eigenvalue tau of the size of the others, whose part is taken out again:

.. math:: S = U \left(V (\Lambda + 1/C)^{-1} V' - \frac{u u'}{\tau + 1/C}\right) U, \qquad
   \frac{dS}{d \log C} = \frac 1C U \left(V (\Lambda + 1/C)^{-2} V' - \frac{u u'}{(\tau + 1/C)^2}\right) U.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..._threads import blas_threads_for
from .closed_form import LeastSquaresModels, Slopes
from .model_family import ModelFamily


@dataclass(frozen=True)
class SpectralModels(LeastSquaresModels):
    """Models by an eigendecomposition; their derivatives in log C."""

    in_log_C: tuple[np.ndarray, np.ndarray, float]

    def gradient(self, slopes: Slopes) -> np.ndarray:
        """The derivative in log C alone."""
        alpha, diagonal, log_det = self.in_log_C
        value = np.vdot(slopes.alpha, alpha) + slopes.diagonal @ diagonal + slopes.log_det * log_det
        return np.array([value + slopes.cost.sum()])


class SpectralForm:
    """One eigendecomposition for all values of C, of a supervised least-squares family at one kernel.

    Parameters
    ----------
    family : ModelFamily
        Supervised, of squared losses.
    theta : array
        The point whose kernel is decomposed.
    """

    def __init__(self, family: ModelFamily, theta: np.ndarray):
        self._intercept = family.intercept
        K = family.kernels.gram(family.kernel_at(theta)).compute()
        self._weights = family.weights
        root = np.sqrt(self._weights)
        if self._intercept == "regularized":
            K = K + 1.0
        K = root[:, None] * K * root
        self._u, self._tau = np.zeros_like(root), 1.0
        if self._intercept is True:
            self._u = root / np.linalg.norm(root)
            along = K @ self._u
            K -= np.outer(self._u, along)
            K -= np.outer(along - (self._u @ along) * self._u, self._u)
            self._tau = max(float(K.trace()) / len(K), 1e-12) if len(K) else 1.0
            K += self._tau * np.outer(self._u, self._u)
        with blas_threads_for(float(len(K)) ** 3):
            self._values, self._V = np.linalg.eigh(K)
        self._y = family.signs
        self._rotated = self._V.T @ (root[:, None] * self._y)
        self._along_u = self._u @ (root[:, None] * self._y)

    def at(self, C: float) -> SpectralModels:
        """The models at one C."""
        m, w = len(self._weights), self._weights
        shifted, along_u = self._values + 1.0 / C, 1.0 / (self._tau + 1.0 / C)
        if not (shifted > 0).all():
            raise ValueError("the kernel matrix with 1/C on its diagonal is not positive definite; use a smaller C.")
        diagonal, alpha = self._S(1.0 / shifted, along_u)
        in_log_C = [value / C for value in self._S(shifted**-2, along_u**2)]
        free = self._intercept is True
        log_det = float(np.log(shifted).sum() - np.log(w).sum())
        if free:  # without the eigenvalue of u, and with the border
            log_det += float(np.log(along_u) + np.log(w.sum()))
        return SpectralModels(
            y=self._y,
            alpha=alpha,
            diagonal=diagonal,
            log_det=log_det,
            cost=C * w,
            samples=np.arange(m),
            labeled=np.arange(m),
            degrees=m - 1 if free else m,
            in_log_C=(in_log_C[1], in_log_C[0], -float((diagonal / w).sum()) / C),
        )

    def _S(self, weight: np.ndarray, along_u: float) -> tuple[np.ndarray, np.ndarray]:
        """Diagonal of U (V diag(weight) V' - along_u u u') U and its product with y."""
        w, root = self._weights, np.sqrt(self._weights)
        diagonal = w * (self._V**2 @ weight - along_u * self._u**2)
        product = self._V @ (weight[:, None] * self._rotated) - along_u * np.outer(self._u, self._along_u)
        return diagonal, root[:, None] * product
