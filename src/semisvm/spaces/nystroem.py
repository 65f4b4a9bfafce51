"""A kernel as features by the Nystroem method.

Landmarks z_1, ..., z_m and T = U d^-1/2 from K_mm = U diag(d) U' give z(x) = T'k(x, landmarks), so that
Z Z' = K_nm K_mm^-1 K_mn. Computed in blocks of samples; what is kept are the features, n r numbers of 8 bytes, and T.

References
----------
.. [1] C. K. I. Williams and M. Seeger, "Using the Nystrom method to speed up kernel machines", NIPS 13, 2001.
   https://proceedings.neurips.cc/paper_files/paper/2000/hash/19de10adbaa1b2ee13f77f679fa1483a-Abstract.html
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from scipy import linalg

from .._threads import run_in_threads, single_blas_thread, tiles
from . import kernels
from .base import largest_block, require_memory
from .features import MappedFeatures
from .gram import Gram
from .kernels import Kernel
from .landmarks import choose_landmarks, n_landmarks

NEGLIGIBLE = 1e-13  # eigenvalues below this share of the largest, times their number, are rounding error


def nystroem(
    kernel: Kernel,
    X: Any,
    n_components: int | None = None,
    landmarks: Any = "kmeans++",
    labeled: np.ndarray | None = None,
    rng: Any = None,
) -> MappedFeatures:
    """Features by the Nystroem method: O(n m d + n m^2) time, n m numbers of memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" X is its matrix.
    X : array or CSR of shape (n, d)
        The samples.
    n_components : int or None
        Number of landmarks; None for 1,000, or all labeled samples with ``landmarks="labeled"``.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array
        How to choose them among the samples (see ``spaces/landmarks.py``), or samples with the same features.
    labeled : bool array of shape (n,) or None
        The labeled samples, for "labeled".
    rng : Generator, int or None
        For the draws.
    """
    check_definite(kernel)
    gram = Gram(kernel, X, float64=True)
    if isinstance(landmarks, str):
        _check_memory(gram.n, n_landmarks(gram.n, landmarks, n_components, labeled))
        support = choose_landmarks(gram, landmarks, n_components, labeled, np.random.default_rng(rng))
        T = inverse_root(gram.block(support))
        Z = _map(gram.n, lambda part: gram.cross_block(part, support), T)
        return MappedFeatures(Z, support, None if gram.precomputed else X[support], T)
    if gram.precomputed:
        raise ValueError("landmarks were given as samples and a precomputed kernel has none; pass a name.")
    _check_memory(gram.n, landmarks.shape[0])
    given = kernels.prepare(kernel, landmarks if gram.center is None else landmarks - gram.center, gram.dtype)
    T = inverse_root(kernels.evaluate(kernel, given, given))
    Z = _map(gram.n, lambda part: kernels.evaluate(kernel, gram.samples.take(part), given), T)
    return MappedFeatures(Z, None, landmarks, T)


def _check_memory(n: int, m: int) -> None:
    """Refuse more features than the memory rule allows."""
    what = f"a Nystroem approximation of {n:,} samples by {m:,} landmarks"
    if n * m > largest_block(8) ** 2:
        require_memory(8 * n * m, what, "Use a smaller n_components")


def check_definite(kernel: Kernel) -> None:
    """Refuse a kernel that is not positive definite: it has no features."""
    form = kernels.form_of(kernel)
    if form is not None and form.definite == "conditional":
        raise ValueError(
            f"kernel={kernel.name!r} is positive definite only for coefficients that sum to zero and has no features "
            "of its own. Use approximation=None or another kernel."
        )


def significant(eigenvalues: np.ndarray, n: int) -> np.ndarray:
    """Mask of the eigenvalues of an n by n matrix that are more than rounding error (equal samples give zeros)."""
    kept = eigenvalues > NEGLIGIBLE * n * eigenvalues.max()
    if not kept.any():
        raise ValueError("every kernel value is zero; use another kernel or gamma.")
    return kept


def inverse_root(corner: np.ndarray) -> np.ndarray:
    """U d^-1/2 over the significant eigenvalues."""
    with single_blas_thread:
        d, U = linalg.eigh(np.asarray(corner, dtype=np.float64), overwrite_a=True, check_finite=False)
    kept = significant(d, len(d))
    return U[:, kept] / np.sqrt(d[kept])


def _map(n: int, kernel_values: Callable[[slice], np.ndarray], T: np.ndarray) -> np.ndarray:
    """k(X, landmarks) T, by blocks of samples in float64."""
    Z = np.empty((n, T.shape[1]))

    def fill(part: slice) -> None:
        Z[part] = kernel_values(part) @ T

    run_in_threads(fill, list(tiles(n)))
    return Z
