"""Predictions of fitted models for tables in blocks: lazily, block by block."""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np

from .._validation import import_optional
from .reading import is_dask

BLOCK_ROWS = 65_536  # of an array that has no blocks of its own


def predict(model: Any, X: Any) -> Any:
    """The class of each sample, as a dask array that computes it block by block.

    Parameters
    ----------
    model : fitted estimator
        Any with the method of this name.
    X : dask array or DataFrame, numpy.memmap or array
        Samples.
    """
    return _blockwise(model, "predict", X)


def decision_function(model: Any, X: Any) -> Any:
    """Scores of each sample, as ``decision_function`` of the model; parameters as in ``predict``."""
    return _blockwise(model, "decision_function", X)


def predict_proba(model: Any, X: Any) -> Any:
    """Probabilities of the classes, as ``predict_proba`` of the model; parameters as in ``predict``."""
    slope = getattr(model, "_slope_", None)
    if slope is not None:
        slope.compute()  # once, here
    return _blockwise(model, "predict_proba", X)


def _blockwise(model: Any, method: str, X: Any) -> Any:
    """A method of a model as a dask array."""
    dask = import_optional("dask", "dask", f"semisvm.parallel.{method}")
    da = import_optional("dask.array", "dask", f"semisvm.parallel.{method}")
    if not is_dask(X):
        X = da.from_array(X, chunks=(BLOCK_ROWS, -1))
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        found = getattr(model, method)(np.zeros((1, model.n_features_in_)))  # its shape and type
    apply, held = dask.delayed(_apply, pure=True), dask.delayed(model)
    if not hasattr(X, "chunks"):
        lengths, parts = [np.nan] * X.npartitions, X.to_delayed()
    else:
        X = X.rechunk({1: -1})
        lengths, parts = X.chunks[0], X.to_delayed().ravel()
    rows = [
        da.from_delayed(apply(part, held, method), (length, *found.shape[1:]), dtype=found.dtype)
        for length, part in zip(lengths, parts)
    ]
    return da.concatenate(rows)


def _apply(X: Any, model: Any, method: str) -> np.ndarray:
    return getattr(model, method)(X)
