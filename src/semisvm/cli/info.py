"""The report of ``semisvm info``."""

from __future__ import annotations

import inspect
import platform
import sys
from importlib.metadata import version
from typing import Any

from .. import __version__
from ..spaces import format_bytes, memory_limit
from .compiled import compiled_functions
from .methods import methods
from .terminal import format_seconds

NO_CACHE = "none (SEMISVM_NUMBA_CACHE=0, or no folder is writable)"


def info_content() -> dict[str, Any]:
    """What ``semisvm info`` prints."""
    limit = memory_limit()
    return {
        "semisvm": __version__,
        "python": platform.python_version(),
        "packages": {name: version(name) for name in ("numpy", "scipy", "scikit-learn", "numba")},
        "methods": {name: (inspect.getdoc(cls) or "").partition("\n")[0] for name, cls in methods().items()},
        "compiled_functions": _numba_caches(),
        "memory_limit": limit if limit < sys.maxsize else None,
    }


def info_lines(content: dict[str, Any]) -> list[str]:
    """The lines of ``semisvm info``."""
    lines = [f"semisvm {content['semisvm']}, Python {content['python']}"]
    lines += [f"  {name:14s}{number}" for name, number in content["packages"].items()]
    width = max(map(len, content["methods"])) + 2
    lines += ["", "Methods (--method)", *(f"  {name:{width}s}{text}" for name, text in content["methods"].items())]
    folders = ", ".join(content["compiled_functions"])
    lines += ["", f"Cache of compiled functions: {folders or NO_CACHE}"]
    limit = "none" if content["memory_limit"] is None else format_bytes(content["memory_limit"])
    lines += [f"Memory limit of kernel matrices: {limit} (set SEMISVM_MEMORY, in bytes, to change it)"]
    if "warm_up" in content:
        found = content["warm_up"]
        lines += [f"Compiled {found['compiled']} functions in {format_seconds(found['seconds'])}; "
                  f"{found['already_there']} were there."]  # fmt: skip
    return lines


def _numba_caches() -> list[str]:
    """The folders where numba keeps compiled functions."""
    return sorted({function.stats.cache_path for function in compiled_functions() if function.stats.cache_path})
