"""Our numbers beside the printed ones, with a verdict in words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from .protocol import Cell, Protocol, Setup, binomial_error
from .records import Records, Result

BETTER, MATCHED, WORSE, NOT_RUN = "better", "matched", "worse", "not run"
FAILED, NO_FIGURE = "failed", "no printed figure"


class Comparison(NamedTuple):
    """A cell, what we measured, and how it compares.

    Parameters
    ----------
    cell : Cell
        With the printed number.
    verdict : str
        "better", "matched", "worse", "not run", "failed" or "no printed figure".
    n_draws, n_planned : int
        Number of our draws, and that of the protocol.
    mean, deviation, standard_error : float or None
        Of our errors in percent.
    difference, margin : float or None
        Ours minus the printed number, and what counts as the same.
    one_choice : float or None
        Smallest mean over draws of one choice of the parameters, where every draw has its own.
    seconds : float or None
        Mean of a draw.
    why : str
        Why there is no number.
    """

    cell: Cell
    verdict: str
    n_draws: int = 0
    n_planned: int = 0
    mean: float | None = None
    deviation: float | None = None
    standard_error: float | None = None
    difference: float | None = None
    margin: float | None = None
    one_choice: float | None = None
    seconds: float | None = None
    why: str = ""


def compare(protocol: Protocol, records: Records, setup: Setup) -> list[Comparison]:
    """One comparison for every cell of a protocol."""
    found: dict[tuple[str, str], list[Result]] = {cell.key: [] for cell in protocol.cells}
    for result in records.by_task.values():
        if (result.row, result.column) in found:
            found[result.row, result.column].append(result)
    return [
        compare_cell(cell, found[cell.key], cell.obstacle(setup))._replace(n_planned=cell.draws or protocol.draws)
        for cell in protocol.cells
    ]


def compare_cell(cell: Cell, results: Sequence[Result], obstacle: str = "") -> Comparison:
    """Our mean is the same as the printed one if they differ by no more than two standard errors.

    The standard error is the root of ours squared plus theirs squared. Ours is the deviation over draws by the root of
    their number; for a single draw it is binomial, as theirs is where no deviation is printed.
    """
    failures = [result for result in results if result.failure]
    if failures:
        return Comparison(cell, FAILED, len(results), why=failures[0].failure)
    values = np.array([result.value for result in results], dtype=float)
    if not len(values):
        return Comparison(cell, NOT_RUN, why=obstacle or "no results yet")
    mean, printed = float(values.mean()), cell.printed
    deviation = float(values.std(ddof=1)) if len(values) > 1 else None
    known = Comparison(
        cell,
        NO_FIGURE,
        n_draws=len(values),
        mean=mean,
        deviation=deviation,
        standard_error=None if deviation is None else deviation / float(np.sqrt(len(values))),
        one_choice=one_choice(results),
        seconds=float(np.mean([result.seconds for result in results])),
    )
    if printed is None:
        return known
    ours = known.standard_error
    if ours is None:
        ours = binomial_error(mean, printed.test_size) if printed.test_size else 0.0
    difference, margin = mean - printed.mean, 2.0 * float(np.hypot(ours, printed.standard_error))
    verdict = WORSE if difference > margin else BETTER if difference < -margin else MATCHED
    return known._replace(verdict=verdict, difference=difference, margin=margin, standard_error=ours)


def one_choice(results: Sequence[Result]) -> float | None:
    """The smallest mean error of one choice of the parameters for all draws."""
    first = results[0]
    if len(results) == 1 or not first.errors or any(result.axes != first.axes for result in results):
        return None
    return float(np.mean([result.errors for result in results], axis=0).min())


class Tally(NamedTuple):
    """Numbers of cells by verdict: of those as printed, and of those that differ from the paper in something."""

    as_printed: Counter[str]
    differing: Counter[str]

    def __add__(self, other: Tally) -> Tally:  # type: ignore[override]
        return Tally(self.as_printed + other.as_printed, self.differing + other.differing)


def tally(comparisons: Sequence[Comparison]) -> Tally:
    """Count the verdicts."""
    return Tally(
        Counter(one.verdict for one in comparisons if not one.cell.differs),
        Counter(one.verdict for one in comparisons if one.cell.differs),
    )


def count_sentence(verdicts: Counter[str]) -> str:
    """How many cells reach the printed number, in words."""
    compared = sum(verdicts[name] for name in (BETTER, MATCHED, WORSE, FAILED))
    reached = verdicts[BETTER] + verdicts[MATCHED]
    share = f" ({100 * reached / compared:.3g} %)" if compared else ""
    counts = [f"{verdicts[name]} {name}" for name in (BETTER, MATCHED, WORSE, FAILED, NOT_RUN) if verdicts[name]]
    if not compared:
        return ", ".join(["no cell compared", *counts])
    return f"{reached} of {compared} compared cells matched or better{share}: {', '.join(counts)}"
