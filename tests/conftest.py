"""Compiled loops are kept in a folder named by the hash of all sources: numba does not see that a callee changed."""

import hashlib
import json
import os
import pathlib
import subprocess
import sys
import tempfile

import pytest

SOURCES = sorted((pathlib.Path(__file__).parents[1] / "src" / "semisvm").rglob("*.py"))
DIGEST = hashlib.sha256(b"".join(path.read_bytes() for path in SOURCES)).hexdigest()[:16]

os.environ.setdefault("NUMBA_CACHE_DIR", str(pathlib.Path(tempfile.gettempdir()) / f"semisvm-numba-{DIGEST}"))


FEW = {"MixedIntegerTSVM": 8, "mixed_integer": 8}  # unlabeled rows for which an exact search takes a blink
FEW |= dict.fromkeys(["GeneticTSVM", "genetic", "BranchBoundTSVM", "branch_bound", "SDPTSVM", "relaxation"], 12)


@pytest.fixture(autouse=True)
def few_unlabeled_rows(request, monkeypatch):
    """Tests over all machines or solvers ask an exact or a long one about few unlabeled rows: the others get labels."""
    params = request.node.callspec.params if hasattr(request.node, "callspec") else {}
    name = params.get("name", params.get("solver"))
    if isinstance(name, str) and name in FEW and hasattr(request.module, "hide_labels"):
        hide = request.module.hide_labels
        monkeypatch.setattr(
            request.module, "hide_labels", lambda y, n, **rest: hide(y, max(n, len(y) - FEW[name]), **rest)
        )


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    from program import SERVER, table, write  # typer and pandas are loaded where they are used

    source = write(tmp_path_factory.mktemp("warm") / "rows.csv", table())
    command = [sys.executable, "-c", SERVER, str(source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, tmp_path, tmp_path_factory):
    """Run the program in ``tmp_path``; ``first`` is code that its process executes before."""

    from program import Done

    def go(*argv, first=""):
        logs = tmp_path_factory.mktemp("logs")
        request = [[str(a) for a in argv], str(tmp_path), str(logs / "out"), str(logs / "err"), first]
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return Done(code, (logs / "out").read_text(), (logs / "err").read_text())

    return go
