"""Predictions of fitted models for tables in blocks: lazily, block by block."""

from __future__ import annotations

import copy
import warnings
from typing import Any

import numpy as np

from .._validation import import_optional
from .blocks import Block
from .reading import choose_client, is_dask, parts_of


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
        slope.compute()  # once, here: what is sent holds the slope and not the samples that it is computed from
    return _blockwise(model, "predict_proba", X)


def transduce(model: Any, X: Any) -> Any:
    """Labels of the samples of a fit: the given ones, and those that the method found for the others.

    As ``transduction_``, from which a model without that attribute is spared: where the balance asks for a share of two
    classes, it is kept by a threshold on the scores.

    Parameters
    ----------
    model : fitted estimator
        By ``semisvm.parallel.fit``, or by its own ``fit``.
    X : dask array or DataFrame, numpy.memmap or array
        The samples of the fit, in the same order.
    """
    dask = import_optional("dask", "dask", "semisvm.parallel.transduce")
    parts, lengths = _parts(X)
    if any(np.isnan(length) for length in lengths):
        lengths = list(dask.compute(*(dask.delayed(len)(part) for part in parts)))
    if hasattr(model, "transduction_"):
        da = import_optional("dask.array", "dask", "semisvm.parallel.transduce")
        return da.from_array(model.transduction_, chunks=(tuple(int(length) for length in lengths),))
    starts = np.concatenate([[0], np.cumsum(lengths)]).astype(int)
    find, held = dask.delayed(_transduced, pure=True), dask.delayed(model)
    labels = [find(part, int(start), held) for part, start in zip(parts, starts)]
    return _stacked(labels, [(length,) for length in lengths], model.classes_.dtype)


def _without_training_set(model: Any) -> Any:
    """A copy that scores new samples, without what a model keeps of its fit for later probabilities and labels."""
    light = copy.copy(model)
    is_calibrated = getattr(model, "multiclass", "ovr") == "ovo"  # its decision needs the slope
    for name in () if is_calibrated else ("_slope_", "_labeled_", "_supervised_", "transduction_", "training_scores_"):
        light.__dict__.pop(name, None)
    return light


def labels_by_threshold(model: Any, X: Any) -> np.ndarray:
    """Labels that a model without ``transduction_`` has found for unlabeled samples of its fit."""
    codes = model.decision_function(X)
    codes = (codes > model._thresholds_[0]).astype(int) if codes.ndim == 1 else codes.argmax(axis=1)
    return model.classes_[codes]


def _transduced(X: Any, start: int, model: Any) -> np.ndarray:
    """Labels of the samples from a position on."""
    labels = labels_by_threshold(model, X)
    positions, _, given, _ = model._labeled_
    here = slice(*np.searchsorted(positions, [start, start + X.shape[0]]))
    labels[positions[here] - start] = given[here]
    return labels


def _blockwise(model: Any, method: str, X: Any) -> Any:
    """A method of a model as a dask array."""
    dask = import_optional("dask", "dask", f"semisvm.parallel.{method}")
    parts, lengths = _parts(X)
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", "X does not have valid feature names")
        found = getattr(model, method)(np.zeros((1, model.n_features_in_)))  # its shape and type
    apply = dask.delayed(_apply, pure=True)
    held = dask.delayed(model if method == "predict_proba" else _without_training_set(model))
    rows = [apply(part, held, method) for part in parts]
    return _stacked(rows, [(length, *found.shape[1:]) for length in lengths], found.dtype)


def _parts(X: Any) -> tuple[list[Any], list[float]]:
    """The blocks of rows of a table as delayed values, and their lengths; nan where these are not known."""
    dask = import_optional("dask", "dask", "semisvm.parallel")
    choose_client(None)  # refuses workers that cannot compute what is built here
    if not is_dask(X):
        blocks = parts_of(X)
        return [dask.delayed(_load)(block) for block in blocks], [block.n_rows for block in blocks]
    if not hasattr(X, "chunks"):
        return list(X.to_delayed()), [np.nan] * X.npartitions
    X = X.rechunk({1: -1})
    return list(X.to_delayed().ravel()), list(X.chunks[0])


def _load(block: Block) -> Any:
    return block.load()


def _stacked(rows: list[Any], shapes: list[tuple], dtype: Any) -> Any:
    """Delayed blocks of rows as one dask array."""
    da = import_optional("dask.array", "dask", "semisvm.parallel")
    return da.concatenate([da.from_delayed(row, shape, dtype=dtype) for row, shape in zip(rows, shapes)])


def _apply(X: Any, model: Any, method: str) -> np.ndarray:
    return getattr(model, method)(X)
