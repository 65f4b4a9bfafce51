"""Lines for the terminal, and JSON for programs."""

from __future__ import annotations

import json
import os
import sys
import unicodedata
from typing import Any, TextIO


def printable(text: str) -> str:
    """Text without characters that a terminal would obey, such as those of escape sequences."""
    return "".join(c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else ascii(c)[1:-1] for c in text)


def format_seconds(seconds: float) -> str:
    """Seconds as a short text of two units."""
    minutes, rest = divmod(round(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours} h {minutes} min" if hours else f"{minutes} min {rest} s" if minutes else f"{rest} s"


def print_lines(lines: list[str], file: TextIO | None = None) -> None:
    """Print lines; a closed pipe, as behind ``head``, is not an error."""
    try:
        print("\n".join(map(printable, lines)), file=file, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (file or sys.stdout).fileno())


def print_json(content: Any, file: TextIO | None = None) -> None:
    """Print a result as JSON; numbers of NumPy become those of Python, other objects text."""

    def plain(value: Any) -> Any:
        return value.item() if hasattr(value, "item") else str(value)

    print_lines(json.dumps(content, indent=2, ensure_ascii=True, default=plain).split("\n"), file)
