"""Lines for the terminal."""

from __future__ import annotations

import os
import sys
import unicodedata
from typing import TextIO


def printable(text: str) -> str:
    """Text without characters that a terminal would obey, such as those of escape sequences."""
    return "".join(c if unicodedata.category(c) not in ("Cc", "Cf", "Cs") else ascii(c)[1:-1] for c in text)


def print_lines(lines: list[str], file: TextIO | None = None) -> None:
    """Print lines; a closed pipe, as behind ``head``, is not an error."""
    try:
        print("\n".join(map(printable, lines)), file=file, flush=True)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), (file or sys.stdout).fileno())
