"""Samples in blocks that are elsewhere: rows by their positions, and sums over all rows."""

from __future__ import annotations

import uuid
from collections.abc import Callable, Sequence
from itertools import count, pairwise
from typing import Any

import numpy as np
from scipy import sparse

from ..spaces.bandwidth import N_SUBSAMPLE
from . import tasks
from .blocks import Block, ChunkBlock, HeldBlock, KeptBlock, MappedBlock
from .execution import Executor, Held
from .journal import Journal


class BlockedSamples:
    """A table of samples whose rows are in blocks on disks or on a cluster.

    It has the shape and the rows of an array (``X[positions]`` brings some of them here); everything else is a sum over
    the rows, computed where they are.

    Parameters
    ----------
    blocks : sequence of Block
        The rows, in order.
    executor : Executor
        Where tasks run.
    journal : Journal or None
        Keeps the answers, so that an interrupted fit can be resumed.

    Attributes
    ----------
    shape, dtype, is_sparse : tuple, dtype, bool
        As of an array or CSR.
    survey : Survey
        What one pass over all rows has found.
    """

    ndim = 2

    def __init__(self, blocks: Sequence[Block], executor: Executor, journal: Journal | None = None):
        self.executor, self.journal, self.token = executor, journal or Journal(), uuid.uuid4().hex[:12]
        self.blocks = [self._kept(block, number) for number, block in enumerate(blocks)]
        self._n_passes = 0
        self._mapped: list[BlockedSamples] = []
        self._versions = count()
        self._known: dict[tuple, tuple[Any, int]] = {}
        self._rows: tuple[np.ndarray, Any] | None = None
        n_groups = max(1, min(executor.n_groups, len(self.blocks)))
        edges = np.linspace(0, len(self.blocks), n_groups + 1).astype(int)
        self._groups = [slice(a, b) for a, b in pairwise(edges.tolist())]
        self.survey = self._survey()
        if not sum(self.survey.counts):
            raise ValueError("X has no rows; at least one sample of each class is needed.")
        self.shape = sum(self.survey.counts), self.survey.n_features
        self.dtype, self.is_sparse = np.dtype(self.survey.dtype), self.survey.is_sparse
        self._contents = self.shape, self.survey.largest, self.survey.smallest  # however the rows are grouped
        self._starts = np.concatenate([[0], np.cumsum(self.survey.counts)])

    __iter__ = None  # nothing should read all rows, one at a time

    def __array__(self, *args: Any, **kwargs: Any) -> Any:
        raise TypeError("samples in blocks are no array; take some rows of them.")

    def _kept(self, block: Block, number: int) -> Block:
        """A block that is costly to read, kept on the disk of who reads it."""
        is_costly = isinstance(block, ChunkBlock | HeldBlock | MappedBlock)
        return KeptBlock(block, self.token, number, self.executor.folder) if is_costly else block

    def close(self) -> None:
        """Remove what is held and kept for the table, and for those that were made of it."""
        for table in self._mapped:
            table.close()
        self.executor.forget(self.token)

    @property
    def n_passes(self) -> int:
        """Sums over all rows so far, those of tables that were made of this one included."""
        return self._n_passes + sum(table.n_passes for table in self._mapped)

    # ---------------------------------------------------------------- sums over the rows

    def sum_over_rows(
        self,
        function: Callable[..., Any],
        shared: tuple[Any, ...] = (),
        by_rows: Sequence[np.ndarray] = (),
        held: bool = False,
    ) -> tuple[tuple, tuple]:
        """The sum of ``function(X_tile, first_row, *shared, *slices of by_rows)`` over tiles of rows.

        See ``tasks.accumulate``. Each tile gets its rows of the arrays ``by_rows``; where these are ``held``, an array
        is sent once as long as the same one is passed, which must not be changed in between.
        """
        self._n_passes += 1

        def compute() -> tuple[tuple, tuple]:
            arguments = []
            for number, group in enumerate(self._groups):
                first, end = self._starts[group.start], self._starts[group.stop]
                slices = tuple(
                    self._hold((function.__name__, place, number), values, values[first:end])
                    if held
                    else values[first:end]
                    for place, values in enumerate(by_rows)
                )
                arguments.append((self._recipes(number), int(first), function, shared, *slices))
            return self.executor.run(tasks.accumulate, arguments, tasks.merge_sums)

        return self.journal.answer((function.__name__, shared, tuple(by_rows), *self._contents), compute)

    def visit(
        self,
        function: Callable[..., Any],
        state: tuple[Any, ...],
        shared: tuple[Any, ...] = (),
        by_rows: Sequence[np.ndarray] = (),
    ) -> tuple[tuple[Any, ...], tuple[np.ndarray, ...]]:
        """The same of a function with a state that goes from tile to tile, in order: one group after the other.

        The arrays ``by_rows`` are held, and every group is an answer of the journal.
        """
        self._n_passes += 1
        parts = []
        for number, group in enumerate(self._groups):
            first, end = self._starts[group.start], self._starts[group.stop]
            here = tuple(values[first:end] for values in by_rows)

            def compute(number: int = number, state: Any = state, here: Any = here) -> tuple[tuple, tuple]:
                slices = tuple(
                    self._hold((function.__name__, place, number), values, part)
                    for place, (values, part) in enumerate(zip(by_rows, here))
                )
                arguments = [(self._recipes(number), state, function, shared, *slices)]
                return self.executor.run(tasks.visit, arguments, tasks.the_only, [number / len(self._groups)])

            state, part = self.journal.answer((function.__name__, number, state, shared, here), compute)
            parts.append(part)
        return state, tuple(np.concatenate(each) for each in zip(*parts))

    def _recipes(self, number: int) -> Held:
        return Held((self.token, "blocks", number), 0, self.blocks[self._groups[number]])

    def _hold(self, slot: tuple, whole: np.ndarray, part: np.ndarray) -> Held:
        known, version = self._known.get(slot, (None, -1))
        if known is not whole:
            version = next(self._versions)
            self._known[slot] = whole, version
        return Held((self.token, *slot), version, part)

    def _survey(self) -> tasks.Survey:
        self._n_passes += 1
        arguments = [(self._recipes(number), group.start) for number, group in enumerate(self._groups)]
        return self.executor.run(tasks.survey, arguments, tasks.merge_surveys)

    # ---------------------------------------------------------------- rows

    def __getitem__(self, positions: Any) -> Any:
        """Rows by their positions, in memory."""
        positions = np.arange(self.shape[0])[positions] if isinstance(positions, slice) else np.asarray(positions)
        if positions.dtype == bool:
            positions = np.flatnonzero(positions)
        if self._rows is not None and self.are_kept(positions):
            return self._rows[1]
        return self._take(positions)

    def in_memory_if_few(self, positions: np.ndarray | None = None) -> Any:
        """All samples, or some, for a function that looks at a thousand of them: in memory if there are no more."""
        n = self.shape[0]
        if positions is None or len(positions) == n:
            return self if n > N_SUBSAMPLE else self[:]
        return SomeRows(self, positions) if len(positions) > N_SUBSAMPLE else self[positions]

    def keep_rows(self, positions: np.ndarray) -> None:
        """Bring some rows here, to stay: those of the labeled samples, which preconditioners ask for often."""
        self._rows = positions, self._take(positions)

    def are_kept(self, positions: np.ndarray) -> bool:
        """Whether these are the rows that are here already."""
        return self._rows is not None and np.array_equal(self._rows[0], positions)

    def kept_among(self, positions: np.ndarray) -> np.ndarray | None:
        """The positions of the rows that are here already, if all of these are among them."""
        if self._rows is None or len(positions) > len(self._rows[0]):
            return None
        return self._rows[0] if np.isin(positions, self._rows[0]).all() else None

    def _take(self, positions: np.ndarray) -> Any:
        ordered, inverse = np.unique(positions, return_inverse=True)
        owner = np.searchsorted(self._starts, ordered, side="right") - 1
        arguments = []
        for number, group in enumerate(self._groups):
            wanted = {
                int(block - group.start): ordered[owner == block] - self._starts[block]
                for block in np.unique(owner[(owner >= group.start) & (owner < group.stop)])
            }
            if wanted:
                arguments.append((self._recipes(number), wanted))

        if not arguments:
            return sparse.csr_array((0, self.shape[1])) if self.is_sparse else np.zeros((0, self.shape[1]), self.dtype)
        found = self.executor.run(tasks.take, arguments, tasks.merge_lists)
        rows = sparse.csr_array(sparse.vstack(found, format="csr")) if self.is_sparse else np.concatenate(found)
        return rows if np.array_equal(ordered, positions) else rows[inverse.ravel()]

    def map(self, function: Callable[..., Any], *arguments: Any) -> BlockedSamples:
        """The table that a function makes of the rows of each block, computed once and kept on disks."""
        blocks = [MappedBlock(block, function, arguments) for block in self.blocks]
        table = BlockedSamples(blocks, self.executor, self.journal)
        self._mapped.append(table)
        return table


class SomeRows:
    """Some rows of a table, of which a few are asked for by their positions."""

    ndim = 2

    def __init__(self, X: BlockedSamples, positions: np.ndarray):
        self._X, self._positions = X, positions
        self.shape, self.dtype = (len(positions), X.shape[1]), X.dtype

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, positions: Any) -> Any:
        return self._X[self._positions[positions]]
