"""Ties: scores that differ by rounding error count as equal, and of equal classes the first one wins.

Which of two such scores is the larger one depends on the order in which a sum was computed, and so on the order of the
samples. Scores are made equal here, before probabilities, decisions and labels are computed from them: these agree.
"""

from __future__ import annotations

import numpy as np

from ..balance import SCORE_ROUNDING


def merge_zeros(scores: np.ndarray, size: float) -> np.ndarray:
    """Scores of binary tasks, zero where they are rounding error.

    Parameters
    ----------
    scores : array
        f, zero on the boundary between two classes.
    size : float
        The largest score at the training samples.
    """
    return np.where(np.abs(scores) <= SCORE_ROUNDING * size, 0.0, scores)


def merge_ties(scores: np.ndarray, size: float) -> np.ndarray:
    """Scores with a column per class, those next to the largest one of a sample equal to it; ``size`` as above."""
    largest = scores.max(axis=1, keepdims=True)
    return np.where(scores >= largest - SCORE_ROUNDING * size, largest, scores)


def winners(scores: np.ndarray) -> np.ndarray:
    """Positions of the winning classes, the first one of equal ones.

    The sign of a single column, zero going to the first class, or the largest of several columns (last axis).
    """
    return (scores[..., 0] > 0).astype(int) if scores.shape[-1] == 1 else scores.argmax(axis=-1)
