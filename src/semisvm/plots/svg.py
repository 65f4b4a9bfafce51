"""Figures as SVG inside of HTML: the same text in every run."""

from __future__ import annotations

import io
from collections.abc import Iterator
from contextlib import contextmanager
from html import escape
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from matplotlib.figure import Figure

SETTINGS: Any = {"svg.hashsalt": "semisvm", "svg.fonttype": "path", "font.size": 10}


@contextmanager
def svg_settings() -> Iterator[None]:
    """The settings of matplotlib with which figures are drawn and written."""
    from matplotlib import rc_context

    with rc_context(SETTINGS):
        yield


def figure_svg(figure: Figure, title: str) -> str:
    """A figure as an element of HTML that is a file of its own as well."""
    file, no_metadata = io.StringIO(), dict.fromkeys(("Creator", "Date", "Format", "Type"))
    figure.savefig(file, format="svg", metadata=no_metadata)
    content = file.getvalue()
    return content[content.index("<svg ") :].replace("<svg ", f'<svg role="img" aria-label="{escape(title)}" ', 1)
