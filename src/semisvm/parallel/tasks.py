"""What runs where the rows are: functions of a group of blocks. They are called by name on other computers."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .._threads import tiles
from ..spaces import DesignMatrix
from ..spaces.kernels import squared_norms
from .blocks import Block

TILE_ROWS = 8192  # rows of a dense block that are worked on at a time

Sums = tuple[Any, ...]
Parts = tuple[np.ndarray, ...]


class Survey(NamedTuple):
    """What is found out about some rows before anything else.

    Attributes
    ----------
    counts : list of int
        Rows of each block.
    n_features, size : int
        Columns, and entries that a product reads.
    is_sparse, dtype : bool, str
        Of the blocks.
    totals, largest, smallest : arrays of shape (d,)
        Sums, maxima and minima of the features.
    squares, max_square : float
        The sum and the largest of the squared norms.
    """

    counts: list[int]
    n_features: int
    size: int
    is_sparse: bool
    dtype: str
    totals: np.ndarray
    largest: np.ndarray
    smallest: np.ndarray
    squares: float
    max_square: float


def survey(blocks: Sequence[Block], first_number: int) -> Survey:
    """Look at all rows once, and refuse those that are not finite numbers."""
    found = [_survey_one(block.load(), first_number + k) for k, block in enumerate(blocks)]
    return merge_surveys(*found)


def _survey_one(X: Any, number: int) -> Survey:
    is_sparse = sparse.issparse(X)
    values = X.data if is_sparse else X
    if not np.isfinite(values).all():
        what = "NaN" if np.isnan(values).any() else "infinity"
        raise ValueError(f"X holds {what} in its block {number}; only finite numbers are allowed. Fill or drop them.")
    d = X.shape[1]
    if not X.shape[0]:
        none = np.full(d, np.inf)
        return Survey([0], d, 0, is_sparse, X.dtype.str, np.zeros(d), -none, none, 0.0, 0.0)
    largest, smallest = (_row(one).astype(np.float64) for one in (X.max(axis=0), X.min(axis=0)))
    norms = squared_norms(X).astype(np.float64)
    totals = _row(X.sum(axis=0, dtype=np.float64))
    size = X.nnz if is_sparse else X.size
    found = Survey([X.shape[0]], d, size, is_sparse, X.dtype.str, totals, largest, smallest, 0.0, 0.0)
    return found._replace(squares=float(norms.sum()), max_square=float(norms.max()))


def _row(values: Any) -> np.ndarray:
    return np.asarray(values.toarray() if sparse.issparse(values) else values).ravel()


def merge_surveys(*surveys: Survey) -> Survey:
    """The survey of all rows."""
    first = surveys[0]
    widths = sorted({one.n_features for one in surveys})
    if len(widths) > 1:
        raise ValueError(f"the blocks of X have {', '.join(map(str, widths))} features; all need the same.")
    if len({one.is_sparse for one in surveys}) > 1:
        raise ValueError("some blocks of X are sparse and others dense; make all of them CSR or all of them arrays.")
    return Survey(
        [count for one in surveys for count in one.counts],
        first.n_features,
        sum(one.size for one in surveys),
        first.is_sparse,
        max(one.dtype for one in surveys),
        np.sum([one.totals for one in surveys], axis=0),
        np.max([one.largest for one in surveys], axis=0),
        np.min([one.smallest for one in surveys], axis=0),
        float(sum(one.squares for one in surveys)),
        max(one.max_square for one in surveys),
    )


def accumulate(
    blocks: Sequence[Block],
    first_row: int,
    function: Callable[..., tuple[Sums, Parts]],
    shared: tuple[Any, ...],
    *by_rows: np.ndarray,
) -> tuple[Sums, Parts]:
    """The sum of ``function(X_tile, first_row, *shared, *slices of by_rows)`` over tiles of the rows of some blocks.

    The function returns a tuple of arrays or numbers that are added, and one of arrays that are concatenated.
    ``by_rows`` have a row for each of those of the group.
    """
    sums: list[Any] | None = None
    parts: list[Parts] = []
    for tile, here in _tiles(blocks):
        added, part = function(tile, first_row + here.start, *shared, *(values[here] for values in by_rows))
        parts.append(part)
        if sums is None:
            sums = [np.array(one, dtype=np.float64) for one in added]
        else:
            for total, one in zip(sums, added):
                total += one
    return tuple(sums or ()), _joined(parts)


def visit(
    blocks: Sequence[Block],
    state: tuple[Any, ...],
    function: Callable[..., tuple[tuple[Any, ...], Parts]],
    shared: tuple[Any, ...],
    *by_rows: np.ndarray,
) -> tuple[tuple[Any, ...], Parts]:
    """The last state of ``function(X_tile, state, *shared, *slices of by_rows)`` over tiles in order, and all parts.

    It returns the state for the next tile, and arrays that are concatenated.
    """
    parts: list[Parts] = []
    for tile, here in _tiles(blocks):
        state, part = function(tile, state, *shared, *(values[here] for values in by_rows))
        parts.append(part)
    return state, _joined(parts)


def the_only(result: Any) -> Any:
    """What a single task returns."""
    return result


def _tiles(blocks: Sequence[Block]) -> Iterator[tuple[Any, slice]]:
    """Rows of some blocks and where they are among all of them.

    A sparse block is read as a whole; a dense one by tiles that stay in the cache.
    """
    start = 0
    for block in blocks:
        X = block.load()
        n = X.shape[0]
        size = max(n, 1) if sparse.issparse(X) else TILE_ROWS
        for rows in tiles(n, size):
            yield (X if rows.stop - rows.start == n else X[rows]), slice(start + rows.start, start + rows.stop)
        start += n


def _joined(parts: list[Parts]) -> Parts:
    return tuple(np.concatenate(each) for each in zip(*parts))


def merge_sums(*results: tuple[Sums, Parts]) -> tuple[Sums, Parts]:
    """Results of neighboring groups as one; the order of the sums is that of the rows."""
    results = tuple(result for result in results if result[0] or result[1])
    if not results:
        return (), ()
    sums, parts = zip(*results)
    totals = [np.array(one, dtype=np.float64) for one in sums[0]]
    for added in sums[1:]:
        for total, one in zip(totals, added):
            total += one
    return tuple(totals), tuple(np.concatenate(each) for each in zip(*parts))


def take(blocks: Sequence[Block], wanted: dict[int, np.ndarray]) -> list[Any]:
    """Rows of some blocks, by their number in the group."""
    return [blocks[number].load()[rows] for number, rows in wanted.items()]


def merge_lists(*results: list[Any]) -> list[Any]:
    """One list."""
    return [one for result in results for one in result]


# ---------------------------------------------------------------- products, functions for ``accumulate``


def summed(X: Any, first_row: int, function: Callable[..., Sums], *shared: Any) -> tuple[Sums, Parts]:
    """What a function returns that has sums alone."""
    return function(X, first_row, *shared), ()


def product(X: Any, first_row: int, V: np.ndarray) -> tuple[Sums, Parts]:
    """X V."""
    return (), (DesignMatrix(X).product(V),)


def partial_product(X: Any, first_row: int, V: np.ndarray, wanted: np.ndarray) -> tuple[Sums, Parts]:
    """X V at the rows of a mask, the others left out."""
    return (), (DesignMatrix(X).partial_product(V, wanted)[mask_of(wanted)],)


def adjoint(X: Any, first_row: int, P: np.ndarray) -> tuple[Sums, Parts]:
    """X'P."""
    return (DesignMatrix(X).adjoint(P),), ()


def weighted_squares(X: Any, first_row: int, H: np.ndarray) -> tuple[Sums, Parts]:
    """Sums of H x^2."""
    return (DesignMatrix(X).weighted_squares(H),), ()


def weighted_gram(X: Any, first_row: int, cost: np.ndarray) -> tuple[Sums, Parts]:
    """X'diag(c)X and X'c."""
    return DesignMatrix(X).weighted_gram(cost), ()


def mapped_norms(X: Any, first_row: int, T: np.ndarray, shift: np.ndarray) -> tuple[Sums, Parts]:
    """Squared norms of the rows of X T + shift."""
    return (), (DesignMatrix(X).mapped_norms(T, shift),)


def hessian_product(
    X: Any, first_row: int, V: np.ndarray, shift: Any, everywhere: bool, H: np.ndarray
) -> tuple[Sums, Parts]:
    """With Z = X V + shift: X'(H o Z), the sums of H o Z, and Z everywhere or at the rows of some curvature."""
    design = DesignMatrix(X)
    image, totals, scores = design.hessian_product(V, shift, H)
    if not everywhere:
        return (image, totals), (scores[mask_of(H)],)
    missing = np.isnan(scores)
    if missing.any():
        scores = np.where(missing, design.partial_product(V, missing) + shift, scores)
    return (image, totals), (scores,)


def norms(X: Any, first_row: int) -> tuple[Sums, Parts]:
    """Squared norms of the rows."""
    return (), (squared_norms(X).astype(np.float64),)


def mask_of(values: np.ndarray) -> np.ndarray:
    """Mask of the rows that hold anything."""
    return np.asarray(values.reshape(len(values), -1).any(axis=1))
