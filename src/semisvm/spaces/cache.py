"""Kernel matrices and features that are computed once for several fits.

What a fit computes from its samples alone - gamma, the kernel matrix, features in place of it, and what the space
remembers - is kept under a key: a hash of the values of the samples, and all parameters that the result depends on.
The hash takes a pass over X, so that samples that were changed in place are other samples. Labels are no part of a
space; where it depends on which samples have one (landmarks among these), so does the key.
"""

from __future__ import annotations

import hashlib
import sys
import threading
from collections.abc import Callable, Hashable
from typing import Any, TypeVar

import numpy as np
from scipy import sparse

from .._validation import Options, Real, check_value
from .base import Memo, memory_limit

ENTRY_BYTES = 1000  # what a key and a number take, about

Value = TypeVar("Value")


class _Results(Memo):
    """Any number of results, within a limit of their size."""

    N_KEPT = sys.maxsize

    def keep_limit(self, limit: float, last: tuple) -> None:
        """Drop the least recently used results, the last one excepted, until the rest keep a limit of bytes."""
        seen: set[int] = set()
        with self._guard:
            sizes = {key: ENTRY_BYTES + held_bytes(entry[1], seen) for key, entry in self._kept.items()}
            total = sum(sizes.values())
            for key, size in sizes.items():
                if total > limit and key != last:
                    total -= size
                    del self._kept[key]


class KernelCache:
    """Keeps kernel matrices, and features that stand for kernels, for several fits to the same samples.

    Pass one cache to all estimators that may share: several methods, a grid of C, the folds of a cross-validation.
    ``clone``, and with it ``GridSearchCV``, hands on the cache itself. A fit uses what an earlier one has computed if
    the values of its samples, its kernel and its approximation are the same; its model is the one without a cache, up
    to rounding (``RampSVM(init="subset")`` of many samples: up to its tolerance, since a matrix that is there changes
    the order of its steps). Threads share matrices and processes do not; a saved estimator has an empty cache.

    With ``random_state=None`` fits share the landmarks that the first one has drawn. A kernel that is a function is
    evaluated in every fit: nothing says whether it would still return the same values.

    Parameters
    ----------
    max_bytes : float or None
        Beyond this size the results that were not used for the longest time are dropped; None for the limit of a
        kernel matrix, see :mod:`semisvm.spaces.base`. What the last fit uses stays.

    Attributes
    ----------
    n_computed, n_reused : int
        How many results (a gamma, a total variance, a kernel matrix, features) were computed, and how many were there.

    Examples
    --------
    >>> from semisvm import CCCPTSVM, KernelCache, SwitchingTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(100, 5, random_state=0)
    >>> y_partial, cache = hide_labels(y, 10, random_state=0), KernelCache()
    >>> models = [CCCPTSVM(C, cache=cache).fit(X, y_partial) for C in (1.0, 10.0, 100.0)]
    >>> model = SwitchingTSVM(1.0, cache=cache).fit(X, y_partial)
    >>> cache.n_computed, cache.n_reused  # gamma and kernel matrix of four fits
    (2, 6)
    """

    def __init__(self, max_bytes: float | None = None):
        self.max_bytes = check_value("max_bytes", max_bytes, [Real(0.0, closed="both"), Options([None])])
        self.n_computed = self.n_reused = 0
        self._lock = threading.Lock()
        self.clear()

    def clear(self) -> None:
        """Drop all results; what models hold stays."""
        self._results = _Results()

    def _once(self, key: tuple, make: Callable[[], Value]) -> Value:
        """The result for this key, computed now if it is not there."""
        computed = []

        def compute() -> Value:
            computed.append(make())
            return computed[0]

        results = self._results
        value = results.once(key, compute)
        with self._lock:
            self.n_computed += len(computed)
            self.n_reused += 1 - len(computed)
        results.keep_limit(memory_limit() if self.max_bytes is None else self.max_bytes, key)
        return value

    def __sklearn_clone__(self) -> KernelCache:
        return self

    def __getstate__(self) -> dict[str, Any]:
        return {"max_bytes": self.max_bytes}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__init__(**state)  # type: ignore[misc]

    def __repr__(self) -> str:
        return "KernelCache()" if self.max_bytes is None else f"KernelCache(max_bytes={self.max_bytes!r})"


class SampleResults:
    """What is computed from some samples: once where there is a cache, every time where there is none.

    Parameters
    ----------
    X : array or CSR
        The samples.
    cache : KernelCache or None
        Where results are kept.
    """

    def __init__(self, X: Any, cache: KernelCache | None):
        self._X, self._cache = X, cache
        self._digest = b"" if cache is None else digest(X)

    def once(self, key: tuple, make: Callable[[Any], Value], holds_samples: bool = False) -> Value:
        """``make`` of the samples.

        Parameters
        ----------
        key : tuple
            All that the result depends on besides the samples; of arrays their values count.
        make : callable
            Computes the result.
        holds_samples : bool
            Whether the result refers to the samples; what is kept has a copy, since the user's array may change.
        """
        if self._cache is None:
            return make(self._X)
        parts = (part if isinstance(part, Hashable) else digest(part) for part in key)
        return self._cache._once((*parts, self._digest), lambda: make(self._X.copy() if holds_samples else self._X))


def digest(values: Any) -> bytes:
    """A hash of the values of an array or CSR, its shape and types: about a second for a gigabyte."""
    parts = [values.data, values.indices, values.indptr] if sparse.issparse(values) else [np.asarray(values)]
    found = hashlib.sha256(repr([values.shape, *((part.dtype.str, part.shape) for part in parts)]).encode())
    for part in parts:
        found.update(np.ascontiguousarray(part).data)
    return found.digest()


def held_bytes(value: Any, seen: set[int]) -> int:
    """Size of all arrays that an object holds, in its attributes and theirs; those in ``seen`` are counted already."""
    if id(value) in seen:
        return 0
    seen.add(id(value))
    if isinstance(value, np.ndarray):
        return held_bytes(value.base, seen) if isinstance(value.base, np.ndarray) else value.nbytes
    if isinstance(value, list | tuple):
        parts = list(value)
    else:
        parts = list((value if isinstance(value, dict) else getattr(value, "__dict__", {})).values())
    return sum(held_bytes(part, seen) for part in parts)
