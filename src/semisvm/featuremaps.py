"""A kernel as a table of features: Nystroem's method and kernel PCA.

Both give z(x) = T'k(x, landmarks), so that a machine f = <w, z(x)> + b is one of the landmarks with coefficients T w,
and new rows are predicted as with any kernel. Computed in blocks of rows; what is kept is the table of features, n r
numbers of 8 bytes, and T.

``nystroem``     landmarks are m rows; T = U d^-1/2 from K_mm = U diag(d) U'. Z Z' = K_nm K_mm^-1 K_mn.
``kernel_pca``   all rows are landmarks, T = U d^-1/2 for the r largest eigenvalues of K; Z Z' is the best of rank r.
"""

from __future__ import annotations

import numpy as np
from scipy import linalg

from . import kernels
from .kernels import Kernel, Rows
from .landmarks import choose
from .spaces import Features, Gram, in_threads, one_blas_thread, tiles

COMPONENTS = 1000
NEGLIGIBLE = 1e-13  # eigenvalues below this share of the largest, times their number, are rounding


class Mapped(Features):
    """Features Z = k(X, landmarks) T.

    Attributes
    ----------
    X : array of shape (n, r)
        Z.
    support : int array of shape (m,) or None
        Which rows the landmarks are; None if they were given.
    landmarks : array or CSR of shape (m, d)
        The landmarks; None for a precomputed kernel.
    map : array of shape (m, r)
        T.
    """

    def __init__(self, Z: np.ndarray, support: np.ndarray | None, landmarks, T: np.ndarray):
        super().__init__(Z)
        self.support = support
        self.landmarks = landmarks
        self.map = T

    def kernel_coef(self, coef: np.ndarray) -> np.ndarray:
        """Coefficients of the landmarks: T w."""
        return self.map @ coef


def nystroem(
    kernel: Kernel, X, n_components: int | None = None, landmarks="kmeans++", labeled=None, rng=None
) -> Mapped:
    """Features by Nystroem's method: O(n m d + n m^2) time, n m numbers of memory.

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" X is its matrix.
    X : array or CSR of shape (n, d)
        The rows.
    n_components : int or None
        How many landmarks; None for 1,000, or all labeled rows with ``landmarks="labeled"``.
    landmarks : {"kmeans++", "leverage", "random", "labeled"} or array
        How to choose them among the rows (see ``landmarks.py``), or rows of the same width.
    labeled : bool array of shape (n,) or None
        The labeled rows, for "labeled".
    rng : Generator, int or None
        For the draws.
    """
    _definite(kernel)
    gram = Gram(kernel, X, double=True)
    if isinstance(landmarks, str):
        support = choose(gram, landmarks, n_components, labeled, np.random.default_rng(rng))
        rows = None if gram.precomputed else X[support]
        points = None if gram.precomputed else gram.rows.take(support)
        corner = gram.square(support) if not gram.precomputed else gram.whole[np.ix_(support, support)]
    else:
        if gram.precomputed:
            raise ValueError("landmarks were given as rows, which a precomputed kernel cannot place; pass a name.")
        support, rows = None, landmarks
        points = kernels.rows(kernel, landmarks if gram.centre is None else landmarks - gram.centre, gram.dtype)
        corner = kernels.block(kernel, points, points)
    T = _root(np.asarray(corner, dtype=np.float64))
    return Mapped(_table(gram, points, support, T), support, rows, T)


def _definite(kernel: Kernel) -> None:
    known = kernels.form(kernel)
    if known is not None and known.definite == "conditional":
        raise ValueError(
            f"kernel={kernel.name!r} is positive definite only for coefficients that sum to zero and has no features "
            "of its own. Use approximation=None or another kernel."
        )


def _root(corner: np.ndarray) -> np.ndarray:
    """U d^-1/2, without directions that are but rounding (equal landmarks, say)."""
    d, U = linalg.eigh(corner, overwrite_a=True, check_finite=False)
    kept = d > NEGLIGIBLE * len(d) * d[-1]
    if not kept.any():
        raise ValueError("every kernel value is zero; use another kernel or gamma.")
    return U[:, kept] / np.sqrt(d[kept])


def _table(gram: Gram, points: Rows | None, support: np.ndarray | None, T: np.ndarray) -> np.ndarray:
    """k(X, landmarks) T, by blocks of rows in float64."""
    Z = np.empty((gram.n, T.shape[1]))

    def fill(part: slice) -> None:
        values = (
            gram.whole[part, support] if points is None else kernels.block(gram.kernel, gram.rows.take(part), points)
        )
        Z[part] = values @ T

    in_threads(fill, list(tiles(gram.n)))
    return Z


def kernel_pca(kernel: Kernel, X, n_components: int | None = None) -> Mapped:
    """Features by kernel PCA, not centred: K = U diag(d) U', Z = U d^1/2, largest eigenvalues first.

    Needs the kernel matrix whole, and O(n^3) time.

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" X is its matrix.
    X : array or CSR of shape (n, d)
        The rows.
    n_components : int or None
        How many components at most; None for 1,000.
    """
    _definite(kernel)
    gram = Gram(kernel, X)
    r = min(n_components or COMPONENTS, gram.n)
    K = np.array(gram.whole, dtype=np.float64)
    few = {"subset_by_index": (gram.n - r, gram.n - 1)} if 4 * r < gram.n else {}  # otherwise all are found sooner
    with one_blas_thread:
        d, U = linalg.eigh(K, overwrite_a=True, check_finite=False, **few)
    d, U = d[: -r - 1 : -1], U[:, : -r - 1 : -1]
    kept = d > NEGLIGIBLE * gram.n * d[0]
    if not kept.any():
        raise ValueError("every kernel value is zero; use another kernel or gamma.")
    U, root = U[:, kept] * np.sign(U[np.abs(U).argmax(axis=0), np.arange(r)])[kept], np.sqrt(d[kept])
    rows = None if gram.precomputed else X.copy()  # a table that changes later does not change the landmarks
    return Mapped(np.ascontiguousarray(U * root), np.arange(gram.n), rows, U / root)
