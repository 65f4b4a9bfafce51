"""What a file is to the commands: columns or a matrix, a target, and notes on how it was read."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, BinaryIO, ClassVar

from . import InputError
from .cells import format_value
from .columns import RawColumn


@dataclass(kw_only=True)
class Table(ABC):
    """A file as it was read, from which it can be written again with a filled target.

    Features come from its columns, or from a matrix where the file is one.

    Attributes
    ----------
    names : list of str
        Names of the columns, the target among them; of a matrix the possible targets alone.
    n_rows : int
        Number of rows.
    notes : list of str
        What was found out about the file, such as an unusual encoding.
    matrix : array or CSR matrix, optional
        The samples, where the file has no columns to make them of.
    unlabeled : tuple of str
        Labels that mean unlabeled in this format, where the user names none.
    default_target : str, optional
        The target where the user names none.
    """

    names: list[str]
    n_rows: int
    notes: list[str] = field(default_factory=list)
    matrix: Any = None
    unlabeled: tuple[str, ...] = ()
    default_target: ClassVar[str | None] = None

    @abstractmethod
    def column(self, position: int) -> RawColumn:
        """The values of a column."""

    @abstractmethod
    def target_cells(self, position: int) -> list[Any]:
        """The values of the target as they stand there, None where there is none."""

    @abstractmethod
    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all rows with the filled target and one more column.

        Parameters
        ----------
        file : binary file
            The file to write to.
        position : int
            Position of the target.
        filled : list
            A label for each cell that is to be filled, None for those that stay.
        name : str
            Name of the column of confidences.
        confidence : list of float
            One per row.
        escape : bool
            Whether what is filled in gets an apostrophe where a spreadsheet would run it as a formula.
        """

    @abstractmethod
    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all rows as they are, with more columns.

        Parameters
        ----------
        file : binary file
            The file to write to.
        columns : dict
            Values by the names of the columns: labels, then confidences.
        escape : bool
            As in ``write``.
        """


def without_fractions(values: Sequence[Any], target: str) -> list[Any]:
    """The values of a target, None for NaN; refused if they are fractions."""
    kept = [None if value is None or value != value else value for value in values]
    fraction = next((v for v in kept if isinstance(v, float) and not v.is_integer()), None)
    if fraction is not None:
        raise InputError(
            f"the target {target!r} holds fractions such as {fraction:g}; labels are text, whole numbers or booleans: "
            "choose another column or convert it to classes."
        )
    return kept


def format_confidence(label: Any, confidence: float) -> str:
    """The confidence of a row as text: 1 for a label that was given."""
    return "1" if label is None else format_value(confidence)
