"""Versions, methods, and where things are kept."""

from __future__ import annotations

import platform
import sys
from importlib.metadata import version

from .. import __version__
from ..spaces import gram_limit
from .methods import methods, one_line


def info_report() -> list[str]:
    """The lines of ``semisvm info``."""
    lines = [f"semisvm {__version__}, Python {platform.python_version()}"]
    lines += [f"  {name:14s}{version(name)}" for name in ("numpy", "scipy", "scikit-learn", "numba")]
    known = methods()
    width = max(map(len, known)) + 2
    lines += ["", "Methods (--method)", *(f"  {name:{width}s}{one_line(cls)}" for name, cls in known.items())]
    lines += ["", f"Compiled loops: {_compiled()}"]
    return [*lines, f"Memory for kernel values: {gram_limit() / 2**30:.1f} GiB (SEMISVM_MEMORY, in bytes, changes it)"]


def _compiled() -> str:
    """The folders where numba keeps what it compiled."""
    folders = set()
    for name, module in list(sys.modules.items()):
        if name.startswith("semisvm."):
            stats = (getattr(value, "stats", None) for value in vars(module).values())
            folders |= {path for path in (getattr(one, "cache_path", None) for one in stats) if path}
    return ", ".join(sorted(folders)) or "not kept on disk (SEMISVM_NUMBA_CACHE=0, or no folder can be written to)"
