"""The command line in a process that has its imports and compiled functions ready."""

import json
import subprocess
import sys

import pytest


@pytest.fixture(scope="session")
def server(tmp_path_factory):
    from program import SERVER, example_rows, write_csv  # typer and pandas are imported only where they are used

    source = write_csv(tmp_path_factory.mktemp("warm") / "rows.csv", example_rows())
    command = [sys.executable, "-c", SERVER, str(source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, tmp_path, tmp_path_factory):
    """Run the program in ``tmp_path``; ``setup`` is code that its process executes before.

    Where ``label`` is called without a method it is cccp, which is much faster than the default one, and there is no
    report unless it is asked for.
    """

    from program import Completed

    def run_program(*argv, setup=""):
        if argv[:1] == ("label",) and "--method" not in argv:
            argv += ("--method", "cccp")
        if argv[:1] == ("label",) and "--report" not in argv:
            argv += ("--no-report",)
        logs = tmp_path_factory.mktemp("logs")
        request = [[str(a) for a in argv], str(tmp_path), str(logs / "out"), str(logs / "err"), setup]
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return Completed(code, (logs / "out").read_text(), (logs / "err").read_text())

    return run_program
