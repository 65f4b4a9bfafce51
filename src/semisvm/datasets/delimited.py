"""Tables of text with columns of numbers and one of labels."""

from __future__ import annotations

import csv
from pathlib import Path
from typing import Any

import numpy as np


def read_delimited(path: Path, delimiter: str, target: str | int | None) -> tuple[np.ndarray, np.ndarray]:
    """Samples and labels; the first line is a header if a feature in it is not a number."""
    with open(path, newline="", encoding="utf-8-sig") as file:
        rows = [[cell.strip() for cell in row] for row in csv.reader(file, delimiter=delimiter) if row]
    if not rows:
        raise ValueError(f"{path} is empty; it takes one line per sample.")
    column = _find_target(rows[0], target, path)
    features = [cell for number, cell in enumerate(rows[0]) if number != column]
    has_header = isinstance(target, str) or not all(map(_is_number, features))
    samples = rows[has_header:]
    if not samples:
        raise ValueError(f"{path} has no samples below its header; it takes one line per sample.")
    for number, row in enumerate(samples, start=1):
        if len(row) != len(rows[0]):
            raise ValueError(
                f"{path} has {len(row)} cells in sample {number} and {len(rows[0])} in line 1; give all as many."
            )
    labels = [row.pop(column) for row in samples]
    try:
        return np.array(samples, dtype=float).reshape(len(samples), len(features)), as_labels(labels)
    except ValueError:
        number, cell = next((n, c) for n, row in enumerate(samples, start=1) for c in row if not _is_number(c))
        raise ValueError(
            f"{path} has {cell!r} in sample {number}, which is not a number; turn columns of text into numbers, or use "
            "the command semisvm label, which does so."
        ) from None


def _find_target(first_row: list[str], target: str | int | None, path: Path) -> int:
    """The number of the column of labels."""
    if isinstance(target, str):
        if target not in first_row:
            raise ValueError(f"{path} has no column {target!r}; target takes one of {', '.join(map(repr, first_row))}.")
        return first_row.index(target)
    n_columns, number = len(first_row), -1 if target is None else target
    if n_columns < 2:
        raise ValueError(f"{path} has {n_columns} column; it takes features and a column of labels.")
    if not -n_columns <= number < n_columns:
        raise ValueError(
            f"target={target} is not a column of {path}; it takes {-n_columns} to {n_columns - 1} or a name."
        )
    return number % n_columns


def _is_number(cell: str) -> bool:
    try:
        float(cell)
    except ValueError:
        return False
    return True


def as_labels(values: Any) -> np.ndarray:
    """Labels in one dimension: whole numbers as integers; missing ones as NaN among numbers, as None among text."""
    labels = np.asarray(values)
    labels = labels.ravel() if max(labels.shape, default=0) == labels.size else labels
    if labels.dtype.kind in "OUS":
        missing = np.array([value is None or str(value) == "" for value in labels], dtype=bool)
        text = np.array([str(value) for value in labels])
        if all(_is_number(value) for value in text[~missing]):
            labels = np.full(len(labels), np.nan)
            labels[~missing] = text[~missing].astype(float)
        else:
            return text if not missing.any() else np.where(missing, np.array(None), text)
    is_whole = labels.dtype.kind == "f" and bool(np.all(labels == np.floor(labels)))  # not so where NaN
    return labels.astype(int) if is_whole or labels.dtype.kind in "iu" else labels
