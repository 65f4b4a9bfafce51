"""The answers of a table, written down, so that a fit that was interrupted can be resumed.

A solver is a function of its problem and of the sums over the rows that it asks for. These answers are kept in the
order in which they were asked; a fit that starts again is given them, in place of passes over the data, and arrives at
the point where it was interrupted with the same digits. Each answer carries a hash of its question: a fit of other
parameters, labels or samples is refused.
"""

from __future__ import annotations

import hashlib
import os
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

Answer = tuple[tuple[Any, ...], tuple[np.ndarray, ...]]


class Journal:
    """Answers in files of a folder.

    Parameters
    ----------
    folder : path or None
        Where they are; None keeps none.

    Attributes
    ----------
    n_resumed : int
        How many were there already.
    """

    def __init__(self, folder: str | Path | None = None):
        self.folder = None if folder is None else Path(folder)
        self.n_resumed = self._n_asked = 0
        if self.folder is not None:
            self.folder.mkdir(parents=True, exist_ok=True)

    def answer(self, question: tuple[Any, ...], compute: Callable[[], Answer]) -> Answer:
        """The answer that was written down, or computed now."""
        if self.folder is None:
            return compute()
        path, asked = self.folder / f"{self._n_asked:06d}.npz", np.frombuffer(_digest(question), dtype=np.uint8)
        self._n_asked += 1
        if path.exists():
            with np.load(path) as kept:
                if not np.array_equal(kept["question"], asked):
                    raise ValueError(
                        f"the checkpoint in {self.folder} is that of another fit: its samples, labels, weights or "
                        "parameters differ. Resume with the same ones, or pass an empty folder."
                    )
                self.n_resumed += 1
                return _in_order(kept, "sum"), _in_order(kept, "part")
        sums, parts = compute()
        arrays = {f"sum{k}": one for k, one in enumerate(sums)} | {f"part{k}": one for k, one in enumerate(parts)}
        draft = path.with_suffix(".draft")
        with draft.open("wb") as file:
            np.savez(file, question=asked, **arrays)
        os.replace(draft, path)
        return sums, parts

    def clear(self) -> None:
        """Remove the answers, after a fit that has ended."""
        if self.folder is not None:
            for path in self.folder.glob("[0-9]" * 6 + ".npz"):
                path.unlink()


def _in_order(kept: Any, name: str) -> tuple[Any, ...]:
    """The arrays of a name, by their numbers."""
    return tuple(kept[f"{name}{k}"] for k in range(sum(key.startswith(name) for key in kept.files)))


def _digest(value: Any) -> bytes:
    """A hash of names, numbers and arrays."""
    if isinstance(value, tuple):
        return hashlib.blake2b(b"".join(map(_digest, value)), digest_size=16).digest()
    if isinstance(value, np.ndarray):
        header = repr((value.shape, value.dtype.str)).encode()
        return hashlib.blake2b(header + np.ascontiguousarray(value).tobytes(), digest_size=16).digest()
    return hashlib.blake2b(repr(value).encode(), digest_size=16).digest()
