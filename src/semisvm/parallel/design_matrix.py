"""Products with samples in blocks: what the batch engine asks a design matrix for, computed where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..spaces import DesignMatrix
from ..spaces.design_matrix import State, Visit, Visited
from . import tasks
from .samples import BlockedSamples

FEW = 0.1  # of the samples: so many are read one by one
FEW_ENTRIES = 2**22  # unless they have more entries in all


class BlockedDesign(DesignMatrix):
    """X in blocks and its products.

    Parameters
    ----------
    X : BlockedSamples
        The samples.
    """

    has_rows = False
    in_memory = False

    def __init__(self, X: BlockedSamples):
        self.X = X
        self.sparse = X.is_sparse
        self.n, self.d = X.shape
        self.size = X.survey.size
        self._curvature: np.ndarray | None = None  # of the last Hessian product

    def product(self, V: np.ndarray) -> np.ndarray:
        """X V."""
        return self.X.sum_over_rows(tasks.product, (V,))[1][0]

    def partial_product(self, V: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """X V at the samples where the mask ``wanted`` is true; 0 at the others."""
        found = self.X.sum_over_rows(tasks.partial_product, (V,), (wanted,))[1][0]
        return _spread(found, tasks.mask_of(wanted), 0.0)

    def adjoint(self, P: np.ndarray) -> np.ndarray:
        """X'P; without a pass where P is zero but at samples that are kept in memory."""
        rows = np.flatnonzero(tasks.mask_of(P))
        if not len(rows):
            return np.zeros((self.d, *P.shape[1:]))
        kept = self.X.kept_among(rows)
        if kept is not None:
            return DesignMatrix(self.X[kept]).adjoint(P[kept])
        return self.X.sum_over_rows(tasks.adjoint, (), (P,))[0][0]

    def weighted_squares(self, H: np.ndarray) -> np.ndarray:
        """Sums of H x^2 over the samples for every feature, for each column of H."""
        return self.X.sum_over_rows(tasks.weighted_squares, (), (H,))[0][0]

    def hessian_product(self, V: np.ndarray, shift: Any, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X'(H o (X V + shift)), the sums of H o (X V + shift), and X V + shift, or nan where H is zero.

        The first product with an H brings X V + shift everywhere: many a Newton step is over after it, and then takes
        no pass for the other samples.
        """
        is_first, self._curvature = H is not self._curvature, H
        answer = self.X.sum_over_rows(tasks.hessian_product, (V, shift, is_first), (H,), held=True)
        (image, total), (scores,) = answer
        return image, total, scores if is_first else _spread(scores, tasks.mask_of(H), np.nan)

    def accumulate(self, function: Callable[..., tuple], *shared: Any) -> tuple:
        """The sums over tiles of rows of what ``function(rows, first_row, *shared)`` returns."""
        return self.X.sum_over_rows(tasks.summed, (function, *shared))[0]

    def squared_norms(self) -> np.ndarray:
        """Squared norms of the samples."""
        return self.X.sum_over_rows(tasks.norms)[1][0]

    def weighted_gram(self, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'diag(c)X and X'c."""
        gram, sums = self.X.sum_over_rows(tasks.weighted_gram, (), (cost,))[0]
        return gram, sums

    def mapped_norms(self, T: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Squared norms of the rows of X T + shift."""
        return self.X.sum_over_rows(tasks.mapped_norms, (T, shift))[1][0]

    def visit(self, function: Visit, state: State, shared: tuple[Any, ...], by_rows: tuple[np.ndarray, ...]) -> Visited:
        """Visit the samples once, in order and by blocks of rows, with a state that goes from block to block."""
        return self.X.visit(function, state, shared, by_rows)

    def take(self, samples: np.ndarray) -> DesignMatrix:
        """Some of the samples, in ascending order; in memory if they are few."""
        if len(samples) == self.n:
            return self
        return DesignMatrix(self.X[samples]) if self._are_few(len(samples)) else PartOfDesign(self, samples)

    def _are_few(self, n_samples: int) -> bool:
        """Whether so many samples may as well be in memory."""
        return n_samples <= FEW * self.n and n_samples * self.size <= FEW_ENTRIES * self.n

    @cached_property
    def max_norm(self) -> float:
        """The largest norm of a sample."""
        return float(np.sqrt(self.X.survey.max_square))

    @cached_property
    def unit(self) -> float:
        """The power of two nearest to the root mean square of the norms of the samples; 1 if all are zero."""
        squares = self.X.survey.squares
        return float(np.exp2(np.round(np.log2(np.sqrt(squares / self.n))))) if squares > 0.0 else 1.0


class PartOfDesign(DesignMatrix):
    """Some samples of a table in blocks: the products of all of them, with zeros at the others.

    Parameters
    ----------
    whole : BlockedDesign
        All samples.
    samples : int array
        Which ones, in ascending order.
    """

    has_rows = False
    in_memory = False

    def __init__(self, whole: BlockedDesign, samples: np.ndarray):
        self.whole, self.samples = whole, samples
        self.sparse, self.n, self.d = whole.sparse, len(samples), whole.d
        self.size = whole.size * self.n // whole.n

    def product(self, V: np.ndarray) -> np.ndarray:
        """X V."""
        return self.whole.product(V)[self.samples]

    def adjoint(self, P: np.ndarray) -> np.ndarray:
        """X'P."""
        return self.whole.adjoint(self._among_all(P))

    def weighted_gram(self, cost: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """X'diag(c)X and X'c."""
        return self.whole.weighted_gram(self._among_all(cost))

    def mapped_norms(self, T: np.ndarray, shift: np.ndarray) -> np.ndarray:
        """Squared norms of the rows of X T + shift."""
        return self.whole.mapped_norms(T, shift)[self.samples]

    def visit(self, function: Visit, state: State, shared: tuple[Any, ...], by_rows: tuple[np.ndarray, ...]) -> Visited:
        """Visit all samples; ``by_rows`` are zero at the others."""
        state, parts = self.whole.visit(function, state, shared, tuple(self._among_all(values) for values in by_rows))
        return state, tuple(values[self.samples] for values in parts)

    def take(self, samples: np.ndarray) -> DesignMatrix:
        """Some of the samples, in ascending order."""
        return self if len(samples) == self.n else self.whole.take(self.samples[samples])

    def samples_at(self, positions: np.ndarray) -> Any:
        """Rows of X, in memory."""
        return self.whole.samples_at(self.samples[positions])

    @property
    def max_norm(self) -> float:
        """The largest norm of a sample, or more."""
        return self.whole.max_norm

    def _among_all(self, values: np.ndarray) -> np.ndarray:
        out = np.zeros((self.whole.n, *values.shape[1:]), dtype=values.dtype)
        out[self.samples] = values
        return out


def _spread(found: np.ndarray, mask: np.ndarray, elsewhere: float) -> np.ndarray:
    """An array over all samples from its rows at a mask."""
    out = np.full((len(mask), *found.shape[1:]), elsewhere)
    out[mask] = found
    return out
