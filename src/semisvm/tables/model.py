"""A model of a table, saved to a file and loaded without running anything that is in it.

The file is that of skops, a zip archive of arrays and names of types; its comment names the version of semisvm and of
this format, which are checked before anything else. Types other than arrays, the estimators of scikit-learn that
skops trusts and the classes of this package are refused.
"""

from __future__ import annotations

import importlib
import io
import re
import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .. import __version__
from . import InputError
from .columns import Column, RawColumn
from .features import TableFeatures
from .matrices import MatrixFeatures
from .reading import join_first
from .table import Table

FORMAT = 1
COMMENT = re.compile(r"semisvm (?P<version>\S+) model (?P<format>\d+)")
OWN_MODULE = re.compile(r"semisvm\.(?!cli|bench|plots|report)\w+(\.\w+)*")
ARRAY_TYPES = frozenset({"numpy.dtype", "scipy.sparse._csr.csr_matrix", "scipy.sparse._csr.csr_array"})
MAX_EXPANSION = 1000  # of the archive when it is unpacked; more is no model


@dataclass
class TableModel:
    """A fitted estimator, the columns that it reads, and a summary of its training."""

    target: str
    features: TableFeatures | MatrixFeatures
    estimator: Any
    summary: dict[str, Any]

    @property
    def columns(self) -> list[Column]:
        """The columns that are used; of a matrix none."""
        return getattr(self.features, "columns", [])

    @property
    def classes(self) -> list[Any]:
        """The classes, as Python objects."""
        return self.estimator.classes_.tolist()

    def read_features(self, table: Table, file_name: str) -> tuple[Any, list[str]]:
        """X of another table, whose columns may be in another order, and notes on those that differ."""
        if isinstance(self.features, MatrixFeatures) != (table.matrix is not None):
            kinds = ("a matrix", "columns") if table.matrix is None else ("columns", "a matrix")
            raise InputError(
                f"the model is of {kinds[0]} and {file_name} has {kinds[1]}; pass a file of the same kind."
            )
        if table.matrix is not None:
            return self.features.transform(table.matrix), []
        names = table.names
        missing = [column.name for column in self.columns if column.name not in names]
        if len(missing) == len(self.columns):
            wanted = join_first([repr(column.name) for column in self.columns], 10)
            raise InputError(
                f"{file_name} has none of the columns of the model, {wanted}; its columns are "
                f"{join_first([repr(name) for name in names], 10)}: pass a table with the columns of the training."
            )
        notes = []
        if missing:
            notes.append(f"columns that are not in {file_name} count as missing: {join_first(missing, 10)}")
        values, empty = [], [""] * table.n_rows
        for column in self.columns:
            raw = table.column(names.index(column.name)) if column.name in names else None
            if raw is not None and raw.kind == "other":
                notes.append(f"{column.name}: the type {raw.values} cannot be read; taken as missing")
                raw = None
            values.append(column.values(raw) if raw is not None else column.values(RawColumn("text", empty)))
            unread = 0 if raw is None else column.n_unread(raw)
            if unread:
                kind = f"{column.kind}s as in the training"
                notes.append(f"{column.name}: {unread:,} cells are no {kind}; taken as missing")
        extra = [name for name in names if name not in {column.name for column in self.columns} | {self.target}]
        extra = [name for name in extra if name not in self.summary["ignored"]]
        if extra:
            notes.append(f"columns that the model does not know are not used: {join_first(extra, 10)}")
        return self.features.transform(values), notes


def save_model(model: TableModel) -> bytes:
    """The contents of a model file."""
    import skops.io

    data = io.BytesIO(skops.io.dumps(model))
    with zipfile.ZipFile(data, "a") as archive:
        archive.comment = f"semisvm {__version__} model {FORMAT}".encode()
    return data.getvalue()


def load_model(path: Path) -> TableModel:
    """Read a model file; refused in one sentence if it is damaged, of another version, or holds foreign types."""
    import skops.io
    from skops.io.exceptions import UntrustedTypesFoundException

    data = _checked_archive(path)
    damaged = f"{path.name} is damaged and was not loaded; copy it again, or write it again by semisvm fit."
    try:
        types = skops.io.get_untrusted_types(data=data)
        foreign = [name for name in types if not is_known_type(name)]
        if foreign:
            raise InputError(
                f"{path.name} holds types that no model of semisvm has, {join_first(foreign, 5)}; nothing was loaded: "
                "use it only if you know where it comes from, and write it again by semisvm fit."
            )
        model = skops.io.loads(data, trusted=types)
    except UntrustedTypesFoundException as error:
        raise InputError(f"{path.name} was not loaded: {error}; write it again by semisvm fit.") from None
    except InputError:
        raise
    except Exception as error:  # skops raises whatever reading wrong contents leads to
        raise InputError(damaged) from error
    if not isinstance(model, TableModel):
        raise InputError(f"{path.name} holds no model of a table; write one by semisvm fit.")
    return model


def _checked_archive(path: Path) -> bytes:
    """The bytes of a model file of this format, whose archive is whole."""
    try:
        data = path.read_bytes()
    except FileNotFoundError:
        raise InputError(f"{path} does not exist; check the name and the folder ({Path.cwd()}).") from None
    except OSError as error:
        raise InputError(f"{path} cannot be read ({error.strerror or error}); fix that or copy the file.") from None
    not_a_model = f"{path.name} is no model file of semisvm; write one by semisvm fit."
    try:
        with zipfile.ZipFile(io.BytesIO(data)) as archive:
            found = COMMENT.fullmatch(archive.comment.decode("ascii", "replace"))
            size = sum(entry.file_size for entry in archive.infolist())
            is_whole = size <= MAX_EXPANSION * len(data) and archive.testzip() is None
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError, NotImplementedError, ValueError, RuntimeError):
        raise InputError(not_a_model) from None
    if found is None:
        raise InputError(not_a_model)
    if int(found["format"]) != FORMAT:
        raise InputError(
            f"{path.name} was written by semisvm {found['version']} in another format ({found['format']}, here "
            f"{FORMAT}); use that version, or write the model again by semisvm fit."
        )
    if not is_whole:
        raise InputError(f"{path.name} is damaged and was not loaded; copy it again, or write it again by semisvm fit.")
    return data


def is_known_type(name: str) -> bool:
    """Whether a type is one of arrays, or a class that the estimators and tables of this package define."""
    if name in ARRAY_TYPES:
        return True
    module, _, attribute = name.rpartition(".")
    if not OWN_MODULE.fullmatch(module):
        return False
    try:
        found = getattr(importlib.import_module(module), attribute, None)
    except ImportError:
        return False
    return isinstance(found, type) and found.__module__ == module and not issubclass(found, BaseException)
