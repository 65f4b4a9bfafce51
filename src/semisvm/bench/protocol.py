"""What a table or figure of a paper prints, and what has to be run to measure the same number.

A ``Protocol`` is made of ``Cell`` objects, one for each printed number. A cell and a draw make a ``Task``, which is
independent of all others and deterministic: its draw is its seed.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np

from .data import DataFolder

FIXED, TEST_TUNED, REALISTIC = "fixed parameters", "chosen on the test samples", "realistic"
PERCENT = "error in percent"
SELECTIONS = (FIXED, TEST_TUNED, REALISTIC)
PICTURES = ("numbers", "time", "trace")


def binomial_error(percent: float, n_samples: int) -> float:
    """Standard error, in points, of a percentage that was counted on so many samples."""
    return float(np.sqrt(percent * (100.0 - percent) / n_samples))


@dataclass(frozen=True)
class Printed:
    """A number of a paper.

    Parameters
    ----------
    mean : float
        The printed number: an error in percent, or what ``Protocol.measures`` names.
    deviation : float or None
        The printed standard deviation over draws.
    draws : int
        Number of draws that the paper states.
    test_size : int or None
        Number of test samples, from which the standard error is taken where no deviation is printed.
    one_test_set : bool
        Whether all draws have the same test samples: their chance, which the deviation does not contain, is added.
    """

    mean: float
    deviation: float | None = None
    draws: int = 1
    test_size: int | None = None
    one_test_set: bool = False

    def __post_init__(self) -> None:
        if self.test_size is None and (self.deviation is None or self.one_test_set):
            raise ValueError(f"{self.mean} % needs a number of test samples, or a deviation over several sets of them.")

    @classmethod
    def of_draws(cls, mean: float, errors: Sequence[float], test_size: int) -> Printed:
        """A printed mean with the deviation of the errors that are printed above it, on one set of test samples."""
        return cls(mean, float(np.std(errors, ddof=1)), len(errors), test_size, one_test_set=True)

    @property
    def standard_error(self) -> float:
        """From the deviation and the draws, binomial from the number of test samples, or the root of both squared."""
        chance = binomial_error(self.mean, self.test_size) if self.test_size else 0.0
        if self.deviation is None:
            return chance
        of_draws = self.deviation / float(np.sqrt(self.draws))
        return float(np.hypot(of_draws, chance)) if self.one_test_set else of_draws


class Measured(NamedTuple):
    """What a task gives.

    Parameters
    ----------
    value : float
        Error in percent, or what ``Protocol.measures`` names.
    objective : float or None
        The objective of the model, where there is one model.
    chosen : dict
        The parameters that were chosen, by name.
    axes : dict
        Values of every parameter that was chosen from a grid, by name.
    errors : tuple of float
        Errors in percent of all cells of the grid, the last axis first.
    seconds : float or None
        What the task took, where not all of it counts; None for all of it.
    trace : dict
        Seconds and objectives of the iterations of a solver.
    """

    value: float
    objective: float | None = None
    chosen: dict[str, Any] = {}
    axes: dict[str, list[Any]] = {}
    errors: tuple[float, ...] = ()
    seconds: float | None = None
    trace: dict[str, list[float]] = {}


class Setup(NamedTuple):
    """Where data are read from, and whether the short form of a protocol is run."""

    data: DataFolder
    quick: bool = False


Measure = Callable[[Setup, int], Measured]


@dataclass(frozen=True)
class Cell:
    """A number of a table: where it stands, what is printed and how it is measured.

    Parameters
    ----------
    row, column : str
        Labels, which name the cell together.
    printed : Printed or None
        None for a figure that has no counterpart in the paper.
    measure : callable or None
        Takes the setup and the draw. None for a cell that cannot be measured; ``why_not`` says why.
    needs : tuple of str
        Names of the sets that have to be in the data folder.
    draws : int or None
        Number of draws; None stands for that of the protocol.
    differs : str
        What is not as in the paper: a stand-in for its data, another balance. Such cells are counted apart.
    remark : str
        What is known of a difference from the printed number; reports have it where the verdict is "worse".
    why_not : str
        Why the cell is not measured.
    in_quick : bool
        Whether the short form of the protocol has the cell.
    x : float or None
        Where the cell of a curve stands on the horizontal axis; the cells of a column are a curve.
    """

    row: str
    column: str
    printed: Printed | None
    measure: Measure | None
    needs: tuple[str, ...] = ()
    draws: int | None = None
    differs: str = ""
    remark: str = ""
    why_not: str = ""
    in_quick: bool = True
    x: float | None = None

    def __post_init__(self) -> None:
        if (self.measure is None) != bool(self.why_not):
            raise ValueError(f"{self.row}, {self.column}: either measure or why_not is given.")

    @property
    def key(self) -> tuple[str, str]:
        """Row and column."""
        return self.row, self.column

    def obstacle(self, setup: Setup) -> str:
        """Why the cell cannot be measured here; empty if it can."""
        missing = [name for name in self.needs if not setup.data.has(name)]
        if self.why_not:
            return self.why_not
        if missing:
            where = setup.data.path or "no data folder was given"
            return f"needs the data set {', '.join(missing)} ({where})"
        return "left out of the short form" if setup.quick and not self.in_quick else ""


class Task(NamedTuple):
    """A cell and a draw."""

    cell: Cell
    draw: int

    @property
    def key(self) -> tuple[str, str, int]:
        """Row, column and draw."""
        return *self.cell.key, self.draw


@dataclass(frozen=True)
class Protocol:
    """A table or figure of a paper.

    Parameters
    ----------
    name : str
        What ``--table`` takes, such as "collobert-1.3".
    title, reference, url : str
        What it is and where it was published; the address may be empty.
    selection : {"fixed parameters", "chosen on the test samples", "realistic"}
        How the parameters were chosen.
    cells : tuple of Cell
        The numbers.
    draws, quick_draws : int
        Number of draws of a cell, and in the short form.
    notes : tuple of str
        What a reader of the report has to know, such as readings of an unclear text.
    measures : str
        What the numbers are; smaller ones are better.
    x_label : str
        What the horizontal axis of a figure is; empty for a table.
    picture : {"numbers", "time", "trace"}
        What the report draws: the numbers, the numbers against seconds, or the traces of solvers.
    """

    name: str
    title: str
    reference: str
    url: str
    selection: str
    cells: tuple[Cell, ...]
    draws: int
    quick_draws: int = 1
    notes: tuple[str, ...] = field(default=())
    measures: str = PERCENT
    x_label: str = ""
    picture: str = "numbers"

    def __post_init__(self) -> None:
        if any((cell.x is None) == bool(self.x_label) for cell in self.cells):
            raise ValueError(f"{self.name} is a figure, with x_label and an x for every cell, or a table with neither.")
        if self.selection not in SELECTIONS:
            raise ValueError(f"selection={self.selection!r} of {self.name} is none of {SELECTIONS}.")
        if self.picture not in PICTURES:
            raise ValueError(f"picture={self.picture!r} of {self.name} is none of {PICTURES}.")
        if len({cell.key for cell in self.cells}) < len(self.cells):
            raise ValueError(f"{self.name} has two cells of the same row and column.")

    @property
    def needs(self) -> set[str]:
        """The data sets of all cells."""
        return {name for cell in self.cells for name in cell.needs}

    def tasks(self, setup: Setup, draws: int | None = None) -> list[Task]:
        """All that can be run, the first draw of every cell before the second of any."""
        runnable = [cell for cell in self.cells if not cell.obstacle(setup)]
        counts = {cell.key: self.n_draws(cell, setup, draws) for cell in runnable}
        last = max(counts.values(), default=0)
        return [Task(cell, draw) for draw in range(last) for cell in runnable if draw < counts[cell.key]]

    def n_draws(self, cell: Cell, setup: Setup, draws: int | None = None) -> int:
        """How many draws of a cell are run: at most ``draws``, fewer in the short form."""
        full = cell.draws or self.draws
        allowed = min(full, self.quick_draws) if setup.quick else full
        return allowed if draws is None else min(full, draws)
