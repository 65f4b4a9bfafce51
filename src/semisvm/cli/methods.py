"""Names of the methods on the command line, derived from the registry of estimators."""

from __future__ import annotations

import re

from ..ensemble import ENSEMBLES
from ..estimators import ESTIMATORS
from ..self_training import WRAPPERS
from . import InputError


def short_name(class_name: str) -> str:
    """Name of an estimator on the command line: CCCPTSVM is cccp, RampSVM ramp, SwitchingLSSVM switching-ls."""
    base = re.sub(r"(?<=.)(TSVM|SVM)$", "", class_name)
    base = re.sub(r"(?<=[A-Za-z])LS$", "-LS", base)
    return re.sub(r"(?<=[a-z])(?=[A-Z])", "-", base).lower()


def methods() -> dict[str, type]:
    """All estimators by their short name."""
    return {short_name(name): cls for name, cls in (ENSEMBLES | ESTIMATORS | WRAPPERS).items()}


def find_method(name: str) -> type:
    """The estimator of a short name or class name; capitals, hyphens and underscores do not matter."""

    def normalized(text: str) -> str:
        return re.sub(r"[\s_-]", "", text).lower()

    by_name = methods()
    for short, cls in by_name.items():
        if normalized(name) in (normalized(short), normalized(cls.__name__)):
            return cls
    raise InputError(f"--method {name} is not known; pass one of {', '.join(by_name)} (semisvm info describes them).")
