"""Where the result goes: never over the input, whole or not at all."""

from __future__ import annotations

import os
import secrets
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO

from . import Refusal, stop_if_asked
from .reading import format_of


def output_path(source: Path, wanted: Path | None, force: bool) -> Path:
    """Where to write, refused if it cannot be.

    Parameters
    ----------
    source : Path
        The input, which exists.
    wanted : Path or None
        What the user asks for; None is ``<name>.labeled.<ending>`` beside the input.
    force : bool
        Whether a file that is there may be replaced.

    Returns
    -------
    Path
        With links resolved, so that a link stays one.
    """
    named = wanted or source.with_name(f"{source.stem}.labeled{source.suffix}")
    path = Path(os.path.realpath(named))
    if path == Path(os.path.realpath(source)) or (path.exists() and path.samefile(source)):
        raise Refusal(f"the output {named} is the input itself, which is never overwritten; name another file with -o.")
    if path.is_dir():
        raise Refusal(f"the output {named} is a folder; name a file in it with -o.")
    if format_of(path) not in (None, format_of(source)):
        raise Refusal(
            f"the output {named} is named like {format_of(path)} and the input is {format_of(source)}, in which it "
            f"is written; give -o a name that ends in {source.suffix}."
        )
    if path.exists() and not path.is_file():
        raise Refusal(f"the output {named} is no ordinary file; name another one with -o.")
    if path.exists() and not force:
        raise Refusal(f"the output {named} exists; pass --force to replace it or name another file with -o.")
    folder = path.parent
    if not folder.is_dir():
        raise Refusal(f"the folder {folder} of the output does not exist; make it or name another file with -o.")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise Refusal(f"the folder {folder} of the output cannot be written to; name a file elsewhere with -o.")
    return path


@contextmanager
def whole_file(path: Path, force: bool) -> Iterator[BinaryIO]:
    """A file that appears under its name when it is complete and on disk, and never if anything goes wrong.

    Parameters
    ----------
    path : Path
        The name.
    force : bool
        Whether a file of that name may be replaced.
    """
    temporary = path.with_name(f".{path.name[:40]}.{secrets.token_hex(4)}.tmp")  # named before it is made: always found
    try:
        with temporary.open("xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        stop_if_asked()
        if path.exists():
            if not force:
                raise Refusal(f"{path} was made by somebody else meanwhile; pass --force or name another file with -o.")
            temporary.chmod(path.stat().st_mode & 0o777)
        temporary.replace(path)
    except OSError as error:
        raise Refusal(
            f"{path} could not be written ({error.strerror or error}); make room or name another file with -o."
        ) from None
    finally:
        temporary.unlink(missing_ok=True)
    _sync_folder(path.parent)


def _sync_folder(folder: Path) -> None:
    with suppress(OSError):  # not every system opens folders
        handle = os.open(folder, os.O_RDONLY)
        try:
            os.fsync(handle)
        finally:
            os.close(handle)
