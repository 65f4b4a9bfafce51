"""Splits into labeled, unlabeled and test samples, from the tables of indices that data sets come with."""

from __future__ import annotations

from collections.abc import Mapping
from typing import NamedTuple

import numpy as np

TABLES = ("idxtrain", "idxlabs", "idxunls", "idxtest")  # names without underscores


class Split(NamedTuple):
    """Indices of the samples that have a label, of those without one, and of those on which errors are counted.

    Parameters
    ----------
    labeled : array of int
        Samples whose label is given.
    unlabeled : array of int
        Samples that are used in training without their label; empty if a set has training and test samples alone.
    test : array of int
        Samples on which errors are counted: test samples, or the unlabeled ones where there are none.

    Examples
    --------
    >>> from semisvm.datasets import Split
    >>> split = Split([0, 1], [2, 3, 4], [2, 3, 4])
    >>> split.labeled
    [0, 1]
    """

    labeled: np.ndarray
    unlabeled: np.ndarray
    test: np.ndarray


def build_splits(arrays: Mapping[str, np.ndarray], n_samples: int, first: int, source: str) -> list[Split]:
    """Splits from ``idx_train`` or ``idx_labs``, ``idx_unls`` and ``idx_test``, one row per split.

    Training samples are labeled and those of ``idx_unls``, if any, unlabeled. Without training samples the unlabeled
    ones are by default all that have no label, and they are tested unless there are test samples.

    Parameters
    ----------
    arrays : mapping from name to array
        Other arrays are passed over; ``idxLabs`` and ``gen_idx_labs`` mean ``idx_labs``, too.
    n_samples, first : int
        Number of samples, and the index of the first one in these arrays.
    source : str
        The file, for messages.
    """
    tables = {}
    for name in sorted(arrays, key=lambda name: not name.startswith("gen_")):  # published tables replace generated ones
        plain = name.removeprefix("gen_").replace("_", "").lower()
        if plain in TABLES:
            tables[plain] = _check_indices(name, np.atleast_2d(arrays[name]), n_samples, first, source)
    if not tables:
        return []
    counts = {name: len(table) for name, table in tables.items()}
    if len(set(counts.values())) > 1:
        raise ValueError(
            f"{source} has tables with different numbers of splits, {counts}; give each one row per split."
        )
    labeled = tables.get("idxtrain", tables.get("idxlabs"))
    if labeled is None:
        raise ValueError(f"{source} has the tables {sorted(tables)} but no labeled samples; add idx_labs or idx_train.")
    empty = np.zeros((len(labeled), 0), dtype=int)
    if "idxtrain" in tables:
        unlabeled = tables.get("idxunls", empty)
        used = np.hstack([labeled, unlabeled])
        test = tables["idxtest"] if "idxtest" in tables else _others(used, n_samples, source)
    else:
        unlabeled = tables["idxunls"] if "idxunls" in tables else _others(labeled, n_samples, source)
        test = tables.get("idxtest", unlabeled)
    return [Split(*rows) for rows in zip(labeled, unlabeled, test)]


def _check_indices(name: str, table: np.ndarray, n_samples: int, first: int, source: str) -> np.ndarray:
    """The indices, from 0 on; a ValueError if one of them is not that of a sample."""
    is_index = (table == np.floor(table)) & (table >= first) & (table < n_samples + first)
    if not is_index.all():
        raise ValueError(
            f"{source} has the index {table[~is_index].item(0)} in {name}; {n_samples} samples allow whole numbers "
            f"from {first} to {n_samples + first - 1}: correct the table, or take the file that belongs to it."
        )
    return table.astype(int) - first


def _others(table: np.ndarray, n_samples: int, source: str) -> np.ndarray:
    """The samples that are not in each row."""
    if any(len(np.unique(row)) < len(row) for row in table):
        raise ValueError(f"{source} names a sample twice in a split; name each sample once.")
    return np.array([np.setdiff1d(np.arange(n_samples), row) for row in table])
