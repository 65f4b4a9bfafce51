"""The encoding of a text file: named by the user, or found by its bytes and reported if it is not UTF-8.

A byte order mark decides, then zero bytes at every other position, which are UTF-16; then UTF-8 is tried. What is left
is cp1252, the encoding of Western Europe with all letters of latin-1, if every byte is a character of it and few of
those beyond ASCII stand side by side, as they would in other alphabets.
"""

from __future__ import annotations

import codecs
import re
from pathlib import Path
from typing import NamedTuple

from . import InputError
from .files import display_name, read_bytes

MARKS = {  # the longer ones first
    codecs.BOM_UTF32_LE: "utf-32-le",
    codecs.BOM_UTF32_BE: "utf-32-be",
    codecs.BOM_UTF8: "utf-8",
    codecs.BOM_UTF16_LE: "utf-16-le",
    codecs.BOM_UTF16_BE: "utf-16-be",
}
NAMES = {"utf-16-le": "UTF-16", "utf-16-be": "UTF-16", "utf-32-le": "UTF-32", "utf-32-be": "UTF-32"}
N_SNIFFED_BYTES = 4096
MIN_ZEROS = 0.3  # share of zero bytes at every other position of UTF-16
MAX_SIDE_BY_SIDE = 0.2  # share of bytes beyond ASCII that stand in runs of three or more
CHUNK = 2**24
BEYOND_ASCII = re.compile(rb"[\x80-\xff]+")
CONTROLS = re.compile(rb"[\x00-\x08\x0e-\x1a\x1c-\x1f\x7f\x81\x8d\x8f\x90\x9d]")  # no characters of cp1252


class SourceText(NamedTuple):
    """The text of a file in UTF-8 without the byte order mark, and how it is encoded again."""

    data: bytes
    mark: bytes
    encoding: str
    notes: list[str]

    @property
    def text(self) -> str:
        """The text."""
        return self.data.decode()

    def encode(self, text: str | bytes) -> bytes:
        """A text, or its bytes in UTF-8, in the encoding of the file."""
        if self.encoding == "utf-8":
            return text if isinstance(text, bytes) else text.encode()
        return (text.decode() if isinstance(text, bytes) else text).encode(self.encoding)


def read_text(path: Path, encoding: str | None = None) -> SourceText:
    """The text of a file or of standard input; refused in one sentence if it has another encoding.

    Parameters
    ----------
    path : Path
        The file.
    encoding : str, optional
        Its encoding; None detects it.
    """
    data, name = read_bytes(path), display_name(path)
    mark, found, notes = find_encoding(data, name, encoding)
    data = data[len(mark) :]
    try:
        if found != "utf-8":
            data = data.decode(found).encode()
        elif mark or encoding:  # otherwise it was found by decoding it
            data.decode()
    except UnicodeDecodeError as error:
        start, said = error.start, NAMES.get(found, found)
        line = data.count(b"\n", 0, start) + 1
        raise InputError(
            f"{name} is not {said}: byte 0x{data[start]:02x} in line {line} cannot be decoded; "
            "save it as UTF-8 or pass its encoding, for instance --encoding latin-1 or --encoding cp1252."
        ) from None
    except UnicodeError as error:
        raise InputError(f"{name} is not {found}: {error}; pass its encoding with --encoding.") from None
    return SourceText(data, mark, found, notes)


def find_encoding(data: bytes, name: str, encoding: str | None = None) -> tuple[bytes, str, list[str]]:
    """The byte order mark, the encoding and notes on it; ``encoding`` is what the user named."""
    mark = next((mark for mark in MARKS if data.startswith(mark)), b"")
    if encoding is not None:
        return _named_encoding(encoding, mark)
    if mark:
        found = MARKS[mark]
    elif b"\0" in data[:N_SNIFFED_BYTES]:
        found = _utf16_by_zeros(data[:N_SNIFFED_BYTES], name)
    else:
        start = first_invalid(data)
        if start is None:
            return b"", "utf-8", []
        found = _western(data, start, name)
    if found == "utf-8":
        return mark, found, []
    said = NAMES.get(found, f"{found} (Western European)")
    return mark, found, [f"{name} is not UTF-8; read and written as {said}, --encoding names another encoding"]


def _named_encoding(encoding: str, mark: bytes) -> tuple[bytes, str, list[str]]:
    try:
        found = codecs.lookup(encoding)
        if not found._is_text_encoding:
            raise LookupError
    except (LookupError, ValueError):
        raise InputError(
            f"--encoding {encoding} is not a known text encoding; pass one such as utf-8, latin-1 or cp1252."
        ) from None
    marked = MARKS.get(mark, "")
    if found.name in ("utf-16", "utf-32") and marked.startswith(found.name):
        return mark, marked, []  # these would write another mark than the file has
    if found.name in ("utf-8-sig", marked):
        return (mark if marked == "utf-8" or found.name == marked else b""), marked or "utf-8", []
    return b"", found.name, []


def first_invalid(data: bytes) -> int | None:
    """The position of the first byte that is not UTF-8; None if all are."""
    decoder, pending = codecs.getincrementaldecoder("utf-8")(), 0
    for start in range(0, len(data), CHUNK):
        chunk = data[start : start + CHUNK]
        try:
            decoder.decode(chunk, final=start + CHUNK >= len(data))
        except UnicodeDecodeError as error:
            return start - pending + error.start
        pending = len(decoder.getstate()[0])
    return None


def _utf16_by_zeros(start: bytes, name: str) -> str:
    even, odd = (start[offset::2].count(0) / max(len(start) // 2, 1) for offset in (0, 1))
    if odd >= MIN_ZEROS > 2 * even:
        return "utf-16-le"
    if even >= MIN_ZEROS > 2 * odd:
        return "utf-16-be"
    raise InputError(
        f"{name} contains zero bytes and is not UTF-16, so it is not a text file; save the table as text in UTF-8, or "
        "pass its encoding with --encoding."
    )


def _western(data: bytes, start: int, name: str) -> str:
    """cp1252, or a refusal where the bytes are damaged UTF-8 or another alphabet."""
    line = data.count(b"\n", 0, start) + 1
    invalid = f"byte 0x{data[start]:02x} in line {line}"
    sample = data[max(0, start - 2**20) : start + 2**20]
    n_invalid = sample.decode("utf-8", "replace").count("\ufffd")
    n_valid = sum(ord(c) > 127 for c in sample.decode("utf-8", "ignore"))
    if n_valid > 2 * n_invalid:
        raise InputError(f"{name} is UTF-8 except for {invalid}; correct it or pass another encoding with --encoding.")
    runs = [len(run) for run in BEYOND_ASCII.findall(sample)]
    side_by_side = sum(length for length in runs if length > 2)
    if CONTROLS.search(sample) or side_by_side > MAX_SIDE_BY_SIDE * sum(runs):
        raise InputError(
            f"{name} is not UTF-8 ({invalid} cannot be decoded) and not Western European text; pass its encoding, for "
            "instance --encoding cp1251, gbk or shift_jis, or save it as UTF-8."
        )
    return "cp1252"
