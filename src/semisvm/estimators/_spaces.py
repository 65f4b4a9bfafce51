"""Which space an estimator's parameters ask for."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from scipy import sparse
from sklearn.utils import check_random_state

from .._validation import warn_user
from ..solvers import Solver, exact_form_bytes
from ..solvers.base import SPEED
from ..spaces import (
    LANDMARKS,
    N_COMPONENTS,
    Gram,
    Kernel,
    MappedFeatures,
    Space,
    cholesky_features,
    has_cholesky_factor,
    kernel_pca,
    largest_block,
    linear_features,
    memory_limit,
    nystroem,
)
from ..spaces.gram import gram_dtype

EXACT_SAMPLES = 3000  # up to which approximation="auto" is exact, for solvers on features
SPEEDUP = {"cholesky": 50.0, "kernel_pca": 5.0}  # how much faster LAPACK is than n^3 plain multiplications
MIN_SETUP = 0.1  # seconds that the features may always take


class Approximation(NamedTuple):
    """Features in place of a kernel, as the parameters of an estimator ask for them."""

    method: str | None = None
    n_components: int | None = None
    landmarks: Any = "kmeans++"
    random_state: Any = None


class SpaceChoice(NamedTuple):
    """Which space of the samples; ``seed`` draws the landmarks, ``is_fixed`` says that it has to be this seed."""

    kernel: Kernel
    free_intercept: bool
    method: str | None = None
    n_components: int | None = None
    landmarks: Any = None
    seed: int | None = None
    is_fixed: bool = False

    def key(self, labeled: np.ndarray) -> tuple:
        """What the space depends on besides the samples."""
        among_labeled = isinstance(self.landmarks, str) and self.landmarks == "labeled"
        return ("space", *self._replace(seed=self.seed if self.is_fixed else None), labeled if among_labeled else None)


def choose_space(
    approximation: Approximation,
    solver: Solver,
    norm: int,
    kernel: Kernel,
    free_intercept: bool,
    X: Any,
    codes: np.ndarray,
) -> SpaceChoice:
    """The samples themselves, their kernel, or features that stand for it."""
    accepts, method, n_components = solver.accepts, approximation.method, approximation.n_components
    if accepts.space == "features" and kernel.name == "linear":
        method = None if method == "auto" else method  # X holds the features, however many samples there are
    elif accepts.space == "features" and (norm == 1 or (codes < 0).any()):
        if method is None:
            method, n_components = _exact_features(kernel, norm), X.shape[0]
        elif method == "auto":
            method, n_components = _features_in_time(solver.max_time, approximation, kernel, norm, X)
            if (method, n_components) != _features_in_time(None, approximation, kernel, norm, X):
                warn_user(
                    f"max_time={solver.max_time:.3g} is taken as too short for the features that approximation='auto' "
                    f"has without a limit: {method!r} with n_components={n_components} is used. Raise max_time, or "
                    "choose approximation and n_components."
                )
    elif method == "auto":
        method = None if _exact_fits_memory(kernel, X) else "nystroem"
        if method == "nystroem" and n_components is None:  # the features, their factor and a copy have to fit
            n_components = max(1, min(N_COMPONENTS, memory_limit() // (24 * X.shape[0])))
    free_intercept = free_intercept and kernel.name == "linear"  # other kernels are the same with and without
    if method is None:
        return SpaceChoice(kernel, free_intercept)
    if method in SPEEDUP:
        return SpaceChoice(kernel, free_intercept, method, n_components)
    landmarks, random_state = approximation.landmarks, approximation.random_state
    if not isinstance(landmarks, str) and kernel.name != "precomputed":  # nystroem refuses these itself
        landmarks = check_landmarks(landmarks, X.shape[1])
    seed = check_random_state(random_state).randint(2**31)
    is_fixed = random_state is not None and isinstance(landmarks, str)
    return SpaceChoice(kernel, free_intercept, method, n_components, landmarks, seed, is_fixed)


def build_space(choice: SpaceChoice, X: Any, labeled: np.ndarray) -> Space:
    """The space of some samples."""
    if choice.kernel.name != "linear":
        return Gram(choice.kernel, X) if choice.method is None else _mapped(choice, X, labeled)
    features = linear_features(X, choice.free_intercept)
    if choice.method is None:
        return features
    mapped = _mapped(choice, features.X, labeled, features.center)
    mapped.center = features.center
    return mapped


def _mapped(choice: SpaceChoice, X: Any, labeled: np.ndarray, center: np.ndarray | None = None) -> MappedFeatures:
    """Features that stand for the kernel of samples without their center, if that is given."""
    if choice.method == "cholesky":
        return cholesky_features(choice.kernel, X)
    if choice.method == "kernel_pca":
        return kernel_pca(choice.kernel, X, choice.n_components)
    landmarks = choice.landmarks
    if not isinstance(landmarks, str) and center is not None:
        landmarks = (landmarks.toarray() if sparse.issparse(landmarks) else landmarks) - center
        landmarks = sparse.csr_array(landmarks) if sparse.issparse(X) else landmarks
    return nystroem(choice.kernel, X, choice.n_components, landmarks, labeled, choice.seed)


def _exact_features(kernel: Kernel, norm: int) -> str:
    """How all features of a kernel are found.

    Those of a matrix or a function that may be indefinite are the principal components, and so are those of norm 1,
    which depends on the coordinates.
    """
    return "cholesky" if norm == 2 and has_cholesky_factor(kernel) else "kernel_pca"


def _features_in_time(
    max_time: float | None, approximation: Approximation, kernel: Kernel, norm: int, X: Any
) -> tuple[str, int | None]:
    """What "auto" is for solvers on features: method and number of components.

    The decompositions, which nothing can end early, should take no longer than ``max_time``. That is guessed from the
    number of samples, not from the clock, so that equal parameters give equal features on every computer.
    """
    n, n_components = X.shape[0], approximation.n_components
    n_multiplications = np.inf if max_time is None else SPEED * max(max_time, MIN_SETUP)
    fits_memory = _gram_bytes(kernel, X) <= memory_limit()
    method = "kernel_pca" if n_components else _exact_features(kernel, norm)
    if n <= EXACT_SAMPLES and fits_memory and n**3 / SPEEDUP[method] <= n_multiplications:
        return method, n_components
    landmarks = approximation.landmarks
    if n_components is None and isinstance(landmarks, str) and landmarks != "labeled":
        n_components = int(min(N_COMPONENTS, np.sqrt(n_multiplications / n), max(1, largest_block(8) ** 2 // n)))
    return "nystroem", n_components


def check_landmarks(given: Any, n_features: int) -> Any:
    """A copy of landmarks that were given as samples, dense or sparse."""
    try:
        if sparse.issparse(given):
            landmarks = sparse.csr_array(given, dtype=np.float64, copy=True)
        else:
            landmarks = np.array(given, dtype=np.float64)
    except (TypeError, ValueError):
        landmarks = np.empty(0)
    values = landmarks.data if sparse.issparse(landmarks) else landmarks
    shape_fits = landmarks.ndim == 2 and landmarks.shape[0] > 0 and landmarks.shape[1] == n_features
    if not shape_fits or not np.isfinite(values).all():
        raise ValueError(
            f"landmarks of type {type(given).__name__} and shape {landmarks.shape} are not allowed; landmarks takes "
            f"one of {', '.join(map(repr, LANDMARKS))} or an array of finite numbers with {n_features} features."
        )
    return landmarks


def _gram_bytes(kernel: Kernel, X: Any) -> int:
    return 0 if kernel.name == "precomputed" else X.shape[0] ** 2 * gram_dtype(kernel, X).itemsize


def _exact_fits_memory(kernel: Kernel, X: Any) -> bool:
    """Whether the exact quadratic form keeps the memory rule."""
    n, d = X.shape
    n_bytes = exact_form_bytes(n, gram_dtype(kernel, X).itemsize)
    return min(n_bytes, 8 * n * (d + 1) if kernel.name == "linear" else n_bytes) <= memory_limit()
