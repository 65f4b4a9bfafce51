"""``semisvm bench peers``: other programs and libraries beside ours."""

from __future__ import annotations

import json
import os
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ..bench import DataFolder
from ..bench.environment import environment
from ..bench.peers import PROGRAMS, Peer, Row, cases, compare_peers, table_lines
from . import InputError
from .progress import ProgressDisplay


@dataclass(frozen=True)
class PeersRequest:
    """The options of ``semisvm bench peers``; programs are executables by option."""

    samples: tuple[int, ...] = (500, 2000)
    data: Path | None = None
    out: Path | None = None
    programs: dict[str, Path | None] = field(default_factory=dict)

    @property
    def command(self) -> str:
        """The command of these options, without paths, which mean nothing elsewhere."""
        words = ["semisvm", "bench", "peers", *(f"--samples {count}" for count in self.samples)]
        return " ".join(words + [f"--{name}" for name, path in self.programs.items() if path is not None])


def measure_peers(request: PeersRequest, display: ProgressDisplay) -> list[Row]:
    """Run the peers and write the rows."""
    if request.data is not None and not request.data.is_dir():
        raise InputError(f"{request.data} is not a folder; pass the folder of the data sets with --data.")
    if request.out is not None and (request.out.is_dir() or not request.out.parent.is_dir()):
        raise InputError(f"{request.out} cannot be written; pass another --out.")
    peers = named_peers(request)
    rows = compare_peers(peers, cases(request.samples, DataFolder(request.data)), display.begin)
    if request.out is not None:
        try:
            request.out.write_text(json.dumps(peers_content(request, rows), indent=1) + "\n", encoding="utf-8")
        except OSError as error:
            raise InputError(f"{request.out} cannot be written ({error.strerror}); pass another --out.") from error
    return rows


def peers_content(request: PeersRequest, rows: list[Row]) -> dict[str, Any]:
    """The rows, and where they were measured."""
    return {"header": environment(request.command), "rows": [row.as_dict() for row in rows]}


def peers_lines(request: PeersRequest, rows: list[Row]) -> list[str]:
    """The lines of ``semisvm bench peers``."""
    written = [] if request.out is None else ["", f"written to {request.out}"]
    return [*table_lines(rows), *written]


def named_peers(request: PeersRequest) -> list[Peer]:
    """The calls of the programs that the user named."""
    found = []
    for name, path in request.programs.items():
        if path is None:
            continue
        if not path.is_file() or not (path.suffix == ".py" or os.access(path, os.X_OK)):
            kind = "a Python file" if name == "qns3vm" else "an executable file"
            raise InputError(f"{path} is not {kind}; pass that of the program with --{name}.")
        found += PROGRAMS[name](path)
    return found
