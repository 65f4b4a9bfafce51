"""Warnings that point at the user's own line."""

from __future__ import annotations

import sys
import warnings

BETWEEN = ("semisvm", "sklearn", "joblib", "contextlib")  # packages between the user's line and a warning


def warn_user(message: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the innermost line outside of this library and of those that call its estimators."""
    frame, level = sys._getframe(1), 2
    while frame.f_back is not None and frame.f_globals.get("__name__", "").partition(".")[0] in BETWEEN:
        frame, level = frame.f_back, level + 1
    warnings.warn(message, category, stacklevel=level)
