"""``semisvm bench peers``: a table of programs beside ours, rows as JSON, and refusals."""

import json
import stat
import sys

import pytest
from program import assert_refused, assert_success, file_names

# scikit-learn and ours take a process each, and are tested elsewhere
PROGRAMS_ALONE = "import semisvm.bench.peers.comparison as c; c.ESTIMATORS = {}"
FAKE = "open('samples.weights', 'w').write('0\\n' * 51)"


def program(path, source):
    path.write_text(f"#!{sys.executable}\n{source}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)
    return path


def test_a_program_is_timed(run, tmp_path):
    program(tmp_path / "svmlin", FAKE)
    options = ("--samples", 20, "--samples", 30, "--svmlin", "svmlin", "--out", "rows.json")
    out = assert_success(run("bench", "peers", *options, setup=PROGRAMS_ALONE))
    assert out.splitlines()[-1] == "written to rows.json"
    assert "two Gaussians, u = 20  SVMlin, finite Newton" in out
    held = json.loads((tmp_path / "rows.json").read_text())
    assert held["header"]["command"] == "semisvm bench peers --samples 20 --samples 30 --svmlin"
    assert [row["method"] for row in held["rows"][:3]] == [
        "SVMlin, finite Newton",
        "SVMlin, switching",
        "SVMlin, annealing",
    ]
    assert held["rows"][0]["objective"] == pytest.approx(70.0)  # at w = 0 every sample pays C = 1
    assert held["rows"][1]["objective"] == pytest.approx(100.0)  # 50 labels, and C* = C l/u


def test_a_program_that_fails_is_a_line_of_the_table(run, tmp_path):
    program(tmp_path / "svmlin", "raise SystemExit('out of memory')")
    out = assert_success(run("bench", "peers", "--samples", 20, "--svmlin", "svmlin", setup=PROGRAMS_ALONE))
    assert "SVMlin, switching: SVMlin ended with code 1: out of memory." in out


@pytest.mark.parametrize(
    "options, message",
    [
        (("--svmlin", "nosuch"), "nosuch is not an executable file; pass that of the program with --svmlin"),
        (("--universvm", "file"), "file is not an executable file; pass that of the program with --universvm"),
        (("--qns3vm", "nosuch.py"), "nosuch.py is not a Python file; pass that of the program with --qns3vm"),
        (("--data", "nosuch"), "nosuch is not a folder; pass the folder of the data sets with --data"),
        (("--out", "nosuch/rows.json"), "rows.json cannot be written; pass another --out"),
        (("--samples", "5"), "see semisvm bench"),
    ],
)
def test_refusals(run, tmp_path, options, message):
    (tmp_path / "file").write_text("mine")
    assert_refused(run("bench", "peers", *options), message)
    assert file_names(tmp_path) == ["file"]
