"""Files of LIBSVM and SVM-light: a label and ``index:value`` pairs per line; 0 is an unlabeled row.

SVM-light and SVMlin mark unlabeled rows by the label 0. It is a class only where fewer than two others would be left.
"""

from __future__ import annotations

import io
import re
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from scipy import sparse

from . import InputError
from .cells import format_value
from .columns import RawColumn
from .encodings import SourceText, read_text
from .files import display_name
from .table import Table, format_confidence
from .target import ALWAYS_UNLABELED

LINE = re.compile(r"[^\n]*\n|[^\n]+")
ROW = re.compile(r"\s*(?P<label>[^\s#]+)(?P<pairs>[^#\r\n]*)")
PAIR = re.compile(r"(qid|\d+):[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?")
MAX_INDEX = 2**31 - 1
MARKER = "0"


@dataclass(kw_only=True)
class LibsvmTable(Table):
    """A sparse matrix with the labels of its rows."""

    rows: list[re.Match]  # one per row
    lines: list[str]  # with their ends
    numbers: list[int]  # of the lines that are rows
    source: SourceText

    default_target: ClassVar[str | None] = "label"

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> LibsvmTable:
        """Read a file; ``target`` makes no difference."""
        file_name = display_name(path)
        source = read_text(path, encoding)
        lines = LINE.findall(source.text)
        numbers = [i for i, line in enumerate(lines) if line.partition("#")[0].strip()]
        rows = [_match(lines[i], i + 1, file_name) for i in numbers]
        matrix = _matrix(rows, numbers, file_name) if rows else sparse.csr_matrix((0, 0))
        notes = [*source.notes, f"X is a sparse matrix of {matrix.shape[1]:,} features, taken as it is"]
        source = source._replace(data=b"")
        table = cls(
            names=["label"],
            n_rows=len(rows),
            notes=notes,
            matrix=matrix,
            rows=rows,
            lines=lines,
            numbers=numbers,
            source=source,
        )
        cells = table.target_cells(0)
        classes = {cell for cell in cells if cell != MARKER and cell.casefold() not in ALWAYS_UNLABELED}
        if MARKER in cells and len(classes) > 1:
            table.unlabeled = (MARKER,)
            table.notes.append("the label 0 means unlabeled, as in SVM-light and SVMlin; --unlabeled names another one")
        return table

    def column(self, position: int) -> RawColumn:
        """The labels; the features are ``matrix``."""
        return RawColumn("text", self.target_cells(position))

    def target_cells(self, position: int) -> list[Any]:
        """The first fields; whole numbers in one spelling, so that +1 is 1."""
        return [_spelling(row["label"]) for row in self.rows]

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all lines with the filled labels, and the confidence as a comment at the end of a row."""
        raw_labels = {_spelling(row["label"]): row["label"] for row in reversed(self.rows)}
        lines = list(self.lines)
        for number, row, label, probability in zip(self.numbers, self.rows, filled, confidence):
            line, content = lines[number], lines[number].rstrip("\r\n")
            chosen = row["label"] if label is None else raw_labels[label]
            comment = f" # {format_confidence(label, probability)}{line[len(content) :]}"
            lines[number] = line[: row.start("label")] + chosen + content[row.end("label") :] + comment
        file.write(self.source.mark + self.source.encode("".join(lines)))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all lines as they are, with the new values as a comment at the end of a row."""
        lines = list(self.lines)
        for number, *values in zip(self.numbers, *columns.values()):
            content = lines[number].rstrip("\r\n")
            texts = [format_value(v) for v in values]
            lines[number] = f"{content} # {' '.join(texts)}{lines[number][len(content) :]}"
        file.write(self.source.encode("".join(lines)))


def _spelling(label: str) -> str:
    try:
        value = float(label)
    except ValueError:
        return label
    return f"{value:.0f}" if value.is_integer() else label


def _match(line: str, number: int, file_name: str) -> re.Match:
    """The fields of a row; refused if there is no label, or one of a regression."""
    found = ROW.match(line)
    label = found["label"] if found else ""
    if not found or ":" in label:
        raise InputError(
            f"{file_name}: line {number} begins with {label!r}, which is no label; begin every line with one, 0 for "
            "unlabeled, followed by index:value pairs."
        )
    if "," in label or (re.fullmatch(r"[+-]?\d*\.\d*[1-9]\d*", label)):
        raise InputError(
            f"{file_name}: line {number} has the label {label!r}; one class per line is allowed, as a whole number or "
            "a word, and 0 for unlabeled."
        )
    return found


def _matrix(rows: list[re.Match], numbers: list[int], file_name: str) -> sparse.csr_matrix:
    """The samples; scikit-learn reads them, and a line that it refuses is looked up here."""
    from sklearn.datasets import load_svmlight_file

    content = "".join(f"0 {row['pairs']}\n" for row in rows).encode()
    try:
        matrix = load_svmlight_file(io.BytesIO(content))[0]
        if not np.isfinite(matrix.data).all():
            raise ValueError("NaN or infinity")
        return matrix
    except (ValueError, OverflowError) as error:
        for number, row in zip(numbers, rows):
            _check_pairs(row["pairs"].split(), number + 1, file_name)
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{file_name} cannot be read as LIBSVM ({reason}); write a label and index:value pairs on every line."
        ) from None


def _check_pairs(fields: list[str], number: int, file_name: str) -> None:
    last = -1
    for item in fields:
        found = PAIR.fullmatch(item)
        index = last if found is None or found[1] == "qid" else int(found[1])
        if found is None or index > MAX_INDEX or (index <= last and found[1] != "qid"):
            wrong = "is no index:value pair" if found is None else "is not above the index before it"
            raise InputError(
                f"{file_name}: in line {number} {item[:40]!r} {wrong}; write pairs of a whole number and a number such "
                "as 3:0.5, with growing indices."
            )
        last = index
