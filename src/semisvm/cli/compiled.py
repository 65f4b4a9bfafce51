"""The compiled functions of the package that this process has loaded."""

from __future__ import annotations

import sys

from numba.core.dispatcher import Dispatcher


def compiled_functions() -> list[Dispatcher]:
    """All of them, once."""
    modules = [module for name, module in sys.modules.items() if name.startswith("semisvm.")]
    found = {id(value): value for module in modules for value in vars(module).values() if isinstance(value, Dispatcher)}
    return list(found.values())
