"""Data sets that scikit-learn downloads."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from .delimited import as_labels
from .formats import Contents

NEWSGROUPS = "20newsgroups"
OPENML = "openml:"


def is_fetched(name: str) -> bool:
    """Whether a name stands for a set to be downloaded."""
    return name == NEWSGROUPS or name.startswith(OPENML)


def fetch(name: str, folder: Path | None, target: str | int | None) -> Contents:
    """A set of OpenML by its name or number, or the 20 newsgroups; scikit-learn keeps a copy in the folder."""
    if name == OPENML:
        raise ValueError(f"{name!r} names no set; write openml:NAME or openml:NUMBER.")
    if name == NEWSGROUPS and target is not None:
        raise ValueError(f"{name!r} has its labels in place: leave target out.")
    try:
        if name == NEWSGROUPS:
            return _fetch_newsgroups(folder)
        return _fetch_openml(name.removeprefix(OPENML), folder, target)
    except OSError as error:
        raise ConnectionError(
            f"{name!r} could not be downloaded ({error}); connect to the network, or get a file of the set and pass "
            "its path."
        ) from error


def _fetch_openml(name: str, folder: Path | None, target: str | int | None) -> Contents:
    from sklearn.datasets import fetch_openml

    which = {"data_id": int(name)} if name.isdigit() else {"name": name}
    target_column = "default-target" if target is None else target
    data = fetch_openml(**which, target_column=target_column, data_home=folder, as_frame=False, parser="liac-arff")
    if data.target is None:
        raise ValueError(f"the set {name!r} of OpenML has no column of labels by default; name one with target=.")
    return Contents(data.data, as_labels(data.target), {})


def _fetch_newsgroups(folder: Path | None) -> Contents:
    from scipy import sparse
    from sklearn.datasets import fetch_20newsgroups_vectorized

    train, test = (fetch_20newsgroups_vectorized(subset=part, data_home=folder) for part in ("train", "test"))
    n_train, n_test = len(train.target), len(test.target)
    indices = {"idx_train": np.arange(n_train), "idx_test": n_train + np.arange(n_test)}
    X = sparse.vstack([train.data, test.data], format="csr")
    return Contents(X, as_labels(np.concatenate([train.target, test.target])), indices)
