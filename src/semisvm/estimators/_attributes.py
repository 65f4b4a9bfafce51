"""What a fitted estimator holds, copied from its solutions, and the warning if they are unfinished."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
from sklearn.exceptions import ConvergenceWarning

from .._validation import TrainingSet, warn_user
from ..solution import Solution
from ..spaces import Features, Gram, Kernel, MappedFeatures, Space, is_far_from_origin, offset_and_range

VIOLATION = "violation of the optimality conditions {:.2g}"
REMAINING = {
    "kkt": VIOLATION,
    "stationary": VIOLATION,
    "gap": "the best objective is at most {:.2g} lower",
    "no_flip": "no change of a label improves it",
    "monotone": "a change of labels would still gain {:.2g}",
    "none": "{:g} samples were left",
}


def one_or_all(values: list, collect: Callable[[list], Any] = np.array) -> Any:
    """The value of a single binary problem, or the collection of those of several."""
    return values[0] if len(values) == 1 else collect(values)


def copy_solutions(estimator: Any, solutions: list[Solution], space: Space, data: TrainingSet) -> None:
    """Set the fitted attributes: of one binary problem as they are, of several as lists or arrays."""
    paths = [np.array([row["objective"] for row in s.trace] or [s.objective]) for s in solutions]
    estimator.objective_ = one_or_all([s.objective for s in solutions])
    estimator.objective_path_ = one_or_all(paths, list)
    estimator.certificate_ = one_or_all([s.certificate for s in solutions], list)
    estimator.converged_ = all(s.status == "converged" for s in solutions)
    estimator.n_iter_ = one_or_all([s.n_iter for s in solutions])
    estimator.trace_ = one_or_all([s.trace for s in solutions], list)
    estimator.intercept_ = np.array([s.intercept for s in solutions])
    estimator._score_size_ = max(float(np.abs(s.scores).max(initial=0.0)) for s in solutions)
    estimator._interrupted_ = any(s.status == "interrupted" for s in solutions)
    for name in ("coef_", "support_vectors_", "support_", "dual_coef_"):
        estimator.__dict__.pop(name, None)  # of an earlier fit in another space
    if isinstance(space, MappedFeatures):
        _copy_landmarks(estimator, solutions, space, data.kept)
        return
    estimator.n_active_ = one_or_all([int(np.count_nonzero(s.multipliers)) for s in solutions])
    if isinstance(space, Features):
        estimator.coef_ = np.array([s.coef for s in solutions])
        if space.center is not None:
            estimator.intercept_ -= estimator.coef_ @ space.center
        if solutions[0].dual is None:  # w is not a combination of samples
            return
    dual = np.array([s.dual for s in solutions])
    support = np.flatnonzero(dual.any(axis=0))
    estimator.dual_coef_ = dual[:, support]
    estimator.support_ = data.kept[support]
    if isinstance(space, Gram) and not space.precomputed:
        estimator.support_vectors_ = data.X[estimator.support_]


def _copy_landmarks(estimator: Any, solutions: list[Solution], space: MappedFeatures, kept: np.ndarray) -> None:
    """With features of landmarks, these are what a new sample is compared with."""
    estimator.dual_coef_ = np.array([space.landmark_coef(s.coef) for s in solutions])
    estimator.n_active_ = one_or_all([len(coef) for coef in estimator.dual_coef_])
    if space.center is not None:  # of the linear kernel; landmarks are without it, and new samples are as they come
        estimator.intercept_ -= (space.landmarks.T @ estimator.dual_coef_.T).T @ space.center
    if space.support is not None:
        estimator.support_ = kept[space.support]
    if space.landmarks is not None:
        estimator.support_vectors_ = space.landmarks.copy()  # the space may be that of other fits, too


def warn_if_unfinished(estimator: Any, solutions: list[Solution]) -> None:
    """Say which limit ended the solver, and how far it is from the goal."""
    unfinished = [s for s in solutions if s.status not in ("converged", "stopped")]
    if not unfinished:
        return
    params = estimator.get_params(deep=False)
    limit = "max_nodes" if "max_nodes" in params else "max_iter"
    reasons = {
        "max_iter": f"{limit}={params.get(limit)} reached",
        "max_time": f"max_time={params.get('max_time')} reached",
        "interrupted": "the fit was interrupted",
        "stalled": "no further progress was possible",
    }
    worst = max(s.certificate.value for s in unfinished)
    where = "" if len(solutions) == 1 else f" in {len(unfinished)} of {len(solutions)} binary problems"
    remaining = REMAINING[unfinished[0].certificate.kind].format(worst)
    tol, advice = "", "Raise the limit"
    if "tol" in params:
        tol, advice = f" (tol {params['tol']:g})", "Scale X, raise the limit or lower C"
    warn_user(
        f"{type(estimator).__name__}: {reasons[unfinished[0].status]}{where}, {remaining}{tol}; the model is usable. "
        f"{advice}.",
        ConvergenceWarning,
    )


def warn_if_far_from_origin(estimator: Any, space: Space, X: Any) -> None:
    """Warn of an offset of the samples that is part of the model and costs digits of the kernel values."""
    is_centered = isinstance(space, Features) and space.center is not None
    if estimator.kernel not in ("linear", "poly") or is_centered or not is_far_from_origin(X):
        return
    mean, largest_range = offset_and_range(X)
    advice = " or pass fit_intercept=True" if estimator.kernel == "linear" else ""
    warn_user(
        f"{type(estimator).__name__}: the samples are far from the origin, with means up to {mean:.2g} and ranges up "
        f"to {largest_range:.2g}, and this model depends on the offset. Center X, for instance with "
        f"sklearn.preprocessing.StandardScaler{advice}."
    )


def warn_if_indefinite(estimator: Any, space: Space, kernel: Kernel, X: Any, free_intercept: bool) -> None:
    """Warn of a kernel, given as a matrix or a function, that is not positive definite."""
    has_features = isinstance(space, MappedFeatures)
    probed = Gram(kernel, X) if has_features else space
    if not isinstance(probed, Gram) or not probed.is_indefinite(sum_zero=free_intercept and not has_features):
        return
    meaning = "the solution is a stationary point, and no lower bound on the objective holds"
    if has_features:
        meaning = "its negative eigenvalues are left out"
    warn_user(
        f"{type(estimator).__name__}: the kernel is not positive definite, so {meaning}. Check the kernel; "
        "a positive definite one has no negative eigenvalue."
    )


def print_memory(space: Space) -> None:
    """Say what the kernel costs."""
    if isinstance(space, MappedFeatures):
        rank = space.X.shape[1]
        size = 8 * space.n * rank / 2**20
        print(f"kernel of {space.n:,} samples by {rank:,} features: {size:,.0f} MiB of float64")
        return
    if isinstance(space, Features) and not space.design.in_memory:
        print(f"{space.n:,} samples by {space.design.d:,} features, in blocks")
        return
    gram = space.gram()
    held = "held whole" if gram.fits_memory else "over the limit: computed by blocks"
    print(f"kernel matrix of {gram.n:,} samples: {gram.n_bytes / 2**20:,.0f} MiB of {gram.dtype}, {held}")
