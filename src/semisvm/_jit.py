"""The only numba decorator of the library, and its cache switch.

Compiled loops are kept on disk, so that a second process starts without compiling. ``SEMISVM_NUMBA_CACHE=0``
switches that off; numba's own ``NUMBA_CACHE_DIR`` says where the files go.
"""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable

import numba

CACHE = os.environ.get("SEMISVM_NUMBA_CACHE", "1") != "0"


def jit(**options) -> Callable[[Callable], Callable]:
    """Compile a function at its first call, without the interpreter and with the result kept on disk."""

    def decorate(function: Callable) -> Callable:
        if CACHE:
            try:
                return numba.njit(cache=True, nogil=True, **options)(function)
            except RuntimeError as no_folder:
                warnings.warn(
                    f"semisvm cannot keep its compiled loops on disk ({no_folder}); every process will compile "
                    "them again. Set NUMBA_CACHE_DIR to a folder that can be written to.",
                    stacklevel=3,
                )
        return numba.njit(nogil=True, **options)(function)

    return decorate
