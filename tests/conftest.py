"""Compiled loops are kept in a folder named by the hash of all sources: numba does not see that a callee changed."""

import hashlib
import os
import pathlib
import tempfile

SOURCES = sorted((pathlib.Path(__file__).parents[1] / "src" / "semisvm").rglob("*.py"))
DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]

os.environ.setdefault("NUMBA_CACHE_DIR", str(pathlib.Path(tempfile.gettempdir()) / f"semisvm-numba-{DIGEST}"))
