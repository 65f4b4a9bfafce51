"""NPZ files: the samples in the array X, their labels in y."""

from __future__ import annotations

import zipfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, ClassVar

import numpy as np
from scipy import sparse

from . import InputError
from .columns import RawColumn
from .table import Table, without_fractions

CSR_ARRAYS = {"data", "indices", "indptr", "shape"}  # as scipy.sparse.save_npz names them


@dataclass(kw_only=True)
class NpzTable(Table):
    """An NPZ file; the possible targets are its arrays of one value per sample."""

    arrays: dict[str, np.ndarray]
    is_compressed: bool

    default_target: ClassVar[str | None] = "y"

    @classmethod
    def read(cls, path: Path, encoding: str | None = None, target: str | None = None) -> NpzTable:
        """Read a file; Python objects, whose loading could run code, are refused."""
        if encoding is not None:
            raise InputError(f"{path.name} is NPZ, which has no encoding; remove --encoding.")
        arrays, is_compressed = _load(path)
        matrix, notes = _samples(arrays, path.name)
        n_rows = matrix.shape[0]
        names = [name for name, array in arrays.items()
                 if array.shape in ((n_rows,), (n_rows, 1)) and name not in {"X", *CSR_ARRAYS}]  # fmt: skip
        if not names:
            raise InputError(
                f"{path.name} has no array of {n_rows:,} labels, one per sample, only {_listed(arrays)}; save the "
                "labels as y, with -1 or NaN where there is none."
            )
        return cls(names=names, n_rows=n_rows, notes=notes, matrix=matrix, arrays=arrays, is_compressed=is_compressed)

    def column(self, position: int) -> RawColumn:
        """The labels; the features are ``matrix``."""
        return RawColumn("other", "labels")

    def target_cells(self, position: int) -> list[Any]:
        """The labels, None for NaN."""
        name = self.names[position]
        array = self.arrays[name].ravel()
        if array.dtype.kind not in "biufU":
            raise InputError(
                f"the labels {name} have the type {array.dtype}; labels are text, whole numbers or booleans: convert "
                "the array."
            )
        return without_fractions(array.tolist(), name)

    def write(
        self,
        file: BinaryIO,
        position: int,
        filled: list[Any],
        name: str,
        confidence: list[float],
        escape: bool = True,
    ) -> None:
        """Write all arrays, with the filled labels and one more array."""
        target = self.names[position]
        old = self.arrays[target]
        values = [given if label is None else label for given, label in zip(old.ravel().tolist(), filled)]
        dtype = None if old.dtype.kind == "U" else old.dtype  # longer labels than before need a wider type
        self._write_arrays(file, {target: np.array(values, dtype=dtype).reshape(old.shape), name: np.array(confidence)})

    def write_appended(self, file: BinaryIO, columns: dict[str, list[Any]], escape: bool = True) -> None:
        """Write all arrays, and more."""
        self._write_arrays(file, {name: np.array(values) for name, values in columns.items()})

    def _write_arrays(self, file: BinaryIO, more: dict[str, np.ndarray]) -> None:
        method = zipfile.ZIP_DEFLATED if self.is_compressed else zipfile.ZIP_STORED
        with zipfile.ZipFile(file, "w", method) as archive:  # not savez, which takes no array named file
            for member, array in (self.arrays | more).items():
                with archive.open(f"{member}.npy", "w", force_zip64=True) as stream:
                    np.lib.format.write_array(stream, array, allow_pickle=False)


def _load(path: Path) -> tuple[dict[str, np.ndarray], bool]:
    """The arrays of a file, and whether they are compressed."""
    try:
        with zipfile.ZipFile(path) as archive:
            is_compressed = any(item.compress_type != zipfile.ZIP_STORED for item in archive.infolist())
        with np.load(path, allow_pickle=False) as file:
            arrays = {name: file[name] for name in file.files}
    except (ValueError, zipfile.BadZipFile, zlib.error, EOFError, KeyError, NotImplementedError, RuntimeError) as error:
        if "allow_pickle" in str(error):
            raise InputError(
                f"{path.name} holds Python objects, which are not loaded since that could run code; save arrays of "
                "numbers or text."
            ) from None
        reason = " ".join(str(error).split())[:120].rstrip(".")
        raise InputError(f"{path.name} cannot be read as NPZ ({reason}); save it again with numpy.savez.") from None
    other = next((name for name, array in arrays.items() if not isinstance(array, np.ndarray)), None)
    if other is not None:
        raise InputError(f"{path.name} holds {other!r}, which is no array; save it again with numpy.savez.")
    return arrays, is_compressed


def _samples(arrays: dict[str, np.ndarray], file_name: str) -> tuple[Any, list[str]]:
    """X as a matrix of floats, and notes on it."""
    if "X" not in arrays and set(arrays) >= CSR_ARRAYS:
        return _sparse_samples(arrays, file_name)
    X = arrays.get("X")
    if X is None or X.ndim < 2 or X.dtype.kind not in "biuf":
        found = f"only {_listed(arrays)}" if X is None else f"it is {X.dtype} of shape {X.shape}"
        raise InputError(
            f"{file_name} has no X of numbers with one row per sample, {found}; save the samples as X and the labels "
            "as y."
        )
    if not X.size:
        raise InputError(f"{file_name} holds an empty X of shape {X.shape}; save samples with features as X.")
    notes = [f"X is a dense matrix of {X[0].size:,} features, which are standardized"]
    if X.ndim > 2:
        notes.append(f"the samples of shape {X.shape[1:]} are taken as vectors")
    X = X.reshape(len(X), -1).astype(float)
    return np.where(np.isfinite(X), X, np.nan), notes


def _sparse_samples(arrays: dict[str, np.ndarray], file_name: str) -> tuple[Any, list[str]]:
    try:
        X = sparse.csr_matrix(tuple(arrays[name] for name in ("data", "indices", "indptr")), tuple(arrays["shape"]))
        X.check_format(full_check=True)
        X = X.astype(float)
    except (ValueError, TypeError, IndexError) as error:
        reason = " ".join(str(error).split()).rstrip(".")
        raise InputError(
            f"{file_name} holds no CSR matrix ({reason}); save a dense X, or the file as LIBSVM."
        ) from None
    if not np.isfinite(X.data).all():
        raise InputError(f"{file_name} holds NaN or infinity in a sparse matrix; replace them, or save a dense X.")
    return X, [f"X is a sparse matrix of {X.shape[1]:,} features, taken as it is"]


def _listed(arrays: dict[str, np.ndarray]) -> str:
    return ", ".join(f"{name} {array.shape}" for name, array in list(arrays.items())[:10]) or "nothing"
