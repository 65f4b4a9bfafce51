"""``semisvm bench``: tables are listed, run, resumed and refused."""

import json
import re
import signal
import subprocess
import sys

import pytest
from program import assert_refused, assert_success, file_names

from semisvm.bench import PROTOCOLS, read_records
from semisvm.cli.benchmarks import list_content, list_lines

SHIM = ("bench", "papers", "--table", "shim-4.1", "--quick", "--draws")


def test_list(run, tmp_path):
    (tmp_path / "data").mkdir()
    lines = assert_success(run("bench", "list", "--data", "data")).splitlines()
    assert [line.split()[0] for line in lines[::2]] == list(PROTOCOLS)
    assert (
        lines[1]
        .split("  ")[-1]
        .endswith("0 of 24 cells can be measured, chosen on the test samples; not found: coil20, g50c, text, uspst")
    )
    content = list_content(tmp_path / "data")
    assert [table["name"] for table in content["tables"]] == list(PROTOCOLS)
    assert content["tables"][0]["missing"] == ["coil20", "g50c", "text", "uspst"]
    assert list_lines(content) == lines


def test_a_table_is_run_and_resumed(run, tmp_path):
    out = assert_success(run(*SHIM, 1, "--out", "deep/results"))
    assert re.search(r"Realistic: \d of 2 compared cells matched or better", out)
    folder = tmp_path / "deep" / "results"
    assert file_names(folder) == ["README.md", "report.html", "shim-4.1.jsonl", "shim-4.1.md", "shim-4.1.svg"]
    assert "](shim-4.1.svg)" in (folder / "shim-4.1.md").read_text()
    assert "<svg " in (folder / "report.html").read_text()
    assert len(read_records(folder / "shim-4.1.jsonl").results) == 4
    assert_refused(run(*SHIM, 2, "--out", "deep/results"), "holds results of shim-4.1; pass --resume")
    assert_success(run(*SHIM, 2, "--out", "deep/results", "--resume"))
    records = read_records(folder / "shim-4.1.jsonl")
    assert sorted({result.draw for result in records.results}) == [0, 1]
    assert records.headers[1]["command"] == "semisvm bench papers --table shim-4.1 --quick --resume --draws 2"
    assert "2 of 100" in (folder / "shim-4.1.md").read_text()
    content = json.loads(assert_success(run("bench", "report", "--out", "deep/results", "--json")))
    assert [table["name"] for table in content["tables"]] == ["shim-4.1"]
    cells = content["tables"][0]["cells"]
    assert {cell["n_draws"] for cell in cells if cell["mean"] is not None} == {2}
    assert {cell["verdict"] for cell in cells} <= {"better", "matched", "worse", "not run", "no printed figure"}


def test_reports_are_written_again(run, tmp_path):
    assert_refused(run("bench", "report", "--out", "results"), "results holds no results; semisvm bench papers --out")
    assert_success(run(*SHIM, 1, "--out", "results"))
    before = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    for name in ("README.md", "report.html", "shim-4.1.md"):
        (tmp_path / "results" / name).unlink()
    assert "written to results" in assert_success(run("bench", "report", "--out", "results"))
    after = {path.name: path.read_bytes() for path in (tmp_path / "results").iterdir()}
    assert after.keys() == before.keys()
    assert after["shim-4.1.md"] == before["shim-4.1.md"]
    assert b"[Shim and Seok, Example 4.1: TLS-SVM on two Gaussians](shim-4.1.md)" in after["README.md"]


def test_the_report_has_tables_of_earlier_runs_as_they_were_measured(run, tmp_path):
    assert_success(run(*SHIM, 1, "--out", "results"))
    (tmp_path / "data").mkdir()
    assert_success(run("bench", "papers", "--table", "collobert-1.3", "--data", "data", "--out", "results"))
    page = (tmp_path / "results" / "report.html").read_text()
    assert page.index('id="collobert-1.3"') < page.index('id="shim-4.1"')
    assert page.count("Short form") == 1


def test_tables_without_data_are_not_run(run, tmp_path):
    (tmp_path / "data").mkdir()
    out = assert_success(run("bench", "papers", "--table", "collobert-1.3", "--data", "data", "--out", "results"))
    assert "Chosen on the test samples: no cell compared, 19 not run." in out
    page = (tmp_path / "results" / "collobert-1.3.md").read_text()
    assert "| g50c | SVM | 8.32 |  |  |  |  | not run: needs the data set g50c (data) |  |" in page


@pytest.mark.parametrize(
    "options, message",
    [
        (("--table", "shim"), r"there is no table 'shim'; did you mean shim-4\.1\?"),
        (("--table", "zzz"), "there is no table 'zzz'; semisvm bench list names them"),
        (("--data", "nosuch"), "nosuch is not a folder; pass the folder of the data sets with --data"),
        (("--draws", "0"), "see semisvm bench --help"),
        (("--out", "file"), "file is not a folder; pass another --out"),
    ],
)
def test_refusals(run, tmp_path, options, message):
    (tmp_path / "file").write_text("mine")
    assert_refused(run("bench", "papers", *options), message)
    assert file_names(tmp_path) == ["file"]


STOPPED = """
import os, signal, sys
import semisvm.bench.runner as runner
from semisvm.cli import main
whole = runner.run_task
def run_task(protocol, setup, task):
    if task.draw == 1:
        os.kill(os.getpid(), signal.SIGTERM)
    return whole(protocol, setup, task)
runner.run_task = run_task
sys.exit(main(sys.argv[1:]))
"""


@pytest.mark.slow
def test_a_signal_leaves_results_that_can_be_resumed(run, tmp_path):
    command = [sys.executable, "-c", STOPPED, *map(str, SHIM), "2", "--out", "results"]
    done = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True)
    assert done.returncode == 128 + signal.SIGTERM, done.stderr
    assert done.stderr == "stopped by SIGTERM; no incomplete file was left: run the command again with --resume.\n"
    path = tmp_path / "results" / "shim-4.1.jsonl"
    assert [result.draw for result in read_records(path).results] == [0] * 4
    assert_success(run(*SHIM, 2, "--out", "results", "--resume"))
    resumed = {key: result.value for key, result in read_records(path).by_task.items()}
    assert_success(run(*SHIM, 2, "--out", "whole"))
    whole = read_records(tmp_path / "whole" / "shim-4.1.jsonl").by_task
    assert resumed == {key: result.value for key, result in whole.items()}
