"""A clock for the tests, and compiled loops in a folder named by the hash of their sources and numba's version.

Compiled loops and the constants in them stand in the files below. numba does not see that a callee changed, and
versions of it overwrite what others have compiled. Workers of pytest-xdist have the cores between them: threads of
BLAS, which wait by spinning, would take a quarter of their time.
"""

import hashlib
import os
import pathlib
import tempfile
from importlib.metadata import version
from types import SimpleNamespace

import pytest

PACKAGE = pathlib.Path(__file__).parents[1] / "src" / "semisvm"
COMPILED = ("_jit.py", "losses.py", "spaces/**/*.py", "solvers/**/*.py", "tables/records.py")
SOURCES = sorted(path for pattern in COMPILED for path in PACKAGE.glob(pattern))
CONTENTS = [version("numba").encode(), *(path.read_bytes() for path in SOURCES)]
DIGEST = hashlib.sha256(b"".join(CONTENTS)).hexdigest()[:16]

os.environ.setdefault("NUMBA_CACHE_DIR", str(pathlib.Path(tempfile.gettempdir()) / f"semisvm-numba-{DIGEST}"))


def pytest_configure(config):
    if getattr(config.option, "numprocesses", None):
        os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")  # of the workers, which are not started yet


class Clock:
    """A clock that the test moves."""

    def __init__(self):
        self.now = 100.0

    def __call__(self):
        return self.now


@pytest.fixture
def clock(monkeypatch):
    """The clock of stopping rules, which stands still unless the test moves it."""
    clock = Clock()
    monkeypatch.setattr("semisvm.solvers.base.time", SimpleNamespace(perf_counter=clock))
    return clock
