"""The learning curve so far, and what more labels would bring."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.special import ndtri
from sklearn.utils import check_array, check_random_state

from .._validation import check_integer, check_number
from .._validation.labels import encode_labels_of
from .power_law import PowerLaw, Prior, fit_power_law
from .subset_errors import held_out_errors

MIN_LABELS = 30  # below, the interval is wider than most errors
PRIOR = Prior(np.log(0.15), 1.0, 0.45, 0.25)
NOISE = 0.7  # of a model: deviation of the change of its error, in units of the root of (error / labels)


@dataclass(frozen=True)
class ExpectedGain:
    """What more labels would bring, in numbers and in one sentence.

    Attributes
    ----------
    n_labels, n_more : int
        Labels at hand, and how many more there would be.
    sizes, errors : tuple of int and of float
        The learning curve so far: numbers of labels, and errors on labeled samples that were held out.
    error : float or None
        Expected error with all labels at hand; None if they are too few to tell.
    gain : float or None
        By how much the error is expected to fall.
    low, high : float or None
        Interval of what the error of one model really falls by; below 0 it rises.
    level : float
        The share of cases in which the interval is to hold it.
    conclusion : str
        One sentence.
    """

    n_labels: int
    n_more: int
    sizes: tuple[int, ...]
    errors: tuple[float, ...]
    error: float | None
    gain: float | None
    low: float | None
    high: float | None
    level: float
    conclusion: str

    def __str__(self) -> str:
        curve = ", ".join(f"{100 * error:.1f}% with {size}" for size, error in zip(self.sizes, self.errors))
        return f"{self.conclusion}\nheld-out errors so far: {curve}" if curve else self.conclusion


def expected_gain(
    X: Any, y: Any, n: int = 20, *, level: float = 0.8, unlabeled: Any = -1, random_state: Any = None
) -> ExpectedGain:
    r"""By how much n more labels would lower the error, with an interval.

    A small semi-supervised model, ``CCCPTSVM`` with a Gaussian kernel, is fitted to random parts of the labels and
    tested on the others. A power law is fitted to its errors (:mod:`semisvm.ensemble.power_law`) and extrapolated to n
    more labels of random samples. The interval is that of one more fit with labels of one more draw, whose error varies
    by itself; with few labels it is wide, and reaches below zero. At 50 labels it is of more use than the expected gain
    itself: what 20 labels bring to one model is mostly chance.

    Parameters
    ----------
    X : array, DataFrame or CSR of shape (n_samples, n_features)
        The samples, labeled and unlabeled.
    y : array-like of shape (n_samples,)
        Labels; None, NaN and the marker for samples without one.
    n : int, default=20
        Number of more labels.
    level : float, default=0.8
        Share of cases in which the interval is to hold the gain.
    unlabeled : object, default=-1
        Marker of samples without a label.
    random_state : int, RandomState or None, default=None
        For the parts of the labels.

    Returns
    -------
    ExpectedGain

    References
    ----------
    T. Viering and M. Loog, "The shape of learning curves: a review", IEEE Transactions on Pattern Analysis and Machine
    Intelligence 45(6), 2023. https://arxiv.org/abs/2103.10948

    Examples
    --------
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> from semisvm.ensemble import expected_gain
    >>> X, y = make_two_gaussians(300, random_state=0)
    >>> expected_gain(X, hide_labels(y, 10, random_state=0)).conclusion
    'too few labels to tell: there are 10, and at least 30 are needed'
    >>> found = expected_gain(X, hide_labels(y, 50, random_state=0), n=20, random_state=0)
    >>> found.low < found.gain < found.high
    True
    """
    n, level = check_integer("n", n), float(check_number("level", level, 0.0, 1.0))
    X = check_array(X, accept_sparse="csr", dtype=[np.float64, np.float32])
    codes = encode_labels_of(X.shape[0], y, unlabeled).codes
    n_labels, n_classes = int((codes >= 0).sum()), int(codes.max()) + 1
    if n_classes < 2:
        raise ValueError("y holds only one class; labels of two or more are needed to count errors.")
    needed = max(MIN_LABELS, 4 * n_classes)
    if n_labels < needed:
        conclusion = f"too few labels to tell: there are {n_labels}, and at least {needed} are needed"
        return ExpectedGain(n_labels, n, (), (), None, None, None, None, level, conclusion)
    rng = np.random.default_rng(check_random_state(random_state).randint(2**31))
    sizes, errors, n_used = held_out_errors(X, codes, rng)
    curve = fit_power_law(sizes, errors, np.full(len(sizes), n_used / len(sizes)), n_labels, PRIOR)
    return _extrapolate(curve, n_labels, n, sizes, errors, level)


def _extrapolate(
    curve: PowerLaw, n_labels: int, n: int, sizes: np.ndarray, errors: np.ndarray, level: float
) -> ExpectedGain:
    """The gain by a learning curve, with an interval and in words."""
    gain, deviation = curve.gain(n)
    spread = ndtri(0.5 + level / 2) * np.hypot(deviation, NOISE * np.sqrt(curve.error / n_labels))
    low, high = gain - spread, min(gain + spread, curve.error)
    conclusion = (
        f"{n} more labels are expected to lower the error from {100 * curve.error:.1f}% to "
        f"{100 * (curve.error - gain):.1f}%: by {100 * gain:.1f} points, and in {100 * level:.0f}% of cases by "
        f"{100 * low:.1f} to {100 * high:.1f}"
    )
    found = tuple(int(size) for size in sizes), tuple(float(error) for error in errors)
    return ExpectedGain(n_labels, n, *found, curve.error, gain, float(low), float(high), level, conclusion)
