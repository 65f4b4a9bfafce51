"""A folder of text files: one sub-folder per class; files in ``unlabeled`` or in the folder itself have no label."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

from . import InputError
from .cells import escape_formula, format_value
from .columns import RawColumn
from .encodings import read_text
from .table import Table, format_confidence

UNLABELED_FOLDERS = ("unlabeled", "unlabelled")


@dataclass(kw_only=True)
class TextFolder(Table):
    """The texts of a folder, in the order of their paths."""

    paths: list[str]
    texts: list[str]
    labels: list[str | None]

    default_target: ClassVar[str | None] = "label"

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> TextFolder:
        """Read all files but hidden ones; ``target`` makes no difference."""
        paths = sorted(
            found for found in path.rglob("*")
            if found.is_file() and not any(part.startswith(".") for part in found.relative_to(path).parts)
        )  # fmt: skip
        relative = [found.relative_to(path) for found in paths]
        labels = [_label(found) for found in relative]
        if not any(labels):
            raise InputError(
                f"{path} has no sub-folder with texts of a class; put the texts of every class into a sub-folder with "
                "its name, and those without a label into one named unlabeled, or pass a single file."
            )
        decoded = [read_text(found, encoding) for found in paths]
        counts = Counter(one.encoding for one in decoded)
        others = [f"{n:,} files are not UTF-8, read as {one}" for one, n in counts.items() if one != "utf-8"]
        texts = [one.text for one in decoded]
        notes = [] if encoding else others
        names = [found.as_posix() for found in relative]
        return cls(names=["text", "label"], n_rows=len(paths), notes=notes, paths=names, texts=texts, labels=labels)

    def column(self, position: int) -> RawColumn:
        """The texts."""
        return RawColumn("document", self.texts)

    def target_cells(self, position: int) -> list[Any]:
        """The names of the sub-folders, None for those without a label."""
        if self.names[position] != "label":
            raise InputError("the target of a folder of texts is the name of the sub-folder; remove --target.")
        return list(self.labels)

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write a CSV file with the path, label and confidence of every text."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["path", self.names[position], name])
        escaped = escape_formula if escape else str
        for path, given, label, probability in zip(self.paths, self.labels, filled, confidence):
            chosen = escaped(str(given if label is None else label))
            writer.writerow([escaped(path), chosen, format_confidence(label, probability)])
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write a CSV file with the path of every text, and the new columns."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        writer.writerow(["path", *columns])
        escaped = escape_formula if escape else str
        for path, *values in zip(self.paths, *columns.values()):
            writer.writerow([escaped(path), *(escaped(format_value(v)) for v in values)])
        file.write(text.getvalue().encode("utf-8", "surrogateescape"))


def _label(path: Path) -> str | None:
    """The class of a file by its path in the folder."""
    folder = path.parts[0]
    return None if len(path.parts) == 1 or folder.casefold() in UNLABELED_FOLDERS else folder
