"""The commands and their options."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .progress import Stages

app = typer.Typer(
    name="semisvm",
    help="A few labels and a lot of unlabeled rows make a good classifier.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Say on stderr what is being done, step by step.")]
Debug = Annotated[bool, typer.Option("--debug", help="Show the traceback of an internal error.")]


@app.callback(invoke_without_command=True)
def _root(
    context: typer.Context,
    version: Annotated[bool, typer.Option("--version", help="Print the version.")] = False,
) -> None:
    from .. import __version__

    if version:
        typer.echo(f"semisvm {__version__}")
        raise typer.Exit
    if context.invoked_subcommand is None:
        typer.echo(context.get_help())


@app.command()
def label(
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A .csv, .tsv or .parquet file with a header.")],
    target: Annotated[str | None, typer.Option(help="The column whose empty cells are to be filled.")] = None,
    text: Annotated[list[str] | None, typer.Option(help="A column to read as text; may be repeated.")] = None,
    ignore: Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")] = None,
    method: Annotated[str, typer.Option(help="The machine; semisvm info lists them.")] = "cccp",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="Where to write; TABLE.labeled beside TABLE if not given.")
    ] = None,
    balance: Annotated[
        str | None,
        typer.Option(
            metavar="SHARE",
            help="How the unlabeled rows divide: class=share,class=share, or with two classes the share of the second "
            "in alphabetical order. Like the labeled rows if not given.",
        ),
    ] = None,
    unlabeled: Annotated[
        str | None, typer.Option(metavar="TEXT", help="What else marks a cell of the target as unlabeled, such as ?.")
    ] = None,
    encoding: Annotated[str | None, typer.Option(help="Encoding of a CSV file; UTF-8 if not given.")] = None,
    seed: Annotated[int, typer.Option(help="Seed of methods that draw at random.")] = 0,
    force: Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")] = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Fill the empty cells of a column, with a confidence for each."""
    from . import labeling, reporting

    request = labeling.Request(
        table, target, tuple(text or ()), tuple(ignore or ()), method, output, balance, seed, unlabeled, encoding, force
    )
    with Stages(verbose) as stages:
        outcome = labeling.label(request, stages)
    reporting.say(reporting.label_report(outcome, target))


@app.command()
def demo(verbose: Verbose = False, debug: Debug = False) -> None:
    """Show on generated data what unlabeled rows are worth."""
    from . import reporting
    from .demo import demo_report

    with Stages(verbose) as stages:
        lines = demo_report(stages)
    reporting.say(lines)


@app.command()
def info(debug: Debug = False) -> None:
    """Versions, methods, and where things are kept."""
    from . import reporting
    from .info import info_report

    reporting.say(info_report())


def run(argv: list[str]) -> int:
    """Run a command; every exception comes out.

    Parameters
    ----------
    argv : list of str
        The arguments.

    Returns
    -------
    int
        The exit code.
    """
    return typer.main.get_command(app).main(args=argv, prog_name="semisvm", standalone_mode=False) or 0
