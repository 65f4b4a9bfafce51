"""The report of ``semisvm info``."""

from __future__ import annotations

import inspect
import platform
import sys
from importlib.metadata import version

from numba.core.dispatcher import Dispatcher

from .. import __version__
from ..spaces import format_bytes, memory_limit
from .methods import methods


def info_report() -> list[str]:
    """The lines of ``semisvm info``."""
    lines = [f"semisvm {__version__}, Python {platform.python_version()}"]
    lines += [f"  {name:14s}{version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba")]
    summaries = {name: (inspect.getdoc(cls) or "").partition("\n")[0] for name, cls in methods().items()}
    width = max(map(len, summaries)) + 2
    lines += ["", "Methods (--method)", *(f"  {name:{width}s}{text}" for name, text in summaries.items())]
    lines += ["", f"Cache of compiled functions: {_numba_cache()}"]
    limit = format_bytes(memory_limit()) if memory_limit() < sys.maxsize else "none"
    return [*lines, f"Memory limit of kernel matrices: {limit} (set SEMISVM_MEMORY, in bytes, to change it)"]


def _numba_cache() -> str:
    """The folders where numba keeps compiled functions."""
    modules = [module for name, module in sys.modules.items() if name.startswith("semisvm.")]
    compiled = [value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)]
    folders = {function.stats.cache_path for function in compiled if function.stats.cache_path is not None}
    return ", ".join(sorted(folders)) or "none (SEMISVM_NUMBA_CACHE=0, or no folder is writable)"
