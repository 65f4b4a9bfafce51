"""Optional packages."""

from __future__ import annotations

import importlib
from types import ModuleType


def import_optional(package: str, extra: str, needed_by: str, instead: str = "") -> ModuleType:
    """Import an optional package, or say in one sentence how to get it or do without it.

    Parameters
    ----------
    package, extra : str
        Name of the package, and the extra of semisvm that installs it.
    needed_by, instead : str
        The setting that needs it, and one that does not, if there is one.
    """
    try:
        return importlib.import_module(package)
    except ImportError:
        name, otherwise = package.partition(".")[0], f", or pass {instead}" if instead else ""
        raise ImportError(
            f"{needed_by} needs the package {name}, which is not installed: pip install 'semisvm[{extra}]'{otherwise}."
        ) from None
