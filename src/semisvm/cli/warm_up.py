"""``semisvm info --warm-up``: compile what fits use, so that the first one in a container does not."""

from __future__ import annotations

import time
import warnings
from typing import Any

import numpy as np
from numba.core.dispatcher import Dispatcher
from scipy import sparse

from ..datasets import hide_labels, make_two_gaussians
from .compiled import compiled_functions
from .methods import methods
from .progress import ProgressDisplay

N_SAMPLES, N_LABELED, N_FEATURES = 24, 16, 3
MAX_TIME = 2.0  # seconds of a fit, by which all its functions have been called


def warm_up(display: ProgressDisplay) -> dict[str, Any]:
    """Fit every method to small data, dense and sparse, and say how many functions were compiled."""
    X, y = make_two_gaussians(N_SAMPLES, N_FEATURES, random_state=0)
    y = hide_labels(y, N_LABELED, random_state=0)
    start, every = time.perf_counter(), methods()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # of data that are too small for anything but this
        for number, (name, cls) in enumerate(every.items()):
            display.begin(f"compiling {name}, {number + 1} of {len(every)}")
            for samples in (X, sparse.csr_matrix(X)):
                _use(cls(), samples, y)
    counts = [_count(function) for function in compiled_functions()]
    return {"seconds": time.perf_counter() - start, "compiled": sum(n for n, _ in counts),
            "already_there": sum(n for _, n in counts)}  # fmt: skip


def _use(estimator: Any, X: Any, y: np.ndarray) -> None:
    limits = {"max_time": MAX_TIME} if "max_time" in estimator.get_params() else {}
    estimator.set_params(**limits).fit(X, y).predict(X)


def _count(function: Dispatcher) -> tuple[int, int]:
    """How many versions of a function were compiled in this process, and how many were read from disk."""
    return sum(function.stats.cache_misses.values()), sum(function.stats.cache_hits.values())
