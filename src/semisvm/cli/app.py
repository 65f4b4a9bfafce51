"""The commands and their options."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from ..tables.files import STANDARD_STREAM
from .progress import ProgressDisplay
from .terminal import print_lines

app = typer.Typer(
    name="semisvm",
    help="Classify the rows of a table from a few labeled and many unlabeled ones.",
    add_completion=False,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,
)

Verbose = Annotated[bool, typer.Option("--verbose", "-v", help="Print the stages and iterations to stderr.")]
DataOption = Annotated[
    Path | None,
    typer.Option(
        "--data",
        metavar="DIR",
        envvar="SEMISVM_DATA",
        help="The folder of the data sets; tables without their data are not run.",
    ),
]
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


TableArgument = Annotated[
    Path,
    typer.Argument(
        metavar="TABLE",
        help="CSV, TSV, JSON lines, Parquet, Feather, LIBSVM, NPZ, a folder of texts, or - for standard input.",
    ),
]
TargetOption = Annotated[
    str | None,
    typer.Option(help="The column whose empty cells are to be filled; LIBSVM, NPZ and folders have one by default."),
]
TextOption = Annotated[list[str] | None, typer.Option(help="A column to read as text; may be repeated.")]
IgnoreOption = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
MethodOption = Annotated[str, typer.Option(help="The estimator; semisvm info lists them.")]
BalanceOption = Annotated[
    str | None,
    typer.Option(
        metavar="SHARE",
        help="Class shares of the unlabeled rows: class=share,class=share, or with two classes the share of the "
        "second in alphabetical order. By default an estimate from the labeled rows.",
    ),
]
UnlabeledOption = Annotated[
    list[str] | None,
    typer.Option(
        metavar="TEXT",
        help="A marker of unlabeled cells of the target beside empty ones, NA, N/A, NaN, null and ?; may be repeated. "
        "Without it none, unknown and -1 are markers, too, where there is no other unlabeled cell.",
    ),
]
ExactOption = Annotated[
    bool, typer.Option("--exact-labels", help="Keep labels apart that differ in capitals or blanks alone.")
]
EncodingOption = Annotated[str | None, typer.Option(help="Encoding of a text file; by default it is detected.")]
SeedOption = Annotated[int, typer.Option(help="Seed of randomized methods.")]
ForceOption = Annotated[bool, typer.Option("--force", help="Replace the output if it exists.")]
RawOption = Annotated[
    bool, typer.Option("--raw", help="Fill in labels as they are, even where a spreadsheet would run them.")
]


@app.command()
def label(
    table: TableArgument,
    target: TargetOption = None,
    text: TextOption = None,
    ignore: IgnoreOption = None,
    method: MethodOption = "semi",
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
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Fill the unlabeled cells of a column, with a confidence for each."""
    from . import labeling, reporting
    from .training import MethodOptions, TableOptions

    options = TableOptions(
        *(table, target, tuple(text or ()), tuple(ignore or ()), tuple(unlabeled or ()), exact_labels, encoding)
    )
    request = labeling.LabelRequest(options, MethodOptions(method, balance, seed), output, force, raw)
    with ProgressDisplay(verbose) as display:
        result = labeling.label(request, display)
    print_lines(reporting.label_report(result), sys.stderr if output == STANDARD_STREAM else sys.stdout)


@app.command()
def fit(
    table: TableArgument,
    target: TargetOption = None,
    text: TextOption = None,
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
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Fit a model to a table and keep it in a file, for semisvm predict."""
    from . import modeling, reporting
    from .training import MethodOptions, TableOptions

    options = TableOptions(
        *(table, target, tuple(text or ()), tuple(ignore or ()), tuple(unlabeled or ()), exact_labels, encoding)
    )
    request = modeling.FitRequest(options, MethodOptions(method, balance, seed), output, force)
    with ProgressDisplay(verbose) as display:
        result = modeling.fit(request, display)
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
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Label a new table by a model, with a confidence for each row."""
    from . import modeling, reporting

    request = modeling.PredictRequest(model, table, output, encoding, force, raw)
    with ProgressDisplay(verbose) as display:
        result = modeling.predict(request, display)
    print_lines(reporting.predict_report(result), sys.stderr if output == STANDARD_STREAM else sys.stdout)


@app.command()
def demo(verbose: Verbose = False, debug: Debug = False) -> None:
    """Compare supervised and semi-supervised models on example data."""
    from .demo import demo_report

    with ProgressDisplay(verbose) as display:
        lines = demo_report(display)
    print_lines(lines)


@app.command()
def info(debug: Debug = False) -> None:
    """Print versions, methods, caches and the memory limit."""
    from .info import info_report

    print_lines(info_report())


bench = typer.Typer(
    help="Measure printed results of papers again, and other programs beside ours.", no_args_is_help=True
)
app.add_typer(bench, name="bench")


@bench.command()
def papers(
    table: Annotated[
        list[str] | None, typer.Option(metavar="NAME", help="A table; may be repeated. By default all of them.")
    ] = None,
    data: DataOption = None,
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of results and reports.")] = Path(
        "bench-results"
    ),
    quick: Annotated[bool, typer.Option("--quick", help="The short form: fewer draws, smaller grids.")] = False,
    resume: Annotated[bool, typer.Option("--resume", help="Go on with the results in the folder.")] = False,
    draws: Annotated[
        int | None, typer.Option(min=1, metavar="N", help="The largest number of draws of a number of a table.")
    ] = None,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Run tables of papers and compare with what is printed. A stopped run goes on with --resume."""
    from .benchmarks import PapersRequest, measure_papers

    request = PapersRequest(tuple(table or ()), data, out, quick, resume, draws)
    with ProgressDisplay(verbose) as display:
        lines = measure_papers(request, display)
    print_lines(lines)


@bench.command("report")
def report(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of results and reports.")] = Path(
        "bench-results"
    ),
    data: DataOption = None,
    debug: Debug = False,
) -> None:
    """Write the reports of the results in a folder again, without running anything."""
    from .benchmarks import rewrite_reports

    print_lines(rewrite_reports(out, data))


@bench.command("list")
def list_tables(data: DataOption = None, debug: Debug = False) -> None:
    """List the tables and what can be measured with the data at hand."""
    from .benchmarks import list_lines

    print_lines(list_lines(data))


ProgramOption = Annotated[Path | None, typer.Option(metavar="PATH", help="The executable of this program.")]


@bench.command()
def peers(
    samples: Annotated[
        list[int] | None,
        typer.Option(min=20, metavar="N", help="A number of unlabeled samples; may be repeated. By default 500, 2000."),
    ] = None,
    data: DataOption = None,
    out: Annotated[Path | None, typer.Option(metavar="FILE", help="A JSON file for the rows.")] = None,
    svmlin: ProgramOption = None,
    universvm: ProgramOption = None,
    svmlight: ProgramOption = None,
    qns3vm: Annotated[Path | None, typer.Option(metavar="PATH", help="The Python file of this program.")] = None,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Time scikit-learn, and programs that you name, beside ours, with the objective of each computed anew."""
    from .peers import PeersRequest, measure_peers

    programs = {"svmlin": svmlin, "universvm": universvm, "svmlight": svmlight, "qns3vm": qns3vm}
    request = PeersRequest(tuple(samples or (500, 2000)), data, out, programs)
    with ProgressDisplay(verbose) as display:
        lines = measure_peers(request, display)
    print_lines(lines)


def run(argv: list[str]) -> int:
    """Run a command without catching exceptions, and return the exit code."""
    return typer.main.get_command(app).main(args=argv, prog_name="semisvm", standalone_mode=False) or 0
