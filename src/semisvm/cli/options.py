"""Arguments and options that several commands have."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

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
CharactersOption = Annotated[
    list[str] | None,
    typer.Option(help="A column of misspelled text, to read by words and parts of words; may be repeated."),
]
IgnoreOption = Annotated[list[str] | None, typer.Option(help="A column to leave out; may be repeated.")]
MethodOption = Annotated[str, typer.Option(help="The estimator; semisvm info lists them.")]
ClusterOption = Annotated[
    str | None,
    typer.Option(
        metavar="ADDRESS",
        help="Use a Dask cluster: the address of its scheduler, such as tcp://host:8786, or local for processes of "
        "this computer. TABLE is a Parquet file or a folder of them, perhaps larger than memory, the output a folder.",
    ),
]
WorkersOption = Annotated[
    int | None, typer.Option(min=1, help="Processes of --cluster local; by default one for each processor.")
]
TlsOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With --cluster tls://...: a folder with ca.pem, cert.pem and key.pem. By default the settings of Dask.",
    ),
]
CheckpointOption = Annotated[
    Path | None,
    typer.Option(
        metavar="DIR",
        help="With --cluster: a folder for the steps of the fit; the same command goes on there if it was stopped.",
    ),
]
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
JsonOption = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
RawOption = Annotated[
    bool, typer.Option("--raw", help="Fill in labels as they are, even where a spreadsheet would run them.")
]
