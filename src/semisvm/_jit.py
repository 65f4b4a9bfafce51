"""The only numba decorator of the library, and its cache switch.

Compiled functions are cached on disk, so that a second process starts without compiling. ``SEMISVM_NUMBA_CACHE=0``
switches the cache off; numba's own ``NUMBA_CACHE_DIR`` says where its files go.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable
from typing import Any

import numba

SUMS_IN_ANY_ORDER = {"reassoc", "contract", "nsz"}  # for ``fastmath``: vector instructions; NaN keeps its meaning
CACHE = os.environ.get("SEMISVM_NUMBA_CACHE", "1") != "0"
_has_warned = False


def jit(**options: Any) -> Callable[[Callable], Callable]:
    """Compile a function at its first call, without the interpreter lock and with the result cached on disk."""

    def decorate(function: Callable) -> Callable:
        if CACHE:
            try:
                return numba.njit(cache=True, nogil=True, **options)(function)
            except RuntimeError as error:
                _warn_once(str(error))
        return numba.njit(nogil=True, **options)(function)

    return decorate


def _warn_once(error: str) -> None:
    """Warn of the first function that cannot be cached: what holds for one holds for all."""
    global _has_warned
    if not _has_warned:
        _has_warned = True
        warnings.warn(
            f"semisvm cannot cache its compiled functions on disk ({error}); every process will compile them again. "
            "Set NUMBA_CACHE_DIR to a folder that can be written to.",
            stacklevel=4,
        )
