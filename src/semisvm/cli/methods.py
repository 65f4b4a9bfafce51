"""Names of the methods on the command line, derived from the registry of estimators."""

from __future__ import annotations

import inspect
import re

from ..estimators import ESTIMATORS
from ..self_training import WRAPPERS
from . import InputError


def short_name(class_name: str) -> str:
    """CCCPTSVM is cccp, RampSVM ramp, MultiSwitchTSVM multi-switch, SwitchingLSSVM switching-ls.

    Parameters
    ----------
    class_name : str
        Name of an estimator.

    Returns
    -------
    str
    """
    base = re.sub(r"(?<=.)(TSVM|SVM)$", "", class_name)
    base = re.sub(r"(?<=[A-Za-z])LS$", "-LS", base)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", base).lower()


def methods(registry: dict[str, type] | None = None) -> dict[str, type]:
    """Estimators by their short name.

    Parameters
    ----------
    registry : dict, optional
        Estimators by class name; ``ESTIMATORS`` and ``WRAPPERS`` if None.
    """
    return {short_name(name): cls for name, cls in ((ESTIMATORS | WRAPPERS) if registry is None else registry).items()}


def find_method(name: str) -> type:
    """The estimator of a short name or class name; capitals, hyphens and underscores do not matter."""

    def normalized(text: str) -> str:
        return re.sub(r"[\s_-]", "", text).lower()

    by_name = methods()
    for short, cls in by_name.items():
        if normalized(name) in (normalized(short), normalized(cls.__name__)):
            return cls
    raise InputError(f"--method {name} is not known; pass one of {', '.join(by_name)} (semisvm info describes them).")


def summary(cls: type) -> str:
    """The first line of a docstring."""
    return (inspect.getdoc(cls) or "").partition("\n")[0]
