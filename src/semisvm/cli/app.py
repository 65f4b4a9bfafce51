"""The commands and their options; a command imports its modules while its progress is displayed."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, TextIO

import typer

from ..tables.files import STANDARD_STREAM
from .bench_app import bench
from .options import (
    BalanceOption,
    CharactersOption,
    CheckpointOption,
    ClusterOption,
    Debug,
    EncodingOption,
    ExactOption,
    ForceOption,
    IgnoreOption,
    JsonOption,
    MethodOption,
    RawOption,
    SeedOption,
    TableArgument,
    TargetOption,
    TextOption,
    TlsOption,
    UnlabeledOption,
    Verbose,
    WorkersOption,
)
from .progress import ProgressDisplay
from .terminal import print_json, print_lines

if TYPE_CHECKING:
    from .training import TableOptions

app = typer.Typer(
    name="semisvm",
    help="Classify the rows of a table from a few labeled and many unlabeled ones.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)


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


def _table_options(
    table: Path,
    target: str | None,
    text: list[str] | None,
    characters: list[str] | None,
    ignore: list[str] | None,
    unlabeled: list[str] | None,
    exact_labels: bool,
    encoding: str | None,
) -> TableOptions:
    from .training import TableOptions

    return TableOptions(
        table,
        target,
        text=tuple(text or ()),
        characters=tuple(characters or ()),
        ignore=tuple(ignore or ()),
        unlabeled=tuple(unlabeled or ()),
        exact_labels=exact_labels,
        encoding=encoding,
    )


def _report_stream(output: Path | None) -> TextIO:
    """Where the report goes: standard error if the table goes to standard output."""
    return sys.stderr if output == STANDARD_STREAM else sys.stdout


@app.command()
def label(
    table: TableArgument,
    target: TargetOption = None,
    text: TextOption = None,
    characters: CharactersOption = None,
    ignore: IgnoreOption = None,
    method: Annotated[
        str | None,
        typer.Option(
            help="The estimator; semisvm info lists them. By default semi, and with --cluster multi-switch with a "
            "linear kernel."
        ),
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option(
            "--output", "-o", help="The file to write, - for standard output; by default TABLE.labeled beside TABLE."
        ),
    ] = None,
    balance: BalanceOption = None,
    unlabeled: UnlabeledOption = None,
    exact_labels: ExactOption = False,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    raw: RawOption = False,
    report: Annotated[
        bool,
        typer.Option(
            "--report/--no-report",
            help="Whether to write a page to look at beside the output; there is none with --cluster.",
        ),
    ] = True,
    cluster: ClusterOption = None,
    workers: WorkersOption = None,
    tls_folder: TlsOption = None,
    checkpoint: CheckpointOption = None,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Fill the unlabeled cells of a column, with a confidence for each."""
    stream = _report_stream(output)
    with ProgressDisplay(verbose, None if as_json else stream) as display:
        from . import json_output, reporting
        from .clusters import ClusterOptions
        from .labeling import LabelRequest
        from .training import MethodOptions

        options = _table_options(table, target, text, characters, ignore, unlabeled, exact_labels, encoding)
        where = ClusterOptions.from_options(cluster, workers, tls_folder, checkpoint)
        model = MethodOptions(method or ("semi" if where is None else "multi-switch"), balance, seed)
        request = LabelRequest(options, model, output, force, raw, report, where)
        if where is None:
            from .labeling import label as fill
        else:
            from .cluster_labeling import label_on_cluster as fill
        result = fill(request, display)
    if as_json:
        print_json(json_output.label_content(result), stream)
    else:
        print_lines(reporting.label_report(result), stream)


@app.command()
def fit(
    table: TableArgument,
    target: TargetOption = None,
    text: TextOption = None,
    characters: CharactersOption = None,
    ignore: IgnoreOption = None,
    method: MethodOption = "semi",
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; by default TABLE.model.skops.")
    ] = None,
    balance: BalanceOption = None,
    unlabeled: UnlabeledOption = None,
    exact_labels: ExactOption = False,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table and keep it in a file, for semisvm predict."""
    with ProgressDisplay(verbose, None if as_json else sys.stdout) as display:
        from . import json_output, modeling, reporting
        from .training import MethodOptions

        options = _table_options(table, target, text, characters, ignore, unlabeled, exact_labels, encoding)
        request = modeling.FitRequest(options, MethodOptions(method, balance, seed), output, force)
        result = modeling.fit(request, display)
    if as_json:
        print_json(json_output.fit_content(result))
    else:
        print_lines(reporting.fit_report(result))


@app.command()
def predict(
    model: Annotated[Path, typer.Argument(metavar="MODEL", help="A file of semisvm fit.")],
    table: Annotated[Path, typer.Argument(metavar="TABLE", help="A table with the columns of the training.")],
    output: Annotated[
        Path | None, typer.Option("--output", "-o", help="The file to write; by default TABLE.predicted beside TABLE.")
    ] = None,
    encoding: EncodingOption = None,
    force: ForceOption = False,
    raw: RawOption = False,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Label a new table by a model, with a confidence for each row."""
    with ProgressDisplay(verbose) as display:
        from . import json_output, modeling, reporting

        request = modeling.PredictRequest(model, table, output, encoding, force, raw)
        result = modeling.predict(request, display)
    if as_json:
        print_json(json_output.predict_content(result), _report_stream(output))
    else:
        print_lines(reporting.predict_report(result), _report_stream(output))


@app.command()
def compare(
    table: TableArgument,
    target: TargetOption = None,
    text: TextOption = None,
    characters: CharactersOption = None,
    ignore: IgnoreOption = None,
    method: Annotated[
        list[str] | None, typer.Option(help="An estimator; may be repeated. By default the fast ones of every family.")
    ] = None,
    balance: BalanceOption = None,
    unlabeled: UnlabeledOption = None,
    exact_labels: ExactOption = False,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Compare methods on labeled rows that are held out."""
    with ProgressDisplay(verbose, None if as_json else sys.stdout) as display:
        from . import comparing, json_output, reporting

        options = _table_options(table, target, text, characters, ignore, unlabeled, exact_labels, encoding)
        result = comparing.compare(comparing.CompareRequest(options, tuple(method or ()), balance, seed), display)
    if as_json:
        print_json(json_output.compare_content(result))
    else:
        print_lines(reporting.compare_report(result))


@app.command("next")
def next_rows(
    table: TableArgument,
    target: TargetOption = None,
    n: Annotated[int, typer.Option("--n", min=1, help="The number of rows.")] = 20,
    text: TextOption = None,
    characters: CharactersOption = None,
    ignore: IgnoreOption = None,
    method: MethodOption = "semi",
    output: Annotated[Path | None, typer.Option("--output", "-o", help="A CSV file for the rows.")] = None,
    balance: BalanceOption = None,
    unlabeled: UnlabeledOption = None,
    exact_labels: ExactOption = False,
    encoding: EncodingOption = None,
    seed: SeedOption = 0,
    force: ForceOption = False,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Choose the rows whose labels would help most, and estimate what they would bring."""
    with ProgressDisplay(verbose, None if as_json else sys.stdout) as display:
        from . import json_output, reporting, suggesting
        from .training import MethodOptions

        options = _table_options(table, target, text, characters, ignore, unlabeled, exact_labels, encoding)
        request = suggesting.NextRequest(options, MethodOptions(method, balance, seed), n, output, force)
        result = suggesting.suggest(request, display)
    if as_json:
        print_json(json_output.next_content(result))
    else:
        print_lines(reporting.next_report(result))


@app.command()
def demo(as_json: JsonOption = False, verbose: Verbose = False, debug: Debug = False) -> None:
    """Compare supervised and semi-supervised models on example data."""
    with ProgressDisplay(verbose) as display:
        from .demo import demo_content, demo_lines, run_demo

        result = run_demo(display)
    if as_json:
        print_json(demo_content(result))
    else:
        print_lines(demo_lines(result))


@app.command()
def info(
    warm_up: Annotated[
        bool, typer.Option("--warm-up", help="Compile what all methods use now, as when a container is built.")
    ] = False,
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Print versions, methods, caches and the memory limit."""
    with ProgressDisplay(verbose) as display:
        from . import warm_up as compilation
        from .info import info_content, info_lines

        warmed = {"warm_up": compilation.warm_up(display)} if warm_up else {}
        content = info_content() | warmed
    if as_json:
        print_json(content)
    else:
        print_lines(info_lines(content))


app.add_typer(bench, name="bench")


def run(argv: list[str]) -> int:
    """Run a command without catching exceptions, and return the exit code."""
    return typer.main.get_command(app).main(args=argv, prog_name="semisvm", standalone_mode=False) or 0
