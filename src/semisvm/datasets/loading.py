"""Real data sets, from files of several formats."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from .._validation import check_choice
from .fetching import fetch, is_fetched
from .formats import Contents, read_arrays, read_csv, read_mat, read_mat_arrays, read_npz, read_svmlight, read_tsv
from .splits import Split, build_splits

READERS = {"npz": read_npz, "mat": read_mat, "svmlight": read_svmlight}
TABLE_READERS = {"csv": read_csv, "tsv": read_tsv}
ENDINGS = {  # in the order in which files of the same name are preferred
    ".npz": "npz",
    ".X.npz": "npz",
    ".mat": "mat",
    ".csv": "csv",
    ".tsv": "tsv",
    **{f"{name}{packed}": "svmlight" for name in (".svmlight", ".libsvm", ".svm") for packed in ("", ".gz", ".bz2")},
}


class Dataset(NamedTuple):
    """A data set with its splits.

    Parameters
    ----------
    name : str
        Name of the set.
    X : array or CSR matrix of shape (n, d)
        Samples, as stored.
    y : array of shape (n,)
        Labels of all samples: whole numbers, other numbers or text. Missing ones are NaN or None.
    splits : list of Split
        Published splits, empty if the set has none.

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm.datasets import Dataset
    >>> data = Dataset("two samples", np.eye(2), np.array([1, 2]), [])
    >>> data.X.shape
    (2, 2)
    """

    name: str
    X: Any
    y: np.ndarray
    splits: list[Split]


def load_dataset(
    name: str | os.PathLike[str],
    folder: str | os.PathLike[str] | None = None,
    *,
    format: str | None = None,
    target: str | int | None = None,
    splits: str | os.PathLike[str] | None = None,
) -> Dataset:
    """Load a data set from a file, or through scikit-learn from the network.

    A file is found by its path or, without its ending, by its name in a folder. Its format follows from the ending:

    ============================  ==========================================================================
    ``.npz``                      arrays X, y and tables of splits
    ``.X.npz``                    a sparse X; labels in ``NAME.y.npy``, tables of splits in ``NAME.splits.npz``
    ``.mat``                      MATLAB up to version 7: X, y, idxLabs, idxUnls, counted from 1
    ``.csv``, ``.tsv``            columns of numbers and one of labels, with or without a header
    ``.svmlight``, ``.libsvm``,   lines of a label and feature:value; also with ``.gz`` or ``.bz2``
    ``.svm``
    ============================  ==========================================================================

    Tables of splits have one row of indices per split: ``idx_labs`` and ``idx_unls`` (labeled, unlabeled samples), or
    ``idx_train`` and ``idx_test``, perhaps with ``idx_unls``. Nothing is ever unpickled.

    Labels are as stored. Where -1 is a class, as in many sets of two classes, let estimators know another marker of
    unlabeled samples (``unlabeled=None``), or rename the classes as below.

    Parameters
    ----------
    name : str or path
        Path of a file; or a name in ``folder``; or "openml:NAME" or "openml:NUMBER" for a set of OpenML (categories are
        numbered) and "20newsgroups" for the word counts of that set, both downloaded by scikit-learn.
    folder : str, path or None, default=None
        Where to look for the name; None means the folder that the environment variable SEMISVM_DATA names, or the
        current one. Where downloaded sets are kept, None meaning scikit-learn's own folder.
    format : {"npz", "mat", "svmlight", "csv", "tsv"} or None, default=None
        Format of a file whose ending does not tell.
    target : str, int or None, default=None
        Column of labels of a CSV or TSV file, by name or number; None means the last one. Of OpenML: its name.
    splits : str, path or None, default=None
        An NPZ or MATLAB file with the tables of splits, if they are not beside the samples. In a MATLAB file indices
        start at 1, in an NPZ file at 0.

    Returns
    -------
    Dataset
        The samples, their labels and the splits.

    Examples
    --------
    >>> import numpy as np, tempfile
    >>> from semisvm.datasets import load_dataset
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     np.savez(f"{folder}/tiny.npz", X=np.eye(4), y=[-1, -1, 1, 1], idx_labs=[[0, 2], [1, 3]])
    ...     data = load_dataset("tiny", folder)
    >>> data.splits[1]
    Split(labeled=array([1, 3]), unlabeled=array([0, 2]), test=array([0, 2]))
    >>> y = np.where(data.y == 1, 2, 1)
    >>> y_partial = np.full(len(y), -1)
    >>> y_partial[data.splits[1].labeled] = y[data.splits[1].labeled]
    >>> y_partial
    array([-1,  1, -1,  2])
    """
    check_choice("format", format, [*READERS, *TABLE_READERS, None])
    if is_fetched(str(name)):
        if format is not None or (target is not None and not isinstance(target, str)):
            raise ValueError(f"{name!r} is downloaded; it takes no format, and a name as target: leave the others out.")
        label, source = str(name), str(name)
        contents = fetch(label, None if folder is None else Path(folder), target)
    else:
        path = _find(name, folder)
        label, source = _without_ending(path), str(path)
        contents = _read(path, format, target)
    n_samples = _check_shapes(contents, source)
    arrays, first = contents.arrays, contents.first
    if splits is not None:
        source, first = str(splits), 1 if str(splits).endswith(".mat") else 0
        arrays = _read_split_file(Path(splits))
    found = build_splits(arrays, n_samples, first, source)
    if splits is not None and not found:
        raise ValueError(f"{source} has no table of splits, only {sorted(arrays)}; add idx_labs or idx_train.")
    return Dataset(label, contents.X, contents.y, found)


def _find(name: str | os.PathLike[str], folder: str | os.PathLike[str] | None) -> Path:
    """The file of a path or name."""
    if folder is None and Path(name).is_file():
        return Path(name)
    base = Path(os.environ.get("SEMISVM_DATA", ".") if folder is None else folder)
    for ending in ("", *ENDINGS):
        path = base / f"{os.fspath(name)}{ending}"
        if path.is_file():
            return path
    raise FileNotFoundError(
        f"There is no data set {os.fspath(name)!r} in the folder {base}, with the ending {', '.join(ENDINGS)} or none; "
        "pass the path of a file, or the folder that holds it."
    )


def _ending(path: Path) -> str:
    """The longest known ending of a file, or nothing."""
    return max((ending for ending in ENDINGS if path.name.endswith(ending)), key=len, default="")


def _without_ending(path: Path) -> str:
    return path.name.removesuffix(_ending(path))


def _read(path: Path, format: str | None, target: str | int | None) -> Contents:
    format = format or ENDINGS.get(_ending(path))
    if format is None:
        raise ValueError(
            f"{path} has an unknown format; known are the endings {', '.join(ENDINGS)}: pass format= for others."
        )
    if format in TABLE_READERS:
        return TABLE_READERS[format](path, target)
    if target is not None:
        raise ValueError(
            f"target={target!r} is for CSV and TSV files; {path} has its labels in place: leave target out."
        )
    return READERS[format](path)


def _read_split_file(path: Path) -> dict[str, Any]:
    if not path.is_file():
        raise FileNotFoundError(f"There is no file of splits {path}; pass the path of an NPZ or MATLAB file.")
    if path.suffix not in (".npz", ".mat"):
        raise ValueError(f"splits={str(path)!r} is not allowed; splits takes the path of an NPZ or MATLAB file.")
    return read_arrays(path) if path.suffix == ".npz" else read_mat_arrays(path)


def _check_shapes(contents: Contents, source: str) -> int:
    """The number of samples; a ValueError if samples and labels do not fit."""
    X, y = contents.X, contents.y
    if X.ndim != 2 or y.ndim != 1 or X.shape[0] != len(y):
        raise ValueError(
            f"{source} has X of shape {X.shape} and y of shape {y.shape}; X takes one row per sample, y one label."
        )
    return len(y)
