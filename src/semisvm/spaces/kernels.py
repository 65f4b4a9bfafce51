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
that sums to zero. With the minus sign it is conditionally positive definite, which is what a model with a free
intercept needs; without a free intercept it is refused by name.

References
----------
.. [1] M. M. Adankon, "Apprentissage semi-supervise pour les SVMs et leurs variantes", doctoral thesis, Ecole de
   technologie superieure, Montreal: the table of kernels.
.. [2] N. E. Ayat, M. Cheriet, L. Remaki and C. Y. Suen, "KMOD - a new support vector machine kernel with moderate
   decreasing for pattern recognition. Application to digit image recognition".
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._threads import blas_threads_for
from .distances import to_squared_distances

ROUNDING = 8.0  # a squared distance below this many rounding errors of its terms is zero
BLOCK = 500_000  # entries in some rows of a sparse table
MAGNIFIED = 1e-6  # of a squared width of the kernel: where such an error is larger, equal samples would differ


class Kernel(NamedTuple):
    """A kernel with its parameters; ``name`` is a key of ``KERNELS``, "precomputed" or a function of two arrays."""

    name: str | Callable
    gamma: float = 1.0
    coef0: float = 0.0
    degree: int = 3
    sigma: float | None = None


class Samples(NamedTuple):
    """Samples ready for multiplication: X and the squared norms of the samples (None where not needed)."""

    X: Any
    squared_norms: np.ndarray | None

    def take(self, index: Any) -> Samples:
        """Some of the samples."""
        return Samples(self.X[index], None if self.squared_norms is None else self.squared_norms[index])


class KernelForm(NamedTuple):
    """How a kernel is made: a function ``apply`` (in place) of a product, a squared distance or a distance."""

    argument: str
    apply: Callable[[np.ndarray, Kernel], None]
    refusal: Callable[[Kernel], str | None] = lambda kernel: None
    definite: str = "positive"

    @property
    def needs_distance(self) -> bool:
        """Whether the kernel is a function of the distance."""
        return self.argument != "product"


def _power(T: np.ndarray, kernel: Kernel) -> None:
    T *= kernel.gamma
    T += kernel.coef0
    np.power(T, kernel.degree, out=T)


def _exponential(T: np.ndarray, kernel: Kernel) -> None:
    T *= -kernel.gamma
    if kernel.coef0:
        T += kernel.coef0
    np.exp(T, out=T)


def _gaussian(T: np.ndarray, kernel: Kernel) -> None:
    T *= -kernel.gamma
    np.exp(T, out=T)


def _negative_root(T: np.ndarray, kernel: Kernel) -> None:
    T *= kernel.gamma
    T += kernel.coef0
    np.sqrt(T, out=T)
    np.negative(T, out=T)


def _inverse_root(T: np.ndarray, kernel: Kernel) -> None:
    T *= kernel.gamma
    T += kernel.coef0
    np.sqrt(T, out=T)
    np.reciprocal(T, out=T)


def _kmod_width(kernel: Kernel) -> float:
    """sigma^2: the squared distance at which the kernel has changed much."""
    return kernel.gamma if kernel.sigma is None else kernel.sigma**2


def _kmod(T: np.ndarray, kernel: Kernel) -> None:
    """expm1(u)/expm1(top), u = gamma/(r^2 + sigma^2) and top its largest, written so that nothing overflows."""
    width = _kmod_width(kernel)
    top = kernel.gamma / width
    T += width
    np.divide(kernel.gamma, T, out=T)
    decay = np.exp(T - top)
    np.expm1(np.negative(T, out=T), out=T)
    T *= decay
    T /= np.expm1(-top)


def _poly_refusal(kernel: Kernel) -> str | None:
    if not isinstance(kernel.degree, int | np.integer) or kernel.degree < 1:
        return f"degree={kernel.degree!r}: the poly kernel takes a whole number of 1 or more."
    if kernel.coef0 < 0:
        return f"coef0={kernel.coef0!r}: with a negative coef0 the poly kernel is not positive definite; use 0 or more."
    return None


def _inverse_refusal(kernel: Kernel) -> str | None:
    if kernel.coef0 <= 0:
        return (
            f"coef0={kernel.coef0!r}: the inverse multiquadric is infinite at distance 0 unless coef0 is above 0; "
            "pass coef0=1, for instance."
        )
    return None


def _root_refusal(kernel: Kernel) -> str | None:
    if kernel.coef0 < 0:
        return f"coef0={kernel.coef0!r}: the multiquadric takes the root of gamma r + coef0; use 0 or more."
    return None


def _kmod_refusal(kernel: Kernel) -> str | None:
    if kernel.sigma is not None and not kernel.sigma > 0:
        return f"sigma={kernel.sigma!r}: the kmod kernel takes a number above 0, or None for sqrt(gamma)."
    return None


KERNELS: dict[str, KernelForm] = {
    "linear": KernelForm("product", lambda T, kernel: None),
    "poly": KernelForm("product", _power, _poly_refusal),
    "rbf": KernelForm("squared_distance", _gaussian),
    "laplacian": KernelForm("distance", _exponential),
    "multiquadric": KernelForm("distance", _negative_root, _root_refusal, definite="conditional"),
    "inverse_multiquadric": KernelForm("distance", _inverse_root, _inverse_refusal),
    "kmod": KernelForm("squared_distance", _kmod, _kmod_refusal),
}


def form_of(kernel: Kernel) -> KernelForm | None:
    """The form of a named kernel; None for a function or a precomputed one."""
    return KERNELS.get(kernel.name) if isinstance(kernel.name, str) else None


def check(kernel: Kernel, free_intercept: bool) -> None:
    """Refuse, by name, parameters for which the function is not a kernel."""
    if isinstance(kernel.name, str) and kernel.name != "precomputed" and kernel.name not in KERNELS:
        raise ValueError(
            f"kernel={kernel.name!r} is not known. Allowed: {', '.join(map(repr, KERNELS))}, 'precomputed', or a "
            "function of two arrays of samples that returns the matrix of their kernel values."
        )
    form = form_of(kernel)
    if form is None:
        return
    refusal = form.refusal(kernel)
    if refusal:
        raise ValueError(refusal)
    if form.definite == "conditional" and not free_intercept:
        raise ValueError(
            f"kernel={kernel.name!r} is positive definite only for coefficients that sum to zero, which a free "
            "intercept ensures. Use fit_intercept=True or another kernel."
        )


def prepare(kernel: Kernel, X: Any, dtype: Any) -> Samples:
    """Bring samples into the form that ``evaluate`` multiplies."""
    form = form_of(kernel)
    if form is None:
        return Samples(X, None)
    X = X.astype(dtype, copy=False)
    return Samples(X, squared_norms(X).astype(dtype, copy=False) if form.needs_distance else None)


def squared_norms(X: Any) -> np.ndarray:
    """||x||^2 of every sample, dense or sparse."""
    if not sparse.issparse(X):
        return np.einsum("ij,ij->i", X, X)
    squares = (B.power(2) if B.has_canonical_format else B.multiply(B) for B in row_blocks(X))  # sums duplicates first
    return np.concatenate([np.asarray(block.sum(axis=1)).ravel() for block in squares])


def row_blocks(X: Any) -> Iterator[Any]:
    """The rows of a sparse table, some at a time: what scipy computes of all would be as large as the table."""
    n = X.shape[0]
    n_rows = max(1, BLOCK * n // max(X.nnz, 1))
    if n_rows >= n:
        return iter([X])
    return (X[start : start + n_rows] for start in range(0, n, n_rows))


def entries_per_feature(X: Any) -> np.ndarray:
    """How many entries of a sparse table each feature has."""
    total = np.zeros(X.shape[1], dtype=np.int64)
    for block in row_blocks(X):
        total += np.bincount(block.indices, minlength=X.shape[1])
    return total


def centered(X: Any) -> tuple[Any, np.ndarray]:
    """Samples without their center, and the center: the mean, of sparse samples that of the features without a zero.

    Sparse samples stay sparse, and no feature with a zero has a mean beyond its range.
    """
    center = np.asarray(X.mean(axis=0, dtype=np.float64)).ravel()
    if not sparse.issparse(X):
        return X - center, center
    X = sparse.csr_array(X, dtype=np.float64, copy=True)
    X.sum_duplicates()
    center[entries_per_feature(X) < X.shape[0]] = 0.0
    X.data -= center[X.indices]
    return X, center


def evaluate(kernel: Kernel, A: Samples, B: Samples) -> np.ndarray:
    """The matrix of k(a, b) over the samples a of A and b of B."""
    form = form_of(kernel)
    if form is None:
        return _evaluate_callable(kernel.name, A.X, B.X)
    width = 0.0
    if form.needs_distance:
        width = _kmod_width(kernel) if kernel.name == "kmod" else 1.0 / kernel.gamma
    T = arguments(form, A, B, width)
    form.apply(T, kernel)
    return T


def arguments(form: KernelForm, A: Samples, B: Samples, width: float = 0.0) -> np.ndarray:
    """What a kernel is a function of: the products, squared distances or distances of the samples of A and B.

    A squared distance that is rounding error becomes zero, unless that makes no difference at this squared width of the
    kernel.
    """
    with blas_threads_for(A.X.shape[0] * A.X.shape[1] * B.X.shape[0]):
        T = A.X @ B.X.T
    if sparse.issparse(T):
        T = T.toarray()
    if form.needs_distance:
        assert A.squared_norms is not None, "samples of another kernel"
        assert B.squared_norms is not None, "samples of another kernel"
        to_squared_distances(T, A.squared_norms, B.squared_norms)
        noise = ROUNDING * np.finfo(T.dtype).eps
        largest = noise * (A.squared_norms.max(initial=0.0) + B.squared_norms.max(initial=0.0))
        if form.argument == "distance" or largest > MAGNIFIED * width:  # the root magnifies an error, too
            T[(noise * A.squared_norms)[:, None] + noise * B.squared_norms >= T] = 0.0
        if form.argument == "distance":
            np.sqrt(T, out=T)
    return T


def diagonal(kernel: Kernel, A: Samples) -> np.ndarray:
    """k(a, a) for each sample a."""
    form = form_of(kernel)
    if form is None:
        ones = (A.X[i : i + 1] for i in range(A.X.shape[0]))
        return np.array([_evaluate_callable(kernel.name, one, one)[0, 0] for one in ones])
    T = np.zeros((1, A.X.shape[0]))
    if not form.needs_distance:
        T[0] = squared_norms(A.X)
    form.apply(T, kernel)
    return T[0]


def _evaluate_callable(function: Any, A: Any, B: Any) -> np.ndarray:
    values = np.array(function(A, B), dtype=np.float64)  # a copy: it may be the memory of the next call, too
    if values.shape != (A.shape[0], B.shape[0]):
        raise ValueError(
            f"the kernel function returned an array of shape {values.shape} for {A.shape[0]} and {B.shape[0]} samples; "
            f"it must return one value per pair, shape ({A.shape[0]}, {B.shape[0]})."
        )
    if not np.isfinite(values).all():
        raise ValueError("the kernel function returned NaN or infinity; every kernel value must be a finite number.")
    return values
