"""Products with samples in blocks: what the batch engine asks a design matrix for, computed where the rows are."""

from __future__ import annotations

from collections.abc import Callable
from functools import cached_property
from typing import Any

import numpy as np

from ..spaces import DesignMatrix
from . import tasks
from .samples import BlockedSamples


class BlockedDesign(DesignMatrix):
    """X in blocks and its products.

    Parameters
    ----------
    X : BlockedSamples
        The samples.
    """

    has_rows = False

    def __init__(self, X: BlockedSamples):
        self.X = X
        self.sparse = X.is_sparse
        self.n, self.d = X.shape
        self.size = X.survey.size

    def product(self, V: np.ndarray) -> np.ndarray:
        """X V."""
        return self.X.sum_over_rows(tasks.product, (V,))[1][0]

    def partial_product(self, V: np.ndarray, wanted: np.ndarray) -> np.ndarray:
        """X V at the samples where the mask ``wanted`` is true; 0 at the others."""
        found = self.X.sum_over_rows(tasks.partial_product, (V,), (wanted,))[1][0]
        return _spread(found, tasks.mask_of(wanted), 0.0)

    def adjoint(self, P: np.ndarray) -> np.ndarray:
        """X'P."""
        return self.X.sum_over_rows(tasks.adjoint, (), (P,))[0][0]

    def weighted_squares(self, H: np.ndarray) -> np.ndarray:
        """Sums of H x^2 over the samples for every feature, for each column of H."""
        return self.X.sum_over_rows(tasks.weighted_squares, (), (H,))[0][0]

    def hessian_product(self, V: np.ndarray, shift: Any, H: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """X'(H o (X V + shift)), the sums of H o (X V + shift), and X V + shift, or nan where H is zero."""
        (image, total), (scores,) = self.X.sum_over_rows(tasks.hessian_product, (V, shift), (H,), held=True)
        return image, total, _spread(scores, tasks.mask_of(H), np.nan)

    def accumulate(self, function: Callable[..., tuple], *shared: Any) -> tuple:
        """The sums over tiles of rows of what ``function(rows, first_row, *shared)`` returns."""
        return self.X.sum_over_rows(tasks.summed, (function, *shared))[0]

    def squared_norms(self) -> np.ndarray:
        """Squared norms of the samples."""
        return self.X.sum_over_rows(tasks.norms)[1][0]

    @cached_property
    def max_norm(self) -> float:
        """The largest norm of a sample."""
        return float(np.sqrt(self.X.survey.max_square))

    @cached_property
    def unit(self) -> float:
        """The power of two nearest to the root mean square of the norms of the samples; 1 if all are zero."""
        squares = self.X.survey.squares
        return float(np.exp2(np.round(np.log2(np.sqrt(squares / self.n))))) if squares > 0.0 else 1.0


def _spread(found: np.ndarray, mask: np.ndarray, elsewhere: float) -> np.ndarray:
    """An array over all samples from its rows at a mask."""
    out = np.full((len(mask), *found.shape[1:]), elsewhere)
    out[mask] = found
    return out
