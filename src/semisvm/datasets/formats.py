"""File formats of data sets: NPZ, MATLAB, SVMlight."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .delimited import as_labels, read_delimited


class Contents(NamedTuple):
    """What a file holds: samples, labels, arrays among which tables of splits may be, and where their indices start."""

    X: Any
    y: np.ndarray
    arrays: Mapping[str, np.ndarray]
    first: int = 0


def read_npz(path: Path) -> Contents:
    """``NAME.npz``, or ``NAME.X.npz`` (sparse) with ``NAME.y.npy`` and perhaps ``NAME.splits.npz`` beside it."""
    if not path.name.endswith(".X.npz"):
        arrays = read_arrays(path)
        return Contents(*_samples_and_labels(arrays, path), arrays)
    from scipy import sparse

    base = str(path).removesuffix(".X.npz")
    labels, splits = Path(f"{base}.y.npy"), Path(f"{base}.splits.npz")
    if not labels.is_file():
        raise FileNotFoundError(f"{path} has no labels: there is no {labels.name} beside it; put them there.")
    y = as_labels(read_arrays(labels)["array"])
    return Contents(sparse.load_npz(path).tocsr(), y, read_arrays(splits) if splits.is_file() else {})


def read_arrays(path: Path) -> dict[str, np.ndarray]:
    """All arrays of an NPZ file, or that of an NPY file; Python objects, whose loading could run code, are refused."""
    try:
        if path.suffix == ".npy":
            return {"array": np.load(path, allow_pickle=False)}
        with np.load(path, allow_pickle=False) as file:
            return {name: file[name] for name in file.files}
    except ValueError as error:
        if "allow_pickle" not in str(error):
            raise
        raise ValueError(
            f"{path} holds Python objects, which are not loaded; save arrays of numbers or text."
        ) from None


def read_mat(path: Path) -> Contents:
    """A MATLAB file up to version 7 with X and y, perhaps ``idxLabs`` and ``idxUnls`` counted from 1."""
    arrays = read_mat_arrays(path)
    return Contents(*_samples_and_labels(arrays, path), arrays, first=1)


def read_mat_arrays(path: Path) -> dict[str, Any]:
    """All variables of a MATLAB file; a column is a list."""
    from scipy.io import loadmat

    try:
        variables = loadmat(path)
    except NotImplementedError:
        raise ValueError(f"{path} is of MATLAB's version 7.3; save it with the option '-v7'.") from None
    return {
        name: value.T if name.lower().startswith("idx") and value.shape[1] == 1 else value
        for name, value in variables.items()
        if not name.startswith("__")
    }


def _samples_and_labels(arrays: Mapping[str, Any], path: Path) -> tuple[Any, np.ndarray]:
    missing = [name for name in ("X", "y") if name not in arrays]
    if missing:
        raise ValueError(
            f"{path} has no {' and no '.join(missing)}, only {sorted(arrays)}; name the samples X and the labels y."
        )
    X = arrays["X"]
    return X.tocsr() if hasattr(X, "tocsr") else X, as_labels(arrays["y"])


def read_svmlight(path: Path) -> Contents:
    """Text of SVMlight and LIBSVM, also compressed."""
    from sklearn.datasets import load_svmlight_file

    try:
        X, y = load_svmlight_file(str(path))
    except ValueError as error:
        raise ValueError(
            f"{path} is not of the format svmlight, lines of a label and feature:value ({error}); correct it, or pass "
            "another format."
        ) from None
    return Contents(X, as_labels(y), {})


def read_csv(path: Path, target: str | int | None = None) -> Contents:
    """Columns of numbers, separated by commas, and one of labels."""
    return Contents(*read_delimited(path, ",", target), {})


def read_tsv(path: Path, target: str | int | None = None) -> Contents:
    """The same, separated by tabs."""
    return Contents(*read_delimited(path, "\t", target), {})
