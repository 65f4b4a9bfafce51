"""Kernel matrices of the same samples for many parameters of the kernel, and their derivatives.

Products or distances of the samples are computed once; a kernel matrix is a function of each of their values. The
derivatives are those in the logarithm of a parameter, with T the product, squared distance or distance:

=====================  =============================  =================================  =========================
kernel                 dK / d log gamma               dK / d log coef0                   dK / d log sigma
=====================  =============================  =================================  =========================
poly                   n (g T + b)^(n-1) g T          n (g T + b)^(n-1) b
rbf                    -g T K
laplacian              -g T K                         b K
multiquadric           g T / (2 K)                    b / (2 K)
inverse_multiquadric   -g T K^3 / 2                   -b K^3 / 2
kmod                   see ``_kmod_slope``                                               see ``_kmod_slope``
=====================  =============================  =================================  =========================
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from ...spaces import Gram, Kernel, kernels, require_memory

N_MATRICES = 6  # of all samples at a time: arguments, kernel, its derivative, the inverse and what a gradient needs
Slope = Callable[[np.ndarray, np.ndarray, Kernel], np.ndarray]


def _kmod_slope(T: np.ndarray, K: np.ndarray, kernel: Kernel, name: str) -> np.ndarray:
    """With u = gamma/(T + w) and v = gamma/w: K = (e^u - 1)/(e^v - 1), dK = (e^(u-v) du - K dv) / (1 - e^-v)."""
    width = kernel.gamma if kernel.sigma is None else kernel.sigma**2
    u, v = kernel.gamma / (T + width), kernel.gamma / width
    if name == "sigma":
        du, dv = -2.0 * width * u**2 / kernel.gamma, -2.0 * v
    elif kernel.sigma is None:
        du, dv = u * (1.0 - u), 0.0
    else:
        du, dv = u, v
    return (np.exp(u - v) * du - K * dv) / -np.expm1(-v)


def _multiquadric_slope(T: np.ndarray, K: np.ndarray, kernel: Kernel) -> np.ndarray:
    """g T / (2 K), which is 0 at T = 0 where K may be 0, too."""
    return np.divide(0.5 * kernel.gamma * T, K, out=np.zeros_like(K), where=T > 0)


SLOPES: dict[str, dict[str, Slope]] = {
    "linear": {},
    "poly": {
        "gamma": lambda T, K, k: k.degree * (k.gamma * T + k.coef0) ** (k.degree - 1) * (k.gamma * T),
        "coef0": lambda T, K, k: k.degree * (k.gamma * T + k.coef0) ** (k.degree - 1) * k.coef0,
    },
    "rbf": {"gamma": lambda T, K, k: -k.gamma * T * K},
    "laplacian": {"gamma": lambda T, K, k: -k.gamma * T * K, "coef0": lambda T, K, k: k.coef0 * K},
    "multiquadric": {"gamma": _multiquadric_slope, "coef0": lambda T, K, k: 0.5 * k.coef0 / K},
    "inverse_multiquadric": {
        "gamma": lambda T, K, k: -0.5 * k.gamma * T * K**3,
        "coef0": lambda T, K, k: -0.5 * k.coef0 * K**3,
    },
    "kmod": {
        "gamma": lambda T, K, k: _kmod_slope(T, K, k, "gamma"),
        "sigma": lambda T, K, k: _kmod_slope(T, K, k, "sigma"),
    },
}


def searchable_parameters(kernel: Kernel) -> list[str]:
    """The parameters of a kernel whose logarithm can be searched: positive ones, gamma first."""
    slopes = SLOPES.get(kernel.name, {}) if isinstance(kernel.name, str) else {}
    return [name for name in slopes if (getattr(kernel, name) or 0.0) > 0.0]


class KernelFamily:
    """The kernel matrix of some samples as a function of the parameters of the kernel.

    Parameters
    ----------
    kernel : Kernel
        The kernel; one that is precomputed or a function has a single matrix.
    X : array or CSR of shape (n, d)
        The samples, or the kernel values.
    """

    def __init__(self, kernel: Kernel, X: Any):
        n = X.shape[0]
        what = f"a search of hyperparameters on {n:,} samples, {N_MATRICES} matrices of that size,"
        require_memory(8 * N_MATRICES * n**2, what, "Use fewer samples")
        self._X = X
        self._form = kernels.form_of(kernel)
        gram = Gram(kernel, X, float64=True)
        if self._form is None:
            self._arguments = gram.compute().astype(np.float64, copy=False)
            if kernel.name == "precomputed":
                self._X = self._arguments
        else:
            self._arguments = kernels.arguments(self._form, gram.samples, gram.samples)
            self._arguments = 0.5 * (self._arguments + self._arguments.T)  # rounding is not symmetric

    def gram(self, kernel: Kernel) -> Gram:
        """The space of a kernel with other parameters, its matrix computed."""
        if self._form is None:
            return Gram(kernel, self._X, values=self._arguments)
        K = self._arguments.copy()
        self._form.apply(K, kernel)
        return Gram(kernel, self._X, values=K)

    def slope(self, kernel: Kernel, K: np.ndarray, name: str) -> np.ndarray:
        """dK / d log of a parameter."""
        assert isinstance(kernel.name, str), "functions have no parameters"
        return SLOPES[kernel.name][name](self._arguments, K, kernel)
