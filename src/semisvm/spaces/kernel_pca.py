"""A kernel as features by kernel PCA: all samples are landmarks, and Z Z' is the best approximation of rank r to K.

References
----------
.. [1] B. Schoelkopf, A. Smola and K.-R. Mueller, "Nonlinear component analysis as a kernel eigenvalue problem", Neural
   Computation 10, 1998. https://doi.org/10.1162/089976698300017467
.. [2] N. Halko, P.-G. Martinsson and J. A. Tropp, "Finding structure with randomness", SIAM Review 53, 2011.
   https://doi.org/10.1137/090771806
"""

from __future__ import annotations

from typing import Any

import numpy as np
from scipy import linalg

from .._threads import single_blas_thread
from .features import MappedFeatures
from .gram import Gram
from .kernels import Kernel
from .landmarks import N_COMPONENTS
from .leading_directions import leading_components
from .nystroem import check_definite, significant

MANY_SAMPLES = 2000  # from which on random projections are the default
OVERSAMPLING = 20  # more directions of a random projection than components


def kernel_pca(
    kernel: Kernel, X: Any, n_components: int | None = None, randomized: bool | None = None
) -> MappedFeatures:
    """Features by kernel PCA, not centered: K = U diag(d) U', Z = U d^1/2, largest eigenvalues first.

    Needs the whole kernel matrix, and O(n^3) time; O(n^2 r) by random projections [2]_, which find the leading
    components almost exactly and smaller ones less so.

    Parameters
    ----------
    kernel : Kernel
        The kernel; with "precomputed" X is its matrix.
    X : array or CSR of shape (n, d)
        The samples.
    n_components : int or None
        Largest number of components; None for 1,000.
    randomized : bool or None
        Whether to use random projections, of a fixed seed, where they are faster. None from 2,000 samples on, for at
        most a quarter as many components: the variance that they leave out is 2 to 9 % more than that of the exact
        components, for a sixth to a third of the time.
    """
    check_definite(kernel)
    gram = Gram(kernel, X)
    r = min(n_components or N_COMPONENTS, gram.n)
    K = np.array(gram.compute(), dtype=np.float64)
    if randomized is None:
        randomized = gram.n >= MANY_SAMPLES and 4 * r <= gram.n
    with single_blas_thread:
        if randomized and 2 * (r + OVERSAMPLING) < gram.n:
            d, U = _randomized_eigenvectors(K, r)
        else:
            few = 4 * r < gram.n  # otherwise all are found sooner
            subset = {"subset_by_index": (gram.n - r, gram.n - 1)} if few else {}
            d, U = linalg.eigh(K, overwrite_a=True, check_finite=False, **subset)
    d, U = d[: -r - 1 : -1], U[:, : -r - 1 : -1]
    kept = significant(d, gram.n)
    signs = np.sign(U[np.abs(U).argmax(axis=0), np.arange(r)])  # the largest entry of a component is positive
    U, root = U[:, kept] * signs[kept], np.sqrt(d[kept])
    landmarks = None if gram.precomputed else X.copy()  # the user's array may change later
    space = MappedFeatures(np.ascontiguousarray(U * root), np.arange(gram.n), landmarks, U / root)
    space.design.leading = leading_components(space.X)
    return space


def _randomized_eigenvectors(K: np.ndarray, r: int) -> tuple[np.ndarray, np.ndarray]:
    """Largest eigenvalues, increasing, and their vectors, in the range of K^2 times random directions."""
    Q = np.random.default_rng(0).standard_normal((len(K), r + OVERSAMPLING))
    for _ in range(2):
        Q, _ = linalg.qr(K @ Q, mode="economic", overwrite_a=True, check_finite=False)
    d, V = linalg.eigh(Q.T @ (K @ Q), check_finite=False)
    return d, Q @ V
