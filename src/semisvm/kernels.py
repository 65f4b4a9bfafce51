"""Kernel values, by matrix multiplication.

=====================  ==========================================  =================================================
name                   k(x, z), r = ||x - z||                      positive definite
=====================  ==========================================  =================================================
linear                 x.z                                         yes
poly                   (gamma x.z + coef0)^degree                  yes, for coef0 >= 0 and a whole degree
rbf                    exp(-gamma r^2)                             yes
laplacian              exp(-gamma r + coef0)                       yes
multiquadric           -(gamma r + coef0)^(1/2)                    on coefficients that sum to zero: needs a free b
inverse_multiquadric   (gamma r + coef0)^(-1/2)                    yes, for coef0 > 0
kmod                   (e^(gamma/(r^2 + sigma^2)) - 1) / norm      yes; norm makes k(x, x) = 1
=====================  ==========================================  =================================================

The multiquadric of the literature has no minus sign and is no kernel: sum of a_i a_j k_ij is negative for every a
that sums to zero. With the minus sign it is conditionally positive definite, which is what a machine with a free
intercept needs; one without is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

ROUNDING = 8.0  # a squared distance below this many roundings of its terms is zero


class Kernel(NamedTuple):
    """A kernel with all its numbers; ``name`` is a key of ``KERNELS``, "precomputed" or a function of two tables."""

    name: str | Callable
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    sigma: float | None = None


class Rows(NamedTuple):
    """Rows ready for multiplication: the table and the squared norms of its rows (None where not needed)."""

    X: Any
    squares: np.ndarray | None

    def take(self, index) -> Rows:
        """Some of the rows."""
        return Rows(self.X[index], None if self.squares is None else self.squares[index])


class Form(NamedTuple):
    """How a kernel is made: ``of`` a product, a squared distance or a distance, changed in place by ``apply``."""

    of: str
    apply: Callable[[np.ndarray, Kernel], None]
    complaint: Callable[[Kernel], str | None] = lambda kernel: None
    definite: str = "positive"


def _power(T, kernel):
    T *= kernel.gamma
    T += kernel.coef0
    np.power(T, kernel.degree, out=T)


def _exponential(T, kernel):
    T *= -kernel.gamma
    if kernel.coef0:
        T += kernel.coef0
    np.exp(T, out=T)


def _gauss(T, kernel):
    T *= -kernel.gamma
    np.exp(T, out=T)


def _root(T, kernel):
    T *= kernel.gamma
    T += kernel.coef0
    np.sqrt(T, out=T)
    np.negative(T, out=T)


def _inverse_root(T, kernel):
    T *= kernel.gamma
    T += kernel.coef0
    np.sqrt(T, out=T)
    np.reciprocal(T, out=T)


def _kmod(T, kernel):
    """expm1(u)/expm1(top), u = gamma/(r^2 + sigma^2) and top its largest, written so that nothing overflows."""
    width = kernel.gamma if kernel.sigma is None else kernel.sigma**2
    top = kernel.gamma / width
    T += width
    np.divide(kernel.gamma, T, out=T)
    decay = np.exp(T - top)
    np.expm1(np.negative(T, out=T), out=T)
    T *= decay
    T /= np.expm1(-top)


def _poly_complaint(kernel):
    if not isinstance(kernel.degree, int | np.integer) or kernel.degree < 1:
        return f"degree={kernel.degree!r}: the poly kernel takes a whole number of 1 or more."
    if kernel.coef0 < 0:
        return f"coef0={kernel.coef0!r}: with a negative coef0 the poly kernel is not positive definite; use 0 or more."
    return None


def _inverse_complaint(kernel):
    if kernel.coef0 <= 0:
        return (
            f"coef0={kernel.coef0!r}: the inverse multiquadric is infinite at distance 0 unless coef0 is above 0; "
            "pass coef0=1, for instance."
        )
    return None


def _root_complaint(kernel):
    if kernel.coef0 < 0:
        return f"coef0={kernel.coef0!r}: the multiquadric takes the root of gamma r + coef0; use 0 or more."
    return None


def _kmod_complaint(kernel):
    if kernel.sigma is not None and not kernel.sigma > 0:
        return f"sigma={kernel.sigma!r}: the kmod kernel takes a number above 0, or None for sqrt(gamma)."
    return None


KERNELS: dict[str, Form] = {
    "linear": Form("product", lambda T, kernel: None),
    "poly": Form("product", _power, _poly_complaint),
    "rbf": Form("squared", _gauss),
    "laplacian": Form("distance", _exponential),
    "multiquadric": Form("distance", _root, _root_complaint, definite="conditional"),
    "inverse_multiquadric": Form("distance", _inverse_root, _inverse_complaint),
    "kmod": Form("squared", _kmod, _kmod_complaint),
}


def form(kernel: Kernel) -> Form | None:
    """The form of a named kernel; None for a function or a precomputed one."""
    return KERNELS.get(kernel.name) if isinstance(kernel.name, str) else None


def check(kernel: Kernel, free_intercept: bool) -> None:
    """Refuse, by name, numbers for which the kernel is not one."""
    if isinstance(kernel.name, str) and kernel.name != "precomputed" and kernel.name not in KERNELS:
        raise ValueError(
            f"kernel={kernel.name!r} is not known. Allowed: {', '.join(map(repr, KERNELS))}, 'precomputed', or a "
            "function of two tables that returns the matrix of their kernel values."
        )
    known = form(kernel)
    if known is None:
        return
    complaint = known.complaint(kernel)
    if complaint:
        raise ValueError(complaint)
    if known.definite == "conditional" and not free_intercept:
        raise ValueError(
            f"kernel={kernel.name!r} is positive definite only for coefficients that sum to zero, which a free "
            "intercept ensures. Use fit_intercept=True or another kernel."
        )


def rows(kernel: Kernel, X, dtype) -> Rows:
    """Bring a table into the form that ``block`` multiplies."""
    known = form(kernel)
    if known is None:
        return Rows(X, None)
    X = X.astype(dtype, copy=False)
    if known.of == "product":
        return Rows(X, None)
    if sparse.issparse(X):
        return Rows(X, np.asarray(X.multiply(X).sum(axis=1), dtype=dtype).ravel())
    return Rows(X, np.einsum("ij,ij->i", X, X))


def block(kernel: Kernel, A: Rows, B: Rows) -> np.ndarray:
    """The matrix of k(a, b) over the rows a of A and b of B."""
    known = form(kernel)
    if known is None:
        return _called(kernel.name, A.X, B.X)
    T = A.X @ B.X.T
    if sparse.issparse(T):
        T = T.toarray()
    if known.of != "product":
        T *= -2.0
        T += A.squares[:, None]
        T += B.squares
        np.maximum(T, 0.0, out=T)
        if known.of == "distance":
            noise = ROUNDING * np.finfo(T.dtype).eps
            T[(noise * A.squares)[:, None] + noise * B.squares >= T] = 0.0  # equal rows: the root would blow it up
            np.sqrt(T, out=T)
    known.apply(T, kernel)
    return T


def diagonal(kernel: Kernel, A: Rows) -> np.ndarray:
    """k(a, a) for each row a."""
    known = form(kernel)
    if known is None:
        return np.array([_called(kernel.name, A.X[i : i + 1], A.X[i : i + 1])[0, 0] for i in range(A.X.shape[0])])
    if known.of == "product":
        squares = A.X.multiply(A.X).sum(axis=1) if sparse.issparse(A.X) else np.einsum("ij,ij->i", A.X, A.X)
        T = np.asarray(squares, dtype=np.float64).reshape(1, -1)
    else:
        T = np.zeros((1, A.X.shape[0]))
    known.apply(T, kernel)
    return T[0]


def _called(function: Callable, A, B) -> np.ndarray:
    values = np.asarray(function(A, B), dtype=np.float64)
    if values.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            f"the kernel function returned an array of shape {values.shape} for tables of {A.shape[0]} and "
            f"{B.shape[0]} rows; it must return one value per pair, shape ({A.shape[0]}, {B.shape[0]})."
        )
    if not np.isfinite(values).all():
        raise ValueError("the kernel function returned NaN or infinity; every kernel value must be a finite number.")
    return values
