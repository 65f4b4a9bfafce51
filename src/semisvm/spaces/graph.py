r"""A graph of nearest neighbours as features: functions that vary little along its edges have a small norm.

Each sample is joined to its ``N_NEIGHBORS`` nearest ones with weights exp(-d_ij^2 / (s_i s_j)), s_i the distance to the
last of them [2]_. With D the degrees and L = I - D^-1/2 W D^-1/2 the normalized Laplacian, the kernel is

.. math:: K = D^{-1/2} (L + \epsilon I)^{-1} D^{-1/2},

a regularized Laplacian [1]_, of which the eigenvectors of the smallest eigenvalues of L are kept. A new sample has the
features of its neighbours in the mean, weighted in the same way, and those of the sample itself if it is one of the
training samples.

References
----------
.. [1] A. J. Smola and R. Kondor, "Kernels and regularization on graphs", COLT, 2003.
   https://doi.org/10.1007/978-3-540-45167-9_12
.. [2] L. Zelnik-Manor and P. Perona, "Self-tuning spectral clustering", NIPS 17, 2004.
   https://proceedings.neurips.cc/paper/2004/hash/40173ea48d9567f1f393b20c855bb40b-Abstract.html
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.linalg import eigsh

from .._threads import single_blas_thread
from .features import Features

if TYPE_CHECKING:
    from sklearn.neighbors import NearestNeighbors

N_NEIGHBORS = 10
RIDGE = 0.02
DENSE_SAMPLES = 1000  # up to which LAPACK finds the eigenvectors sooner than Lanczos' method


class GraphExtension:
    """Extends functions on a graph of nearest neighbours to new samples.

    Parameters
    ----------
    neighbors : NearestNeighbors
        Fitted to the samples of the graph.
    widths : array of shape (n,)
        s of these samples.
    is_sparse : bool
        Whether these samples are sparse. If not, neighbors may be found by a tree, which takes dense samples alone.
    """

    def __init__(self, neighbors: NearestNeighbors, widths: np.ndarray, is_sparse: bool):
        self._neighbors = neighbors
        self._widths = widths
        self._is_sparse = is_sparse

    def extend(self, X: Any, values: np.ndarray) -> np.ndarray:
        """Functions at new samples, shape (m, r), from their values at the samples of the graph.

        Parameters
        ----------
        X : array or CSR of shape (m, d)
            New samples.
        values : array of shape (n, r)
            A column per function.
        """
        X = X.toarray() if sparse.issparse(X) and not self._is_sparse else X
        distances, nearest = self._neighbors.kneighbors(X, min(N_NEIGHBORS, len(self._widths)))
        own = np.maximum(distances[:, -1:], np.finfo(float).tiny)
        weights = _affinity(distances, own, self._widths[nearest])
        is_same = distances <= 1e-6 * np.maximum(self._widths[nearest], own)
        known = is_same.any(axis=1)
        weights[known] = is_same[known]
        return np.einsum("ij,ijr->ir", weights / weights.sum(axis=1, keepdims=True), values[nearest])


class GraphFeatures(Features):
    """Features of the samples in a graph of nearest neighbours.

    Attributes
    ----------
    X : array of shape (n, r)
        The features.
    extension : GraphExtension
        Extends them to new samples.
    """

    def __init__(self, Z: np.ndarray, extension: GraphExtension):
        super().__init__(Z)
        self.extension = extension


def _affinity(distances: np.ndarray, own: np.ndarray, other: np.ndarray) -> np.ndarray:
    """exp(-d^2 / (s_i s_j)), a quotient at a time, so that nothing overflows; never quite zero."""
    with np.errstate(over="ignore"):
        return np.maximum(np.exp(-(distances / own) * (distances / other)), 1e-12)


def neighbor_graph(X: Any, n_components: int) -> GraphFeatures:
    """Features by the graph of nearest neighbours of the samples.

    Parameters
    ----------
    X : array or CSR of shape (n, d)
        The samples.
    n_components : int
        Largest number of features.
    """
    from sklearn.neighbors import NearestNeighbors  # here, so that ``import semisvm`` stays light

    n = X.shape[0]
    neighbors = NearestNeighbors(n_neighbors=min(N_NEIGHBORS, n - 1)).fit(X)
    distances, nearest = neighbors.kneighbors()
    smallest = 1e-12 * max(float(distances.max()), np.finfo(float).tiny)
    widths = np.maximum(distances[:, -1], smallest)
    weights = _affinity(distances, widths[:, None], widths[nearest])
    rows = np.repeat(np.arange(n), nearest.shape[1])
    W = sparse.csr_array((weights.ravel(), (rows, nearest.ravel())), shape=(n, n))
    W = W.maximum(W.T)
    root = np.sqrt(np.asarray(W.sum(axis=0)).ravel())
    inverse = sparse.diags_array(1.0 / root)
    scaled = sparse.csr_array(inverse @ W @ inverse)
    values, vectors = _largest_eigenvectors(scaled, min(n_components, n - 1))
    Z = vectors / np.sqrt(np.maximum(1.0 - values, 0.0) + RIDGE) / root[:, None]
    return GraphFeatures(np.ascontiguousarray(Z), GraphExtension(neighbors, widths, sparse.issparse(X)))


def _largest_eigenvectors(S: sparse.csr_array, r: int) -> tuple[np.ndarray, np.ndarray]:
    """The r largest eigenvalues of a symmetric matrix and their eigenvectors; the largest entry of each is positive."""
    n = S.shape[0]
    if n <= DENSE_SAMPLES:
        with single_blas_thread:
            values, vectors = linalg.eigh(S.toarray(), subset_by_index=(n - r, n - 1), check_finite=False)
    else:
        start = np.random.default_rng(0).standard_normal(n)
        values, vectors = eigsh(S, r, which="LA", v0=start, tol=1e-6)
    signs = np.sign(vectors[np.abs(vectors).argmax(axis=0), np.arange(r)])
    return values, vectors * signs
