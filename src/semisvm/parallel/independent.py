"""Independent fits to the same samples, each a task of its own: candidates of a search, starts, methods to compare."""

from __future__ import annotations

import pickle
import warnings
from collections.abc import Iterable
from typing import Any, NamedTuple

import numpy as np
from sklearn.base import clone

from .._threads import limit_threads, n_jobs_of_fit, run_parallel
from .blocks import FileBlock
from .execution import RETRIES, explained_failures, held_by_cluster
from .reading import choose_client, column_of, is_dask, parts_of


class _Fitted(NamedTuple):
    """A fitted estimator, or why it cannot be fitted, and the warnings of its fit."""

    estimator: Any
    error: Exception | None
    warned: list[tuple[str, type[Warning]]]


def fit_each(estimators: Iterable[Any], X: Any, y: Any, sample_weight: Any = None, *, client: Any = None) -> list[Any]:
    """Fit several estimators to the same samples, each by one worker that holds all of them.

    Samples are sent once to those who need them; files that are mapped into memory are read there. A fit whose worker
    is lost begins anew on another one.

    Parameters
    ----------
    estimators : iterable of estimators
        Any of scikit-learn's kind. They stay as they are.
    X : array, DataFrame, CSR, numpy.memmap, dask array or DataFrame of shape (n_samples, n_features)
        The samples.
    y : array-like or dask collection of shape (n_samples,)
        Labels, as the estimators take them.
    sample_weight : array-like or dask collection of shape (n_samples,), optional
        Factors on the costs of the samples.
    client : distributed.Client or "threads", optional
        The cluster, or threads of this process; by default the current client, and threads if there is none.

    Returns
    -------
    list of estimators
        Fitted copies, in the order given. One that comes from a worker has its probabilities calibrated there, so that
        it holds no samples.

    Examples
    --------
    >>> from semisvm import CCCPTSVM, parallel
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> y_partial = hide_labels(y, 40, random_state=0)
    >>> models = parallel.fit_each([CCCPTSVM(C) for C in (0.01, 0.1)], X, y_partial)
    >>> [model.C_ for model in models]
    [0.01, 0.1]
    """
    if hasattr(estimators, "fit") or not isinstance(estimators, Iterable):
        given = type(estimators).__name__
        raise TypeError(f"fit_each takes a list of estimators, and {given} is none; put it into [...], or use fit.")
    copies = [clone(estimator) for estimator in estimators]
    client, y, weights = choose_client(client), column_of(y), column_of(sample_weight)
    if client is None:
        X = X.compute() if is_dask(X) else X
        return run_parallel(lambda estimator: _fit(estimator, X, y, weights), copies, n_jobs_of_fit(None))
    import cloudpickle

    with explained_failures(client.scheduler.address):
        shared = [_hold(client, one) for one in (X, y, weights)]
        columns = ([one] * len(copies) for one in shared)
        pickled = [cloudpickle.dumps(one) for one in copies]  # a worker that cannot read a task would close
        futures = client.map(_fit_pickled, pickled, *columns, pure=False, retries=RETRIES)
        try:
            found = client.gather(futures)
        except BaseException:
            if client.status == "running":
                client.cancel(futures)
            raise
    return [_checked(one, number) for number, one in enumerate(found)]


def _hold(client: Any, value: Any) -> Any:
    """What tasks take for a value: a recipe of a file, or what the cluster holds."""
    if value is None:
        return None
    if is_dask(value):
        return client.compute(value, retries=RETRIES)
    if isinstance(value, np.memmap) and value.ndim == 2:
        (block,) = parts_of(value, n_rows=len(value))
        if isinstance(block, FileBlock):  # rows one after the other in the file
            return block
    return held_by_cluster(client, value)


def _fit(estimator: Any, X: Any, y: Any, weights: Any) -> Any:
    return estimator.fit(X, y) if weights is None else estimator.fit(X, y, sample_weight=weights)


def _fit_pickled(pickled: bytes, X: Any, y: Any, weights: Any) -> _Fitted:
    """A fit in one thread; what cannot be fitted is a result, and no reason to try again."""
    estimator = None
    with limit_threads(1), warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            estimator = pickle.loads(pickled)
            _fit(estimator, X.load() if isinstance(X, FileBlock) else X, y, weights)
            error = None
        except (ValueError, TypeError, ImportError, RuntimeError, ArithmeticError) as refused:
            error = refused
    return _Fitted(None if error else estimator, error, [(str(one.message), one.category) for one in caught])


def _checked(found: _Fitted, number: int) -> Any:
    """The fitted estimator, with its warnings; what a fit has refused is raised here."""
    for message, category in dict.fromkeys(found.warned):
        warnings.warn(message, category, stacklevel=3)
    if found.error is not None:
        found.error.add_note(f"raised by the fit of the estimator at position {number}.")
        raise found.error
    return found.estimator
