"""Spellings of a missing cell."""

from __future__ import annotations

MISSING = frozenset({"", "na", "n/a", "#n/a", "nan", "<na>", "null", "none", "nil", "?", "-", "."})


def is_missing(cell: str) -> bool:
    """Whether a cell of a feature is missing."""
    return cell.strip().lower() in MISSING
