"""Where results were measured: versions, hardware, commit."""

from __future__ import annotations

import platform
import subprocess
import time
from importlib.metadata import version
from pathlib import Path
from typing import Any

from .. import __version__
from .._threads import n_available_threads

LIBRARIES = ("numpy", "scipy", "scikit-learn", "numba")


def environment(command: str) -> dict[str, Any]:
    """What the header of a file of results says, beside the protocol."""
    libraries = {name: version(name) for name in LIBRARIES}
    return {
        "semisvm": __version__,
        "commit": commit(),
        "python": platform.python_version(),
        **libraries,
        "cores": n_available_threads(),
        "processor": processor(),
        "system": f"{platform.system()} {platform.machine()}",
        "time": time.strftime("%Y-%m-%d %H:%M:%S"),
        "command": command,
    }


def commit() -> str | None:
    """The commit of the sources, with "+" where files differ from it; None outside of a git checkout."""
    folder = Path(__file__).resolve().parents[3]
    if not (folder / ".git").exists():
        return None
    git = ["git", "-C", str(folder)]
    try:
        known = subprocess.run([*git, "rev-parse", "--short=12", "HEAD"], capture_output=True, text=True, check=True)
        changed = subprocess.run(
            [*git, "status", "--porcelain", "--", "src"], capture_output=True, text=True, check=True
        )
    except (OSError, subprocess.CalledProcessError):
        return None
    return known.stdout.strip() + ("+" if changed.stdout.strip() else "")


def processor() -> str:
    """The model of the processor, as far as the system tells."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        lines = []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor() or platform.machine()
