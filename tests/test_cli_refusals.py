"""The command line and what it refuses: one sentence, exit 2, no file lost."""

import os
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from program import NAMES, PROGRAM, check_filled, good, leftovers, parquet, read, refused, table, write
from semisvm.datasets import hide_labels

# ------------------------------------------------------------------ where the result goes


def test_the_output_is_replaced_only_by_force(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    (tmp_path / "out.csv").write_text("mine")
    command = ("label", "rows.csv", "--target", "topic", "-o", "out.csv")
    refused(run(*command), r"out\.csv exists; pass --force to replace it or name another file with -o")
    assert (tmp_path / "out.csv").read_text() == "mine"
    (tmp_path / "out.csv").chmod(0o640)
    good(run(*command, "--force"))
    check_filled(table(), read(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o640
    assert leftovers(tmp_path) == ["out.csv", "rows.csv"]


def test_the_input_is_never_overwritten(run, tmp_path):
    source = write(tmp_path / "rows.csv", table())
    before = source.read_bytes()
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    for name in ("rows.csv", "./rows.csv", "link.csv", "hard.csv", tmp_path / "rows.csv"):
        done = run("label", "rows.csv", "--target", "topic", "-o", name, "--force")
        refused(done, "is the input itself, which is never overwritten; name another file with -o")
    refused(run("label", "link.csv", "--target", "topic", "-o", "rows.csv", "--force"), "is the input itself")
    assert source.read_bytes() == before
    assert leftovers(tmp_path) == ["hard.csv", "link.csv", "rows.csv"]


def test_outputs_that_cannot_be(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    (tmp_path / "folder.csv").mkdir()
    cases = {
        "folder.csv": "is a folder; name a file in it",
        "rows.csv/out.csv": "the folder .*rows.csv of the output does not exist",
        "nosuch/out.csv": "the folder .*nosuch of the output does not exist; make it",
        "out.parquet": "is named like Parquet and the input is CSV.*ends in .csv",
        "/dev/null": "is no ordinary file",
    }
    for name, sentence in cases.items():
        refused(run("label", "rows.csv", "--target", "topic", "-o", name, "--force"), sentence)
    assert leftovers(tmp_path) == ["folder.csv", "rows.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_a_folder_without_permission(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    (tmp_path / "shut").mkdir(mode=0o500)
    refused(run("label", "rows.csv", "--target", "topic", "-o", "shut/out.csv"), "cannot be written to")


def test_a_full_disk_leaves_nothing(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    small = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))"
    )
    done = run("label", "rows.csv", "--target", "topic", first=small)
    refused(done, r"rows\.labeled\.csv could not be written .*; make room")
    assert leftovers(tmp_path) == ["rows.csv"]


# ------------------------------------------------------------------ bad files

HEADER = b"a,b,topic\n"
FILES = {
    "empty file": (b"", "rows.csv is empty; a header line"),
    "blank lines": (b"\n\n \n", "rows.csv is empty"),
    "header only": (HEADER, "has a header and no rows"),
    "one row": (HEADER + b"1,2,x\n\n", None),
    "one empty row": (HEADER + b"1,2,\n", "all 1 cells of the target 'topic' are empty; write labels into"),
    "all empty": (HEADER + b"1,2,\n2,3, \n", "all 2 cells of the target 'topic' are empty"),
    "one class": (HEADER + b"1,2,x\n2,3,\n4,4,x\n", "one class only, 'x'; label rows of a second class"),
    "no column left": (HEADER + b",5,x\n,5,y\n,5,\n", r"can be used: a \(empty\), b \(constant\); add a column"),
    "target alone": (b"topic\nx\ny\nx\n", None),
    "short row": (HEADER + b"1,2,x\n1,2\n", "rows.csv: line 3 has 2 cells and the header 3; give every row as many"),
    "open quote": (HEADER + b'1,2,x\n1,"2,y\n', "rows.csv: a quote opened in line 3 is never closed; close it"),
    "zero bytes": (HEADER + b"1,\0,x\n", "zero bytes.*--encoding utf-16"),
    "latin-1": (HEADER + "1,2,é\n".encode("latin-1"), "not UTF-8: byte 0xe9 in line 2"),
    "all distinct": (HEADER + b"".join(b"%d,1,t%d\n" % (i % 5, i) for i in range(40)) + b"1,2,\n", "all 40 labels of"),
}


@pytest.mark.parametrize("case", FILES)
def test_bad_files(run, tmp_path, case):
    content, sentence = FILES[case]
    (tmp_path / "rows.csv").write_bytes(content)
    done = run("label", "rows.csv", "--target", "topic")
    if sentence is None:
        assert "nothing was unlabeled" in good(done)
    else:
        refused(done, sentence)
        assert leftovers(tmp_path) == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_bytes() == content


def test_bad_parquet(run, tmp_path):
    command = ("--target", "topic")
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    refused(run("label", "text.parquet", *command), r"text\.parquet cannot be read as Parquet .*; write the file again")
    parquet(tmp_path / "rows.parquet", NAMES, pa.string())
    whole = (tmp_path / "rows.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(whole[: len(whole) // 2])
    refused(run("label", "cut.parquet", *command), r"cut\.parquet cannot be read as Parquet")
    broken = bytearray(whole)
    broken[200:600] = bytes(400)
    (tmp_path / "hole.parquet").write_bytes(broken)
    refused(run("label", "hole.parquet", *command), r"hole\.parquet cannot be read as Parquet")
    refused(run("label", "rows.parquet", *command, "--encoding", "latin-1"), "always UTF-8; leave --encoding out")
    refused(run("label", "rows.parquet", "--target", "nested"), "is of type list<.*labels are text, whole numbers")
    refused(run("label", "rows.parquet", "--target", "x"), "holds fractions such as .*turn it into classes")
    pq.write_table(
        pa.table({"a": pa.array([], pa.int64()), "topic": pa.array([], pa.string())}), tmp_path / "0.parquet"
    )
    refused(run("label", "0.parquet", *command), "has a header and no rows")


def test_paths_and_targets_that_are_not_there(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    refused(
        run("label", "nosuch.csv", "--target", "topic"), r"nosuch\.csv does not exist; check the name and the folder"
    )
    refused(
        run("label", "folder.csv", "--target", "topic"), r"folder\.csv is a folder; name one file that ends in \.csv"
    )
    refused(
        run("label", "rows.xlsx", "--target", "topic"), r"ends in \.xlsx; files that end in \.csv, .*: save the table"
    )
    columns = "'id', 'length', 'size', 'paper', 'day', 'title', 'topic'"
    refused(
        run("label", "rows.csv", "--target", "zzz"), f"no column 'zzz'; its columns are {columns}: pass one of them"
    )
    refused(run("label", "rows.csv", "--target", "Topic"), r"its columns are .*: did you mean 'topic'\?")
    refused(run("label", "rows.csv"), f"--target is missing; name the column .* one of {columns}")


def test_options_that_are_not_there(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    refused(run("label", "rows.csv", "--nosuch"), "--nosuch.*; see semisvm label --help")
    refused(run("label"), "TABLE.*; see semisvm label --help")
    refused(run("label", "rows.csv", "--target", "topic", "--seed", "x"), "--seed.*; see semisvm label --help")
    refused(run("nosuch"), "nosuch.*; see semisvm --help")
    refused(run("label", "rows.csv", "--target", "topic", "--method", "magic"), "magic is not known; pass one of svm,")


# ------------------------------------------------------------------ stopped, missing extras, errors of our own

BIG = 2500


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A table whose fit takes some seconds."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((BIG, 8))
    partly = hide_labels((points[:, 0] > 0).astype(int), 300, random_state=0)
    lines = [",".join([*(f"{v:.4f}" for v in row), "" if y < 0 else f"c{y}"]) for row, y in zip(points, partly)]
    path = tmp_path_factory.mktemp("big") / "rows.csv"
    path.write_text("\n".join([",".join([*"abcdefgh", "topic"]), *lines, ""]))
    return path


@pytest.mark.parametrize(
    "number, stage",
    [(signal.SIGTERM, "kernel and steps"), (signal.SIGINT, "kernel and steps"), (signal.SIGTERM, "writing")],
)
def test_stopped_in_mid_run(big, number, stage):
    before, folder = big.read_bytes(), big.parent
    process = subprocess.Popen(
        [*PROGRAM, "label", str(big), "--target", "topic", "--verbose"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell may have it ignored
    )  # fmt: skip
    said = ""
    while stage not in said:
        said = process.stderr.readline()
        assert said, "ended before the signal"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert big.read_bytes() == before
    assert "Traceback" not in err
    result = folder / "rows.labeled.csv"
    if stage == "writing" and result.exists():  # it was faster than the signal
        assert len(result.read_text().splitlines()) == BIG + 1
        result.unlink()
    else:
        assert process.returncode == 128 + number
        assert err.endswith(f"stopped by {number.name}; no half-written file was left, run the command again.\n")
        assert out == ""
    assert leftovers(folder) == ["rows.csv"]


WITHOUT = "sys.modules.update({{m: None for m in list(sys.modules) if m.partition('.')[0] == '{0}'}} | {{'{0}': None}})"
AFRESH = "[sys.modules.pop(m) for m in list(sys.modules) if m.startswith('semisvm.cli')]"


@pytest.mark.parametrize("missing", ["typer", "pandas", "pyarrow"])
def test_a_missing_extra(run, tmp_path, missing):
    parquet(tmp_path / "rows.parquet", NAMES, pa.string())
    done = run("label", "rows.parquet", "--target", "topic", first=f"{WITHOUT.format(missing)}; {AFRESH}")
    refused(done, f'needs {missing}, which is not installed; run: pip install "semisvm.cli."')


def test_importing_the_command_line_is_light_and_the_library_leaves_it_out():
    code = "import sys, semisvm; before = set(sys.modules); import semisvm.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["semisvm.cli"]


def test_an_error_of_our_own_is_one_sentence(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    broken = "sys.modules['semisvm.cli.labeling'].transformer = lambda used: 1 / 0"
    argv = ("label", "rows.csv", "--target", "topic")
    refused(run(*argv, first=broken), "internal error .ZeroDivisionError.*run again with --debug", code=1)
    done = run(*argv, "--debug", first=broken)
    assert done.code == 1
    assert "Traceback" in done.err
    assert leftovers(tmp_path) == ["rows.csv"]
