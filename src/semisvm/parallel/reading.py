"""What users pass, as blocks: dask collections, memory-mapped files, arrays and CSR matrices."""

from __future__ import annotations

import sys
from typing import Any

import numpy as np
from scipy import sparse

from .._threads import tiles
from .._validation import import_optional
from .blocks import ArrayBlock, Block, ChunkBlock, FileBlock, HeldBlock, standard_form
from .execution import Cluster, Executor, Threads, check_workers

BLOCK_BYTES = 64 * 2**20  # of a file or an array that has no blocks of its own
MIN_BLOCKS = 8


def is_dask(X: Any) -> bool:
    """Whether this is a dask collection; dask is not imported for that."""
    dask = sys.modules.get("dask")
    return dask is not None and dask.is_dask_collection(X)


def current_client() -> Any:
    """The Dask client of this process, if there is one."""
    distributed = sys.modules.get("distributed")
    if distributed is None:
        return None
    try:
        return distributed.default_client()
    except ValueError:
        return None


def choose_client(client: Any) -> Any:
    """The client that the user has named, or the one of this process; None for threads."""
    if isinstance(client, str) and client != "threads":
        raise ValueError(f"client={client!r} is not allowed; client takes a distributed.Client, 'threads' or None.")
    chosen = current_client() if client is None else None if isinstance(client, str) else client
    if chosen is not None:
        check_workers(chosen)
    return chosen


def blocks_of(X: Any, executor: Executor) -> list[Block]:
    """The blocks of a table.

    Parameters
    ----------
    X : dask array or DataFrame, numpy.memmap, array or CSR
        The samples. An array in memory is cut into blocks where it is; a file is read by those who need it.
    executor : Executor
        Where the blocks will be read.
    """
    return _chunks(X, executor) if is_dask(X) else list(parts_of(X, executor.n_groups))


def parts_of(X: Any, n_parts: int = 1, n_rows: int | None = None) -> list[ArrayBlock] | list[FileBlock]:
    """The blocks of a table that is no dask collection, so many or more, or of so many rows."""
    if sparse.issparse(X):
        X = sparse.csr_array(X)
    elif hasattr(X, "to_numpy"):
        X = X.to_numpy()
    if getattr(X, "ndim", None) != 2:
        raise ValueError(
            f"X is of type {type(X).__name__}; allowed are a dask array or DataFrame, a numpy.memmap, an array, a "
            "pandas or polars DataFrame or a CSR matrix, with a row per sample."
        )
    n, itemsize = X.shape[0], X.dtype.itemsize
    if not n:
        return [ArrayBlock(standard_form(X))]
    n_bytes = itemsize * (X.nnz if sparse.issparse(X) else X.size)
    n_rows = n_rows or max(1, min(n * BLOCK_BYTES // max(n_bytes, 1), -(-n // MIN_BLOCKS), -(-n // n_parts)))
    if isinstance(X, np.memmap) and X.flags.c_contiguous and X.filename is not None:
        return _file_blocks(X, n_rows)
    return [ArrayBlock(standard_form(X[rows])) for rows in tiles(n, n_rows)]


def _file_blocks(X: np.memmap, n_rows: int) -> list[FileBlock]:
    """Blocks of rows of a file that is mapped into memory; X may be a part of what is mapped."""
    whole = X
    while isinstance(whole.base, np.memmap):
        whole = whole.base
    start = whole.offset + X.__array_interface__["data"][0] - whole.__array_interface__["data"][0]
    d, row_bytes = X.shape[1], X.shape[1] * X.dtype.itemsize
    path = str(X.filename)
    return [
        FileBlock(path, X.dtype.str, start + rows.start * row_bytes, (rows.stop - rows.start, d))
        for rows in tiles(X.shape[0], n_rows)
    ]


def _chunks(X: Any, executor: Executor) -> list[Block]:
    """One block for each chunk of rows of a dask collection."""
    import dask
    from dask.core import flatten
    from dask.optimization import cull

    if not hasattr(X, "chunks"):
        kinds = dict(getattr(X, "dtypes", {}))
        text = [str(name) for name, kind in kinds.items() if getattr(kind, "kind", "O") not in "biuf"]
        if text:
            raise ValueError(
                f"the columns {', '.join(text[:5])} of X hold no numbers; only numbers are allowed. Drop them, or turn "
                "text into numbers with semisvm.parallel.hash_text."
            )
    elif X.ndim != 2:
        raise ValueError(f"X has {X.ndim} axes; a table of samples has two. Reshape it to (n_samples, n_features).")
    elif X.numblocks[1] > 1:
        X = X.rechunk({1: -1})
    if _is_held(X):
        if not isinstance(executor, Cluster):
            raise ValueError("X is held by a Dask cluster; pass its client.")
        futures = executor.client.compute(list(flatten(np.asarray(X.to_delayed()).tolist())))
        name = executor.publish(futures)
        return [HeldBlock(name, number) for number in range(len(futures))]
    (X,) = dask.optimize(X)
    graph = dict(X.__dask_graph__())
    return [ChunkBlock(cull(graph, [key])[0], key) for key in flatten(X.__dask_keys__())]


def _is_held(X: Any) -> bool:
    """Whether chunks of a dask collection are in the memory of a cluster."""
    client = sys.modules.get("distributed.client")
    return client is not None and bool(client.futures_of(X))


def column_of(y: Any) -> Any:
    """Labels or weights in memory."""
    if not is_dask(y):
        return y
    y = y.compute()
    return y.to_numpy() if hasattr(y, "to_numpy") and y.dtype.kind in "biuf" else y


def executor_for(client: Any, folder: str) -> Executor:
    """Threads of this process, or the cluster of a client."""
    if client is None:
        return Threads(folder)
    import_optional("distributed", "dask", "a cluster")
    return Cluster(client)
