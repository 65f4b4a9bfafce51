"""The directive ``command-line-help``: what ``semisvm COMMAND --help`` prints, for every command there is."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import typer
from docutils import nodes
from sphinx.util.docutils import SphinxDirective
from typer.testing import CliRunner

from semisvm.cli.app import app as commands

WIDTH = 96


def names(command: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The words of every command, those of groups before those of their members."""
    for name, member in getattr(command, "commands", {}).items():
        if not member.hidden:
            yield (*path, name)
            yield from names(member, (*path, name))


def help_text(path: tuple[str, ...]) -> str:
    """The help of a command, in plain text."""
    environment = {"COLUMNS": str(WIDTH), "TERMINAL_WIDTH": str(WIDTH), "NO_COLOR": "1", "TERM": "dumb"}
    result = CliRunner().invoke(commands, [*path, "--help"], env=environment, prog_name="semisvm")
    if result.exit_code:
        raise RuntimeError(f"semisvm {' '.join(path)} --help failed: {result.output}")
    return result.output.strip("\n")


class CommandLineHelp(SphinxDirective):
    """A section for every command."""

    def run(self) -> list[nodes.Node]:
        """The sections."""
        sections = []
        for path in names(typer.main.get_command(commands)):
            title = f"semisvm {' '.join(path)}"
            section = nodes.section(ids=[nodes.make_id(title)], names=[nodes.fully_normalize_name(title)])
            section += nodes.title(text=title)
            block = nodes.literal_block(text=help_text(path), language="none")
            section += block
            sections.append(section)
        return sections


def setup(app: Any) -> dict[str, bool]:
    """Register the directive."""
    app.add_directive("command-line-help", CommandLineHelp)
    return {"parallel_read_safe": True}
