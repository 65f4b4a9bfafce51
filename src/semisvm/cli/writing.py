"""The output file: never the input, and complete or not there at all."""

from __future__ import annotations

import os
import secrets
import shutil
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from ..tables.files import FOLDER, STANDARD_STREAM, compressed, extension_of, format_of
from . import InputError, raise_pending_signal


def output_path(source: Path, requested: Path | None, force: bool, what: str = "labeled") -> Path:
    """The path of a table to write, refused if it cannot be written.

    Parameters
    ----------
    source : Path
        The input, which exists.
    requested : Path or None
        The value of ``--output``; None is ``<name>.<what>.<extension>`` beside the input, ``-`` standard output.
    force : bool
        Whether an existing file may be replaced.
    what : str
        What the output is.
    """
    if requested == STANDARD_STREAM:
        return requested
    form, extension = format_of(source), extension_of(source)
    if form == FOLDER:
        form, extension = "CSV", ".csv"
        source = source.resolve()
    named = requested or default_output(source, f".{what}{extension}")
    if format_of(named) not in (None, FOLDER, form):
        ending = f"a name that ends in {extension}" if extension else "another name"
        raise InputError(
            f"the output {named} has the extension of {format_of(named)}, but it is written as {form}, like the input; "
            f"pass {ending} with -o."
        )
    return check_output(named, source, force)


def default_output(source: Path, ending: str) -> Path:
    """The name of an output beside the input: its own without the extension, and an ending."""
    if source == STANDARD_STREAM:
        raise InputError(
            "the input is standard input, so the output has no name; pass one with -o, or -o - for standard output."
        )
    return source.with_name(f"{source.name.removesuffix(extension_of(source))}{ending}")


def check_output(named: Path, source: Path, force: bool) -> Path:
    """The path of a file to write, which is never the input; links are resolved, so that a link stays one."""
    path = Path(os.path.realpath(named))
    if path == Path(os.path.realpath(source)) or (path.exists() and path.samefile(source)):
        raise InputError(f"the output {named} is the input, which is never overwritten; pass another file with -o.")
    if path.is_dir():
        raise InputError(f"the output {named} is a folder; pass a file in it with -o.")
    if path.exists() and not path.is_file():
        raise InputError(f"the output {named} is not a regular file; pass another one with -o.")
    if path.exists() and not force:
        raise InputError(f"the output {named} exists; pass --force to replace it or another file with -o.")
    folder = path.parent
    if not folder.is_dir():
        raise InputError(f"the folder {folder} of the output does not exist; create it or pass another file with -o.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise InputError(f"the folder {folder} of the output is not writable; pass a file in another one with -o.")
    return path


@contextmanager
def atomic_file(path: Path, force: bool) -> Iterator[BinaryIO]:
    """A file that appears under its name when it is complete and on disk, and not at all after an error.

    With ``force`` an existing file is replaced. It is compressed if its extension says so.
    """
    if path == STANDARD_STREAM:
        with _standard_output() as file:
            yield file
        return
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")  # named first: always removed below
    try:
        with temporary.open("xb") as file:
            with compressed(file, path) as stream:
                yield stream
            file.flush()
            os.fsync(file.fileno())
        raise_pending_signal()
        if path.exists():
            if not force:
                raise InputError(
                    f"{path} was created by another program in the meantime; pass --force to replace it or another "
                    "file with -o."
                )
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except OSError as error:
        raise InputError(
            f"{path} could not be written ({error.strerror or error}); free disk space or pass another file with -o."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def check_output_folder(named: Path, source: Path, force: bool) -> Path:
    """The path of a folder of Parquet files to write, which has nothing to do with the input."""
    path, read = Path(os.path.realpath(named)), Path(os.path.realpath(source))
    if path == read or path in read.parents or read in path.parents:
        raise InputError(f"the output {named} is the input or a part of it; pass another folder with -o.")
    if path.exists():
        if not path.is_dir():
            raise InputError(f"the output {named} is a file, but a cluster writes a folder; pass another one with -o.")
        others = [one.name for one in path.iterdir() if one.is_dir() or one.suffix != ".parquet"]
        if others:
            raise InputError(f"the output {named} holds more than Parquet files ({others[0]}); pass another folder.")
        if not force:
            raise InputError(f"the output {named} exists; pass --force to replace it or another folder with -o.")
    if not path.parent.is_dir():
        raise InputError(f"the folder {path.parent} of the output does not exist; create it or pass another one.")
    if not os.access(path.parent, os.W_OK | os.X_OK):
        raise InputError(f"the folder {path.parent} of the output is not writable; pass another one with -o.")
    return path


@contextmanager
def atomic_folder(path: Path, force: bool) -> Iterator[Path]:
    """A folder to fill that appears under its name when it is complete, and not at all after an error."""
    token = secrets.token_hex(4)
    draft, former = (path.with_name(f".{path.name[:40]}.{token}.{end}") for end in ("tmp", "old"))
    try:
        draft.mkdir()
        yield draft
        raise_pending_signal()
        if path.exists():
            if not force:
                raise InputError(f"{path} was created by another program in the meantime; pass another folder with -o.")
            path.rename(former)
        draft.rename(path)
    except OSError as error:
        if former.exists() and not path.exists():
            former.rename(path)
        raise InputError(
            f"{path} could not be written ({error.strerror or error}); free disk space or pass another folder with -o."
        ) from None
    finally:
        shutil.rmtree(draft, ignore_errors=True)
        if path.exists():
            shutil.rmtree(former, ignore_errors=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)


@contextmanager
def _standard_output() -> Iterator[BinaryIO]:
    """Standard output for bytes; a closed pipe, as behind ``head``, is not an error."""
    try:
        yield sys.stdout.buffer
        sys.stdout.buffer.flush()
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
    except OSError as error:
        raise InputError(
            f"standard output could not be written ({error.strerror or error}); pass a file with -o."
        ) from None
