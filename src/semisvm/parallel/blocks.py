"""Blocks of rows of a table as recipes: what a task needs to read its rows, never the rows themselves.

A recipe is a few hundred bytes and can be read by any process that sees the files, again and again: if a worker is
lost, another one reads the block. What is costly to read (a part of a dask collection, features of a kernel) is kept on
the disk of the process that has read it, as plain arrays that are mapped into memory from then on; the page cache of
the operating system makes that as fast as memory where there is enough of it.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

import numpy as np
from scipy import sparse

INDEX_PARTS = ("data", "indices", "indptr")


class Block(Protocol):
    """A recipe of some rows."""

    def load(self) -> Any:
        """The rows, as an array or CSR in standard form."""


@dataclass(frozen=True)
class ArrayBlock:
    """Rows that are in memory, in standard form."""

    rows: Any

    @property
    def n_rows(self) -> int:
        """How many."""
        return self.rows.shape[0]

    def load(self) -> Any:
        """The rows."""
        return self.rows


@dataclass(frozen=True)
class FileBlock:
    """Rows of a file of plain numbers, mapped into memory."""

    path: str
    dtype: str
    offset: int
    shape: tuple[int, int]

    @property
    def n_rows(self) -> int:
        """How many."""
        return self.shape[0]

    def load(self) -> Any:
        """The rows; changes of the array would not reach the file."""
        rows = np.memmap(self.path, self.dtype, "c", self.offset, self.shape)
        return standard_form(np.asarray(rows))


@dataclass(frozen=True)
class ChunkBlock:
    """One chunk of a dask collection, computed where it is read.

    Attributes
    ----------
    graph, key : dict, key
        The tasks of this chunk alone.
    """

    graph: dict[Any, Any]
    key: Any

    def load(self) -> Any:
        """The rows."""
        import dask

        return standard_form(dask.get(self.graph, self.key))


@dataclass(frozen=True)
class HeldBlock:
    """One chunk that a cluster holds in its memory.

    Attributes
    ----------
    dataset, number : str, int
        Name under which the chunks are published, and which of them it is.
    """

    dataset: str
    number: int

    def load(self) -> Any:
        """The rows."""
        from distributed import worker_client

        with worker_client() as client:  # the worker may go on with other tasks, those of this chunk for instance
            return standard_form(client.get_dataset(self.dataset)[self.number].result())


@dataclass(frozen=True)
class MappedBlock:
    """What a function makes of the rows of a block."""

    block: Block
    function: Callable[..., Any]
    arguments: tuple[Any, ...]

    def load(self) -> Any:
        """The new rows."""
        return standard_form(self.function(self.block.load(), *self.arguments))


@dataclass(frozen=True)
class KeptBlock:
    """A block that is computed once by each process that reads it, and kept on its disk.

    Attributes
    ----------
    block : Block
        What is kept.
    token, number : str, int
        Name of the table, and the number of the block.
    folder : str or None
        Where; None for the folder of the dask worker that reads it.
    """

    block: Block
    token: str
    number: int
    folder: str | None = None

    def load(self) -> Any:
        """The rows, from the disk if they are there."""
        folder = scratch_folder(self.token, self.folder) / str(self.number)
        if not folder.exists():
            _write(self.block.load(), folder)
        if (folder / "indptr.npy").exists():
            parts = tuple(np.asarray(np.load(folder / f"{name}.npy", mmap_mode="c")) for name in INDEX_PARTS)
            return sparse.csr_array(parts, shape=tuple(np.load(folder / "shape.npy")))
        return np.asarray(np.load(folder / "data.npy", mmap_mode="c"))


def scratch_folder(token: str, folder: str | None = None) -> Path:
    """The folder of a table on the disk of this process, or of the dask worker that this process is."""
    if folder is None:
        from distributed import get_worker

        folder = get_worker().local_directory
    return Path(folder) / f"semisvm-{token}"


def _write(rows: Any, folder: Path) -> None:
    """Write rows to a folder that appears when it is complete; of two processes that write it, one wins."""
    folder.parent.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=folder.parent) as draft:
        arrays = {"data": rows}
        if sparse.issparse(rows):
            arrays = {name: getattr(rows, name) for name in INDEX_PARTS} | {"shape": np.array(rows.shape)}
        inner = Path(draft) / "rows"
        inner.mkdir()
        for name, values in arrays.items():
            np.save(inner / f"{name}.npy", np.ascontiguousarray(values))
        try:
            os.replace(inner, folder)
        except OSError:
            if not folder.exists():
                raise


def standard_form(rows: Any) -> Any:
    """Rows as a C-contiguous array or a CSR with sorted indices, of float64 or float32; other numbers are converted."""
    if sparse.issparse(rows):
        rows = sparse.csr_array(rows)
        rows.sort_indices()
        if rows.indices.dtype != np.int32:
            rows = sparse.csr_array(
                (rows.data, rows.indices.astype(np.int32), rows.indptr.astype(np.int32)), shape=rows.shape
            )
        return rows if rows.dtype in (np.float64, np.float32) else rows.astype(np.float64)
    if hasattr(rows, "to_numpy"):
        rows = rows.to_numpy()
    rows = np.asarray(rows)
    text = next((value for value in rows.flat if isinstance(value, str)), None) if rows.dtype.kind in "OSU" else None
    if text is not None:
        raise ValueError(
            f"X holds text ({str(text)!r}); only numbers are allowed. Turn text columns into numbers first, with "
            "semisvm.parallel.hash_text for instance."
        )
    if rows.dtype not in (np.float64, np.float32):
        rows = rows.astype(np.float64)
    if rows.ndim != 2:
        raise ValueError(f"X has {rows.ndim} axes; a table of samples has two. Reshape it to (n_samples, n_features).")
    return np.ascontiguousarray(rows)
