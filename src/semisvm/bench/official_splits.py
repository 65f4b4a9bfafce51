"""Published splits: whether those of a data folder are the official ones, bit for bit.

A digest covers the class of every sample, in order, and the indices of all splits, so that another order of the samples
or of the splits is noticed as another split is.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable

import numpy as np

from ..datasets import Dataset
from .data import DataFolder

DIGESTS = {
    "adult_a9a": "5448d1839b90153c52f4445ab1ce25e130235466905bdf40b685829464c2df15",
    "g50c": "1d3be7cb4af20ff58ca2eb29bdf37ea4da7fcf1664db5315f3ebaf26cceeced0",
    "mnist": "39a71a059e1fc8e472b251599462f182007c0632cf87ea55f1cf373c7a9ae066",
    "text": "e689eb9d81b5ddfaebc64c382e2ea7f1d31043c4fd383c921db40759cd01ca51",
    "usps": "f66f3a197b230ae2a7f4601f067fc2ff9ba183388ac5caa0c77b04b3289b6c95",
    "uspst": "3ed52771ca2cb1747cf034b9752c2c6f45ee7b68a9ddd1423470a10e4d5f3223",
}


def digest(data: Dataset) -> str:
    """SHA-256 of the classes, counted from 1, and of the indices of all splits, as 64-bit integers."""
    total = hashlib.sha256(np.asarray(data.y, dtype="<i8").tobytes())
    for split in data.splits:
        for part in split:
            total.update(f"{len(part)}:".encode())
            total.update(np.asarray(part, dtype="<i8").tobytes())
    return total.hexdigest()


def check_splits(names: Iterable[str], data: DataFolder) -> dict[str, bool]:
    """By set with published splits, of those in the folder, whether its splits are these."""
    known = [name for name in sorted(set(names) & set(DIGESTS)) if data.has(name)]
    return {name: _is_official(name, data) for name in known}


def _is_official(name: str, data: DataFolder) -> bool:
    try:
        return digest(data.load(name)) == DIGESTS[name]
    except (OSError, ValueError):  # a file that cannot be read; the cells that need it say why
        return False


def split_sentences(found: dict[str, bool]) -> list[str]:
    """What was found, in words without a full stop."""
    same = [name for name, is_official in found.items() if is_official]
    other = [name for name, is_official in found.items() if not is_official]
    sentences = [f"The splits are the official ones, bit for bit: {', '.join(same)}"] if same else []
    if other:
        sentences.append(
            f"Splits that are not the official ones, so that their cells are stand-ins: {', '.join(other)}"
        )
    return sentences
