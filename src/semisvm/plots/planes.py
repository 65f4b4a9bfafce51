"""A plane through the samples: the pair of features, its grid, and the density of samples on it."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy import sparse

from .fitted import check_finite

BLOCK = 4096  # samples whose kernels are held at a time
NARROWER = 0.5  # times Scott's bandwidth, which is too wide for several clusters


class Plane(NamedTuple):
    """Two features of all samples, and all features of the points of a grid in which the others are medians."""

    samples: np.ndarray  # (n, 2)
    names: tuple[str, str]
    x0: np.ndarray
    x1: np.ndarray
    points: Any  # (n1 n0, n_features), a data frame if the samples are
    has_others: bool


def make_plane(X: Any, features: Sequence[Any] | None, n_points: int, padding: float) -> Plane:
    """The grid of a pair of features, wider than the samples by a share of their range on each side."""
    values = _as_array(X)
    names = list(X.columns) if hasattr(X, "columns") else [f"feature {i}" for i in range(values.shape[1])]
    pair = _check_pair(features, names, values.shape[1])
    samples = values[:, pair]
    low, high = samples.min(axis=0), samples.max(axis=0)
    width = np.where(high > low, high - low, 1.0)
    x0, x1 = (np.linspace(low[i] - padding * width[i], high[i] + padding * width[i], n_points) for i in (0, 1))
    points = np.tile(np.median(values, axis=0), (n_points**2, 1))
    points[:, pair] = np.column_stack([one.ravel() for one in np.meshgrid(x0, x1)])
    if hasattr(X, "columns"):  # pandas or polars
        points = type(X)(dict(zip(X.columns, points.T)))
    shown = (str(names[pair[0]]), str(names[pair[1]]))
    return Plane(samples, shown, x0, x1, points, values.shape[1] > 2)


def kernel_density(samples: np.ndarray, x0: np.ndarray, x1: np.ndarray) -> np.ndarray:
    """Density of samples in the plane at the points of a grid, shape (n1, n0), by Gaussian kernels.

    The bandwidth of each feature is half of Scott's, at least the distance of two points of the grid.

    References
    ----------
    D. W. Scott, "Multivariate Density Estimation", Wiley, 1992. https://doi.org/10.1002/9780470316849
    """
    n = len(samples)
    widths = NARROWER * n ** (-1.0 / 6.0) * samples.std(axis=0)
    widths = np.maximum(widths, [np.diff(x0).max(), np.diff(x1).max()])
    density = np.zeros((len(x1), len(x0)))
    for begin in range(0, n, BLOCK):
        part = samples[begin : begin + BLOCK]
        along0 = np.exp(-0.5 * ((part[:, :1] - x0) / widths[0]) ** 2)
        along1 = np.exp(-0.5 * ((part[:, 1:] - x1) / widths[1]) ** 2)
        density += along1.T @ along0
    return density / (2.0 * np.pi * widths.prod() * n)


def _as_array(X: Any) -> np.ndarray:
    """All features of all samples, finite."""
    try:
        values = np.asarray(X.toarray() if sparse.issparse(X) else X, dtype=float)
    except (TypeError, ValueError):
        raise ValueError("X holds values that are not numbers; a boundary is drawn over features of numbers.") from None
    if values.ndim != 2:
        raise ValueError(f"X has the shape {values.shape}; pass one of (number of samples, number of features).")
    check_finite(values)
    return values


def _check_pair(features: Sequence[Any] | None, names: list[Any], d: int) -> list[int]:
    """Positions of two features, given by position or by name."""
    if d < 2:
        raise ValueError(f"X has {d} feature and a plane has 2; use MarginHistogramDisplay for this estimator.")
    if features is None:
        if d == 2:
            return [0, 1]
        raise ValueError(
            f"X has {d} features and a plane has 2; pass features=(i, j), two of 0 to {d - 1} or their names. The "
            "others are set to their medians."
        )
    given = [features] if isinstance(features, str) else list(features)
    pair = [names.index(one) if one in names else one for one in given]
    is_known = [isinstance(one, int | np.integer) and not isinstance(one, bool) and 0 <= one < d for one in pair]
    if len(pair) != 2 or not all(is_known) or pair[0] == pair[1]:
        raise ValueError(
            f"features={features!r} is not allowed; features takes two different ones, positions from 0 to {d - 1} or "
            "names of columns."
        )
    return [int(one) for one in pair]
