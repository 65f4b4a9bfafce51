r"""Averaging separators instead of choosing one.

A separator j has two measures: its error on labeled samples that were held out, :math:`e_j`, and its instability,
the share :math:`s_j` of the unlabeled samples on which the model of a fold and that of all labels differ. With l labels

.. math:: w_j \propto \exp(-2 \sqrt l\, (e_j + s_j)), \qquad S = \sum_j w_j \tanh(f_j / \overline{|f_j|}),

with means of :math:`|f_j|` over the unlabeled samples. The best separator by either measure is worse than the
supervised model more often than the average is.
"""

from __future__ import annotations

import numpy as np

SHARPNESS = 2.0
NEGLIGIBLE = 1e-3  # weights below this are zero


def separator_weights(errors: np.ndarray, instability: np.ndarray, n_labels: float) -> np.ndarray:
    """Weights of the separators, one in sum.

    Parameters
    ----------
    errors, instability : arrays of shape (n_separators,)
        Held-out errors, and shares of unlabeled samples whose class depends on the fold.
    n_labels : float
        Number of labels.
    """
    exponent = -SHARPNESS * np.sqrt(n_labels) * (errors + instability)
    weights = np.exp(exponent - exponent.max())
    weights /= weights.sum()
    weights[weights < NEGLIGIBLE] = 0.0
    return weights / weights.sum()


def squash(scores: np.ndarray, sizes: np.ndarray) -> np.ndarray:
    """tanh(f / size); scores of size zero stay zero."""
    return np.tanh(scores / np.where(sizes > 0.0, sizes, 1.0))


def centered(scores: np.ndarray) -> np.ndarray:
    """Scores of two classes as they are, in one column; of several, a row's minus their mean."""
    return scores if scores.shape[1] == 1 else scores - scores.mean(axis=1, keepdims=True)


def margins(scores: np.ndarray) -> np.ndarray:
    """How far the winning class is ahead: the absolute score, or the best minus the second of several (last axis)."""
    if scores.shape[-1] == 1:
        return np.abs(scores[..., 0])
    ordered = np.sort(scores, axis=-1)
    return ordered[..., -1] - ordered[..., -2]
