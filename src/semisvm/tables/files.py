"""Files and standard streams: their formats by extension, their bytes, compressed or not."""

from __future__ import annotations

import io
import sys
import zlib
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

from . import InputError

STANDARD_STREAM = Path("-")  # standard input, or output
TEXT_FORMATS = {
    ".csv": "CSV",
    ".tsv": "TSV",
    ".jsonl": "JSON lines",
    ".ndjson": "JSON lines",
    ".libsvm": "LIBSVM",
    ".svmlight": "LIBSVM",
    ".svm": "LIBSVM",
}
BINARY_FORMATS = {".parquet": "Parquet", ".pq": "Parquet", ".feather": "Feather", ".arrow": "Arrow", ".npz": "NPZ"}
FORMATS = TEXT_FORMATS | BINARY_FORMATS
COMPRESSIONS = {".gz": "gzip", ".bz2": "bzip2", ".xz": "xz", ".zst": "zstd"}
FOLDER = "folder of texts"


def display_name(path: Path) -> str:
    """The name of an input in messages."""
    return "standard input" if path == STANDARD_STREAM else path.name


def compression_of(path: Path) -> str | None:
    """How a file is compressed, by its extension; None if it is not."""
    return COMPRESSIONS.get(path.suffix.lower())


def extension_of(path: Path) -> str:
    """The extension, with that of the compression: ``.csv.gz``."""
    return path.with_suffix("").suffix + path.suffix if compression_of(path) else path.suffix


def format_of(path: Path) -> str | None:
    """The format of a file by its extension, and of standard input by its first character; None if it is unknown."""
    if path == STANDARD_STREAM:
        start = _standard_input().peek(64)[:64].lstrip(b"\xef\xbb\xbf\xff\xfe\0 \t\r\n")
        return "JSON lines" if start.startswith((b"{", b"[")) else "CSV"
    if path.is_dir():
        return FOLDER
    if compression_of(path):
        return TEXT_FORMATS.get(path.with_suffix("").suffix.lower())
    return FORMATS.get(path.suffix.lower())


def _standard_input() -> io.BufferedReader:
    buffer = getattr(sys.stdin, "buffer", None)
    if buffer is None:
        raise InputError("standard input is closed; pipe a table into the command, or pass a file instead of -.")
    return buffer


def read_bytes(path: Path) -> bytes:
    """The content of a file or of standard input, decompressed."""
    if path == STANDARD_STREAM:
        return _standard_input().read()
    data, compression = path.read_bytes(), compression_of(path)
    if compression is None:
        return data
    import lzma

    try:
        return _decompress(data, compression)
    except (OSError, EOFError, ValueError, zlib.error, lzma.LZMAError) as error:
        raise InputError(
            f"{path.name} cannot be decompressed as {compression} ({str(error).rstrip('.')}); the file is damaged or "
            "incomplete: copy or compress it again."
        ) from None


def _decompress(data: bytes, compression: str) -> bytes:
    import bz2
    import gzip
    import lzma

    if compression == "zstd":
        import pyarrow as pa

        return pa.CompressedInputStream(pa.BufferReader(data), "zstd").read()
    return {"gzip": gzip, "bzip2": bz2, "xz": lzma}[compression].decompress(data)


@contextmanager
def compressed(file: BinaryIO, path: Path) -> Iterator[BinaryIO]:
    """A stream that compresses what is written to a file, as the extension of ``path`` says."""
    import bz2
    import gzip
    import lzma

    compression = compression_of(path)
    if compression is None:
        yield file
        return
    stream: Any
    if compression == "zstd":
        import pyarrow as pa

        stream = pa.CompressedOutputStream(pa.PythonFile(_KeptOpen(file), "w"), "zstd")
    elif compression == "gzip":
        stream = gzip.GzipFile("", "wb", 6, file, mtime=0)
    else:
        stream = {"bzip2": bz2.BZ2File, "xz": lzma.LZMAFile}[compression](file, "wb")
    with stream:
        yield stream


class _KeptOpen(io.RawIOBase):
    """A file that stays open when the stream that writes to it is closed."""

    def __init__(self, file: BinaryIO):
        self._file = file

    def writable(self) -> bool:
        return True

    def write(self, data: bytes) -> int:  # type: ignore[override]
        return self._file.write(data)
