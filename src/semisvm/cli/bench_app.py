"""The commands of ``semisvm bench``."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from .options import DataOption, Debug, JsonOption, Verbose
from .progress import ProgressDisplay
from .terminal import print_json, print_lines

bench = typer.Typer(
    help="Measure printed results of papers again, and other programs beside ours.", no_args_is_help=True
)


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
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Run tables of papers and compare with what is printed. A stopped run goes on with --resume."""
    from .benchmarks import PapersRequest, measure_papers, summary, summary_content

    request = PapersRequest(tuple(table or ()), data, out, quick, resume, draws)
    with ProgressDisplay(verbose) as display:
        done = measure_papers(request, display)
    if as_json:
        print_json(summary_content(done, out))
    else:
        print_lines(summary(done, out))


@bench.command("report")
def report(
    out: Annotated[Path, typer.Option(metavar="DIR", help="The folder of results and reports.")] = Path(
        "bench-results"
    ),
    data: DataOption = None,
    as_json: JsonOption = False,
    debug: Debug = False,
) -> None:
    """Write the reports of the results in a folder again, without running anything."""
    from .benchmarks import rewrite_reports, summary, summary_content

    done = rewrite_reports(out, data)
    if as_json:
        print_json(summary_content(done, out))
    else:
        print_lines(summary(done, out))


@bench.command("list")
def list_tables(data: DataOption = None, as_json: JsonOption = False, debug: Debug = False) -> None:
    """List the tables and what can be measured with the data at hand."""
    from .benchmarks import list_content, list_lines

    content = list_content(data)
    if as_json:
        print_json(content)
    else:
        print_lines(list_lines(content))


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
    as_json: JsonOption = False,
    verbose: Verbose = False,
    debug: Debug = False,
) -> None:
    """Time scikit-learn, and programs that you name, beside ours, with the objective of each computed anew."""
    from .peers import PeersRequest, measure_peers, peers_content, peers_lines

    programs = {"svmlin": svmlin, "universvm": universvm, "svmlight": svmlight, "qns3vm": qns3vm}
    request = PeersRequest(tuple(samples or (500, 2000)), data, out, programs)
    with ProgressDisplay(verbose) as display:
        rows = measure_peers(request, display)
    if as_json:
        print_json(peers_content(request, rows))
    else:
        print_lines(peers_lines(request, rows))
