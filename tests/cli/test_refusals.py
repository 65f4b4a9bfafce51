"""Bad input, signals and internal errors: one sentence on stderr, an exit code, and no file lost."""

import os
import re
import signal
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import (
    PROGRAM,
    READING,
    TOPICS,
    assert_filled,
    assert_refused,
    assert_success,
    example_rows,
    file_names,
    read_csv,
    write_csv,
    write_parquet,
)

from semisvm.datasets import hide_labels

# ------------------------------------------------------------------ the output


def test_output_is_replaced_only_with_force(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    (tmp_path / "out.csv").write_text("mine")
    command = ("label", "rows.csv", "--target", "topic", "-o", "out.csv")
    assert_refused(run(*command), r"out\.csv exists; pass --force to replace it or another file with -o")
    assert (tmp_path / "out.csv").read_text() == "mine"
    (tmp_path / "out.csv").chmod(0o640)
    assert_success(run(*command, "--force"))
    assert_filled(example_rows(), read_csv(tmp_path / "out.csv"))
    assert (tmp_path / "out.csv").stat().st_mode & 0o777 == 0o640
    assert file_names(tmp_path) == ["out.csv", "rows.csv"]


def test_reports_of_users_are_kept(run, tmp_path):
    (tmp_path / "rows.csv").write_text("x,topic\n1,a\n2,b\n3,\n")
    (tmp_path / "rows.labeled.html").write_text("mine")
    assert_refused(
        run("label", "rows.csv", "--target", "topic", "--report"), r"rows\.labeled\.html exists; pass --force"
    )
    assert (tmp_path / "rows.labeled.html").read_text() == "mine"
    assert not (tmp_path / "rows.labeled.csv").exists()


def test_input_is_never_overwritten(run, tmp_path):
    source = write_csv(tmp_path / "rows.csv", example_rows())
    before = source.read_bytes()
    (tmp_path / "link.csv").symlink_to(source)
    os.link(source, tmp_path / "hard.csv")
    for name in ("rows.csv", "./rows.csv", "link.csv", "hard.csv", tmp_path / "rows.csv"):
        done = run("label", "rows.csv", "--target", "topic", "-o", name, "--force")
        assert_refused(done, "is the input, which is never overwritten; pass another file with -o")
    assert_refused(run("label", "link.csv", "--target", "topic", "-o", "rows.csv", "--force"), "is the input")
    assert source.read_bytes() == before
    assert file_names(tmp_path) == ["hard.csv", "link.csv", "rows.csv"]


def test_invalid_outputs(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    (tmp_path / "folder.csv").mkdir()
    cases = {
        "folder.csv": "is a folder; pass a file in it",
        "rows.csv/out.csv": "the folder .*rows.csv of the output does not exist",
        "nosuch/out.csv": "the folder .*nosuch of the output does not exist; create it",
        "out.parquet": "has the extension of Parquet, but it is written as CSV.*ends in .csv",
        "/dev/null": "is not a regular file",
    }
    for name, message in cases.items():
        assert_refused(run("label", "rows.csv", "--target", "topic", "-o", name, "--force"), message)
    assert file_names(tmp_path) == ["folder.csv", "rows.csv"]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
def test_folder_without_permission(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    (tmp_path / "shut").mkdir(mode=0o500)
    assert_refused(run("label", "rows.csv", "--target", "topic", "-o", "shut/out.csv"), "is not writable")


def test_full_disk_leaves_no_file(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    limit_file_size = (
        "import resource, signal; signal.signal(signal.SIGXFSZ, signal.SIG_IGN);"
        "resource.setrlimit(resource.RLIMIT_FSIZE, (500, 500))"
    )
    done = run("label", "rows.csv", "--target", "topic", setup=limit_file_size)
    assert_refused(done, r"rows\.labeled\.csv could not be written .*; free disk space", after_reading=True)
    assert file_names(tmp_path) == ["rows.csv"]


# ------------------------------------------------------------------ the input

HEADER = b"a,b,topic\n"
FILES = {
    "empty file": (b"", "rows.csv is empty; it needs a header line"),
    "blank lines": (b"\n\n \n", "rows.csv is empty"),
    "header only": (HEADER, "rows.csv has no rows; rows with and without a label are needed"),
    "one row": (HEADER + b"1,2,x\n\n", None),
    "one empty row": (
        HEADER + b"1,2,\n",
        "all 1 cells of the target 'topic' are empty; label some rows of every class",
    ),
    "all empty": (HEADER + b"1,2,\n2,3, \n", "all 2 cells of the target 'topic' are empty"),
    "one class": (HEADER + b"1,2,x\n2,3,\n4,4,x\n", "only one class, 'x'; label rows of a second class"),
    "no column left": (HEADER + b",5,x\n,5,y\n,5,\n", r"can be used: a \(empty\), b \(constant\); add a column"),
    "target alone": (b"topic\nx\ny\nx\n", None),
    "short row": (
        HEADER + b"1,2,x\n1,2\n",
        "rows.csv: line 3 has 2 cells and the header has 3; give every row as many cells",
    ),
    "open quote": (HEADER + b'1,2,x\n1,"2,y\n', "rows.csv: the quote opened in line 3 is not closed; close it"),
    "zero bytes": (HEADER + b"1,\0,x\n", "zero bytes and is not UTF-16, so it is not a text file; save.*--encoding"),
    "damaged UTF-8": (
        HEADER + "1,2,é\n1,2,ü\n1,2,ß\n".encode() + b"1,2,\xe9\n",
        "UTF-8 except for byte 0xe9 in line 5; correct it",
    ),
    "another alphabet": (
        HEADER + "1,2,привет\n".encode("cp1251"),
        "not UTF-8 .byte 0xef in line 2 .*not Western European text; pass its encoding",
    ),
    "all distinct": (
        HEADER + b"".join(b"%d,1,t%d\n" % (i % 5, i) for i in range(40)) + b"1,2,\n",
        "all 40 labels .* are different, so they are not",
    ),
}


@pytest.mark.parametrize("case", FILES)
def test_invalid_csv_files(run, tmp_path, case):
    content, message = FILES[case]
    (tmp_path / "rows.csv").write_bytes(content)
    done = run("label", "rows.csv", "--target", "topic")
    if message is None:
        assert "no row is unlabeled" in assert_success(done)
    else:
        assert_refused(done, message)
        assert file_names(tmp_path) == ["rows.csv"]
    assert (tmp_path / "rows.csv").read_bytes() == content


def test_invalid_parquet_files(run, tmp_path):
    command = ("--target", "topic")
    (tmp_path / "text.parquet").write_text("a,b\n1,2\n")
    assert_refused(
        run("label", "text.parquet", *command), r"text\.parquet cannot be read as Parquet .*; write the file again"
    )
    write_parquet(tmp_path / "rows.parquet", TOPICS, pa.string())
    content = (tmp_path / "rows.parquet").read_bytes()
    (tmp_path / "cut.parquet").write_bytes(content[: len(content) // 2])
    assert_refused(run("label", "cut.parquet", *command), r"cut\.parquet cannot be read as Parquet")
    broken = bytearray(content)
    broken[200:600] = bytes(400)
    (tmp_path / "hole.parquet").write_bytes(broken)
    assert_refused(run("label", "hole.parquet", *command), r"hole\.parquet cannot be read as Parquet")
    assert_refused(run("label", "rows.parquet", *command, "--encoding", "latin-1"), "always UTF-8; remove --encoding")
    assert_refused(
        run("label", "rows.parquet", "--target", "nested"), "has the type list<.*labels are text, whole numbers"
    )
    assert_refused(run("label", "rows.parquet", "--target", "x"), "holds fractions such as .*convert it to classes")
    pq.write_table(
        pa.table({"a": pa.array([], pa.int64()), "topic": pa.array([], pa.string())}), tmp_path / "0.parquet"
    )
    assert_refused(run("label", "0.parquet", *command), "has no rows")


def test_unknown_paths_and_targets(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    (tmp_path / "folder.csv").mkdir()
    (tmp_path / "rows.xlsx").write_bytes(b"PK")
    assert_refused(
        run("label", "nosuch.csv", "--target", "topic"), r"nosuch\.csv does not exist; check the name and the folder"
    )
    assert_refused(
        run("label", "folder.csv", "--target", "topic"), r"folder\.csv has no sub-folder with texts of a class; put"
    )
    assert_refused(
        run("label", "rows.xlsx", "--target", "topic"),
        r"ends in \.xlsx; only files that end in \.csv, .*: save the table",
    )
    columns = "'id', 'length', 'size', 'paper', 'day', 'title', 'topic'"
    assert_refused(
        run("label", "rows.csv", "--target", "zzz"), f"no column 'zzz'; its columns are {columns}: pass one of them"
    )
    assert_refused(run("label", "rows.csv", "--target", "Topic"), r"its columns are .*: did you mean 'topic'\?")
    assert_refused(run("label", "rows.csv"), f"--target is missing; pass the column .* one of {columns}")


def test_unknown_options(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    assert_refused(run("label", "rows.csv", "--nosuch"), "--nosuch.*; see semisvm label --help")
    assert_refused(run("label"), "TABLE.*; see semisvm label --help")
    assert_refused(run("label", "rows.csv", "--target", "topic", "--seed", "x"), "--seed.*; see semisvm label --help")
    assert_refused(run("nosuch"), "nosuch.*; see semisvm --help")
    assert_refused(
        run("label", "rows.csv", "--target", "topic", "--method", "magic"), "magic is not known; pass one of semi, svm,"
    )


# ------------------------------------------------------------------ signals, missing extras, internal errors

BIG = 2500


@pytest.fixture(scope="module")
def big(tmp_path_factory):
    """A table whose fit takes some seconds."""
    rng = np.random.default_rng(0)
    points = rng.standard_normal((BIG, 8))
    y = hide_labels((points[:, 0] > 0).astype(int), 300, random_state=0)
    lines = [",".join([*(f"{v:.4f}" for v in row), "" if label < 0 else f"c{label}"]) for row, label in zip(points, y)]
    path = tmp_path_factory.mktemp("big") / "rows.csv"
    path.write_text("\n".join([",".join([*"abcdefgh", "topic"]), *lines, ""]))
    return path


@pytest.mark.parametrize(
    "number, stage, method",
    [
        pytest.param(signal.SIGINT, "fitting", "semi", marks=pytest.mark.slow),
        (signal.SIGTERM, "writing", "cccp"),
        pytest.param(signal.SIGTERM, "fitting", "semi", marks=pytest.mark.slow),
    ],
)
def test_signal_during_a_run(big, number, stage, method):
    before, folder = big.read_bytes(), big.parent
    process = subprocess.Popen(
        [*PROGRAM, "label", str(big), "--target", "topic", "--method", method, "--verbose"],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.default_int_handler),  # a shell may have it ignored
    )  # fmt: skip
    line = ""
    while stage not in line:
        line = process.stderr.readline()
        assert line, "ended before the signal"
    process.send_signal(number)
    out, err = process.communicate(timeout=60)
    assert big.read_bytes() == before
    assert "Traceback" not in err
    result = folder / "rows.labeled.csv"
    if stage == "writing" and result.exists():  # it ended before the signal
        assert len(result.read_text().splitlines()) == BIG + 1
        result.unlink()
    else:
        assert process.returncode == 128 + number
        assert err.endswith(f"stopped by {number.name}; no incomplete file was left: run the command again.\n")
        assert re.match(READING, out)
    assert file_names(folder) == ["rows.csv"]


WITHOUT = "sys.modules.update({{m: None for m in list(sys.modules) if m.partition('.')[0] == '{0}'}} | {{'{0}': None}})"
REIMPORT = "[sys.modules.pop(m) for m in list(sys.modules) if m.startswith(('semisvm.cli', 'semisvm.tables'))]"


@pytest.mark.parametrize("missing", ["typer", "pandas", "pyarrow"])
def test_missing_extra(run, tmp_path, missing):
    write_parquet(tmp_path / "rows.parquet", TOPICS, pa.string())
    done = run("label", "rows.parquet", "--target", "topic", setup=f"{WITHOUT.format(missing)}; {REIMPORT}")
    assert_refused(done, f'needs {missing}, which is not installed; run: pip install "semisvm.cli."')


def test_importing_the_command_line_loads_nothing_else():
    code = "import sys; before = set(sys.modules); import semisvm.cli; print(*set(sys.modules) - before)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    loaded = {name for name in done.stdout.split() if name.partition(".")[0] not in sys.stdlib_module_names}
    assert loaded == {"semisvm", "semisvm.cli", "semisvm.tables"}


def test_internal_error_is_one_sentence(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    broken = "sys.modules['semisvm.cli.training'].TableFeatures = lambda used: 1 / 0"
    argv = ("label", "rows.csv", "--target", "topic")
    assert_refused(run(*argv, setup=broken), "internal error .ZeroDivisionError.*run again with --debug", code=1)
    done = run(*argv, "--debug", setup=broken)
    assert done.code == 1
    assert "Traceback" in done.err
    assert file_names(tmp_path) == ["rows.csv"]
