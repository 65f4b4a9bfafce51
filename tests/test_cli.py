"""The command line as a program: files in, files out, exit codes and sentences."""

import csv
import io
import json
import os
import re
import signal
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semisvm.datasets import hide_labels, make_two_gaussians

PROGRAM = [sys.executable, "-m", "semisvm.cli"]

# Imports and fits once, then forks: every run is a process of its own, without seconds of imports each.
SERVER = """
import contextlib, importlib, json, os, sys
import semisvm.cli, semisvm.cli.parquet
with contextlib.redirect_stdout(sys.stderr):
    semisvm.cli.main(["label", sys.argv[1], "--target", "topic"])
for line in sys.stdin:
    argv, folder, out, err, first = json.loads(line)
    child = os.fork()
    if not child:
        for name, number in ((out, 1), (err, 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(folder)
        code = 1
        try:
            exec(first)
            code = importlib.import_module("semisvm.cli").main(argv)
        except BaseException:
            import traceback; traceback.print_exc()
        sys.stdout.flush(); sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


class Done(NamedTuple):
    code: int
    out: str
    err: str


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    source = write(tmp_path_factory.mktemp("warm") / "rows.csv", table())
    command = [sys.executable, "-c", SERVER, str(source)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL) as process:
        yield process
        process.stdin.close()


@pytest.fixture
def run(server, tmp_path, tmp_path_factory):
    """Run the program in ``tmp_path``; ``first`` is code that its process executes before."""

    def go(*argv, first=""):
        logs = tmp_path_factory.mktemp("logs")
        request = [[str(a) for a in argv], str(tmp_path), str(logs / "out"), str(logs / "err"), first]
        server.stdin.write(json.dumps(request).encode() + b"\n")
        server.stdin.flush()
        code = int(server.stdout.readline())
        return Done(code, (logs / "out").read_text(), (logs / "err").read_text())

    return go


def started(*argv, **options):
    return subprocess.run([*PROGRAM, *map(str, argv)], capture_output=True, text=True, check=False, **options)


def good(done):
    assert done.code == 0, done.err
    assert done.err == ""
    return done.out


def refused(done, *pieces, code=2):
    """One line on stderr, nothing on stdout, no traceback."""
    assert done.code == code, done
    assert done.out == ""
    assert done.err.count("\n") == 1, done.err
    assert done.err.endswith((".\n", "?\n")) or "pip install" in done.err
    assert "Traceback" not in done.err
    for piece in pieces:
        assert re.search(piece, done.err), (piece, done.err)
    return done.err


def leftovers(folder):
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------ tables

N, LABELED = 80, 20
X, Y = make_two_gaussians(N, 3, 1.2, random_state=0)
WORDS = {1: "goal match team league referee", 2: "vote party law senate minister"}
NAMES = {1: "sport", 2: "politics"}


def table(names=NAMES, hide=True):
    """Numbers, a category, a date, text, an identifier and a topic that most rows lack."""
    rng = np.random.default_rng(1)
    partly = hide_labels(Y, LABELED, random_state=0) if hide else Y
    return [
        {
            "id": str(700 + i),
            "length": f"{X[i, 0]:.3f}",
            "size": "" if i % 9 == 0 else f"{X[i, 1]:.2f}",
            "paper": ("post", "times", "")[i % 3],
            "day": f"2024-0{1 + i % 9}-11",
            "title": " ".join(rng.choice(WORDS[Y[i]].split(), 2)) + ' said "yes, no"\nand ' + str(rng.integers(50)),
            "topic": "" if partly[i] == -1 else names[partly[i]],
        }
        for i in range(N)
    ]


def write(path, rows, delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=delimiter, quoting=quoting)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def read(path, delimiter=",", encoding="utf-8"):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(encoding), newline=""), delimiter=delimiter))


def accuracy(rows, names=NAMES):
    return np.mean([row["topic"] == str(names[y]) for row, y in zip(rows, Y)])


def check_filled(before, after, names=NAMES):
    """Rows in order, other cells as they were, given labels kept, confidences in [0, 1] and 1 where given."""
    assert len(before) == len(after)
    for old, new in zip(before, after):
        sure = float(new["topic_confidence"])
        assert list(new) == [*old, "topic_confidence"]
        assert {k: v for k, v in new.items() if k not in ("topic", "topic_confidence")} == {
            k: v for k, v in old.items() if k != "topic"
        }
        if old["topic"]:
            assert (new["topic"], sure) == (old["topic"], 1.0)
        else:
            assert new["topic"] in {str(name) for name in names.values()}
            assert 0.0 <= sure <= 1.0
    assert accuracy(after, names) > 0.9


# ------------------------------------------------------------------ good files


def test_a_csv_of_numbers_categories_dates_and_text(tmp_path):
    source = write(tmp_path / "rows.csv", table())
    before = source.read_bytes()
    done = started("label", source, "--target", "topic", cwd=tmp_path)
    out = good(Done(done.returncode, done.stdout, done.stderr))
    assert source.read_bytes() == before
    assert leftovers(tmp_path) == ["rows.csv", "rows.labeled.csv"]
    after = read(tmp_path / "rows.labeled.csv")
    check_filled(table(), after)
    assert "topic: 20 rows had a label, 60 were filled by CCCPTSVM" in out
    for name in NAMES.values():
        filled = sum(row["topic"] == name for row in after) - 10
        assert re.search(rf"^  {name} +10 +{filled}$", out, re.MULTILINE)
    assert re.search(r"The supervised machine would fill \d+ of them differently \(\d+\.\d %\)\.", out)
    assert re.search(r"numbers +length, size$", out, re.MULTILINE)
    assert re.search(r"dates +day$", out, re.MULTILINE)
    assert re.search(r"categories +paper$", out, re.MULTILINE)
    assert re.search(r"text +title$", out, re.MULTILINE)
    assert re.search(r"ignored +id \(identifier\)$", out, re.MULTILINE)
    assert out.endswith("written to rows.labeled.csv\n")


@pytest.mark.parametrize(
    "delimiter, ending, quoting",
    [
        (",", "csv", csv.QUOTE_MINIMAL),
        (",", "csv", csv.QUOTE_ALL),
        (";", "csv", csv.QUOTE_MINIMAL),
        ("|", "csv", csv.QUOTE_ALL),
        ("\t", "csv", csv.QUOTE_MINIMAL),
        ("\t", "tsv", csv.QUOTE_MINIMAL),
    ],
)
def test_bytes_stay(run, tmp_path, delimiter, ending, quoting):
    """Cut the last cell and the filled labels out of the result, and the input is left, byte by byte."""
    source = write(tmp_path / f"rows.{ending}", table(), delimiter, quoting=quoting)
    good(run("label", source, "--target", "topic"))
    result = (tmp_path / f"rows.labeled.{ending}").read_bytes().decode()
    check_filled(table(), read(tmp_path / f"rows.labeled.{ending}", delimiter))
    cut = re.sub(rf"{re.escape(delimiter)}(1|[01]\.\d{{4}}|topic_confidence)\r\n", "\r\n", result)
    mark = '"' if quoting == csv.QUOTE_ALL else ""
    names = "|".join(NAMES.values())
    lines = iter(source.read_bytes().decode().split("\r\n"))
    for line in cut.split("\r\n"):
        old = next(lines)
        assert line == old or re.sub(f"{mark}({names}){mark}$", mark * 2, line) == old


def test_line_ends_byte_order_mark_and_empty_lines_stay(run, tmp_path):
    lines = ["\ufeffa,topic", *(f"{x:.3f},{'ab'[y - 1] if i < 20 else ''}" for i, (x, y) in enumerate(zip(X[:, 0], Y)))]
    text = "\n".join(lines[:30]) + "\n\n" + "\r\n".join(lines[30:])
    (tmp_path / "rows.csv").write_bytes(text.encode())
    good(run("label", "rows.csv", "--target", "topic"))
    result = (tmp_path / "rows.labeled.csv").read_bytes().decode()
    assert re.sub(r",(1|[01]\.\d{4}|topic_confidence)(?=\r?\n|$)", "", re.sub(",[ab](?=,0)", ",", result)) == text


def parquet(path, names, kind=None, **extra):
    rows = table(names)
    columns = {key: [row[key] or None for row in rows] for key in ("title", "paper", "topic")}
    partly = hide_labels(Y, LABELED, random_state=0)
    columns["topic"] = pa.array([None if y == -1 else names[y] for y in partly], type=kind)
    columns["x"] = X[:, 0]
    columns["n"] = pa.array([None if i % 7 == 0 else i % 5 for i in range(N)])
    columns["flag"] = [bool(i % 2) for i in range(N)]
    columns["day"] = pa.array(np.datetime64("2024-01-01") + np.arange(N) % 13)
    columns["nested"] = [[1, 2]] * N
    pq.write_table(pa.table(columns | extra), path)
    return pq.ParquetFile(path).read()


PARQUET = {
    "strings": ({1: "sport", 2: "politics"}, pa.string()),
    "categories": ({1: "sport", 2: "politics"}, pa.dictionary(pa.int8(), pa.string())),
    "small integers": ({1: -1, 2: 7}, pa.int16()),
    "floats": ({1: 1.0, 2: 2.0}, pa.float64()),
    "booleans": ({1: False, 2: True}, pa.bool_()),
}


@pytest.mark.parametrize("case", PARQUET)
def test_parquet(run, tmp_path, case):
    names, kind = PARQUET[case]
    before = parquet(tmp_path / "rows.parquet", names, kind)
    out = good(run("label", "rows.parquet", "--target", "topic"))
    assert re.search(r"ignored +nested \(type list<.*>\)$", out, re.MULTILINE)
    after = pq.ParquetFile(tmp_path / "rows.labeled.parquet").read()
    assert after.column_names == [*before.column_names, "topic_confidence"]
    assert after.schema.field("topic").type == kind
    assert after.drop_columns(["topic", "topic_confidence"]).equals(before.drop_columns(["topic"]))
    sure = after["topic_confidence"].to_numpy()
    given = before["topic"].is_valid().to_numpy()
    assert (sure[given] == 1).all()
    assert ((sure >= 0) & (sure <= 1)).all()
    filled = after["topic"].to_pylist()
    assert [v for v, known in zip(filled, given) if known] == before["topic"].drop_null().to_pylist()
    assert np.mean([v == names[y] for v, y in zip(filled, Y)]) > 0.85


def test_parquet_that_pandas_wrote(run, tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "topic": hide_labels(Y, LABELED, random_state=0)})
    frame["topic"] = frame["topic"].where(frame["topic"] > 0)
    frame.index = [f"r{i}" for i in range(N)]
    frame.to_parquet(tmp_path / "rows.pq")
    good(run("label", "rows.pq", "--target", "topic"))
    after = pd.read_parquet(tmp_path / "rows.labeled.pq")
    assert after.index.equals(frame.index)
    assert set(after["topic"]) == {1.0, 2.0}
    pd.testing.assert_frame_equal(after[["x", "z"]], frame[["x", "z"]])


@pytest.mark.parametrize(
    "names",
    [{1: "01", 2: "1"}, {1: "None", 2: "NA"}, {1: "null", 2: "nan"}, {1: "-1", 2: "+1"}, {1: "a,b", 2: 'say "x"'}],
    ids=str,
)
def test_labels_go_out_as_they_came(run, tmp_path, names):
    write(tmp_path / "rows.csv", table(names))
    good(run("label", "rows.csv", "--target", "topic"))
    check_filled(table(names), read(tmp_path / "rows.labeled.csv"), names)


def test_three_classes_a_balance_and_the_generic_machine(run, tmp_path):
    rng = np.random.default_rng(0)
    y = np.arange(90) % 3
    rows = [
        {
            "a": f"{rng.normal(4 * (c == 1)):.3f}",
            "b": f"{rng.normal(4 * (c == 2)):.3f}",
            "kind": "xyz"[c] if i < 30 else "",
        }
        for i, c in enumerate(y)
    ]
    write(tmp_path / "rows.csv", rows)
    good(run("label", "rows.csv", "--target", "kind", "--balance", "x=0.4,y=0.3,z=0.3", "--method", "S3VM"))
    found = read(tmp_path / "rows.labeled.csv")
    assert np.mean([row["kind"] == "xyz"[c] for row, c in zip(found, y)]) > 0.9
    refused(
        run("label", "rows.csv", "--target", "kind", "--balance", "0.3", "--force"), "--balance 0.3 is not", "x=0.33"
    )


def test_a_supervised_method(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    out = good(run("label", "rows.csv", "--target", "topic", "--method", "svm"))
    assert "filled by SVM" in out
    assert "supervised machine" not in out
    done = run("label", "rows.csv", "--target", "topic", "--method", "svm", "--balance", "0.5", "-o", "x.csv")
    refused(done, "--balance 0.5 came with --method svm, which looks at labeled rows alone; leave")


def test_text_and_ignore(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    out = good(run("label", "rows.csv", "--target", "topic", "--text", "paper", "--text", "title", "--ignore", "size"))
    assert re.search(r"text +paper, title$", out, re.MULTILINE)
    assert "size (as you asked)" in out
    again = ("label", "rows.csv", "--target", "topic", "--force")
    refused(run(*again, "--text", "nosuch"), "no column 'nosuch'; its columns are 'id', 'length'.*--text")
    refused(run(*again, "--text", "topic"), "'topic' is the target.*leave it out")


def test_other_marks_of_unlabeled_cells(run, tmp_path):
    rows = [row | {"topic": row["topic"] or ("?" if i % 2 else "  ")} for i, row in enumerate(table())]
    write(tmp_path / "rows.csv", rows)
    good(run("label", "rows.csv", "--target", "topic", "--unlabeled", "?"))
    check_filled(table(), read(tmp_path / "rows.labeled.csv"))


def test_another_encoding(run, tmp_path):
    names = {1: "Fußball", 2: "Köln"}
    write(tmp_path / "rows.csv", table(names), encoding="latin-1")
    done = run("label", "rows.csv", "--target", "topic")
    refused(done, r"rows\.csv is not UTF-8: byte 0x(df|f6) in line \d+ cannot be read; save.*--encoding latin-1")
    good(run("label", "rows.csv", "--target", "topic", "--encoding", "latin-1"))
    check_filled(table(names), read(tmp_path / "rows.labeled.csv", encoding="latin-1"), names)
    refused(run("label", "rows.csv", "--target", "topic", "--encoding", "klingon", "--force"), "klingon is not known")
    write(tmp_path / "wide.csv", table(names), encoding="utf-16")
    refused(run("label", "wide.csv", "--target", "topic"), "UTF-16 or no text.*--encoding utf-16")
    good(run("label", "wide.csv", "--target", "topic", "--encoding", "utf-16"))


def test_nothing_to_fill(run, tmp_path):
    write(tmp_path / "rows.csv", table(hide=False))
    out = good(run("label", "rows.csv", "--target", "topic"))
    assert "nothing was unlabeled, all 80 rows have a label" in out
    assert {row["topic_confidence"] for row in read(tmp_path / "rows.labeled.csv")} == {"1"}


def test_a_confidence_that_is_there_already(run, tmp_path):
    write(tmp_path / "rows.csv", [row | {"topic_confidence": "0.5"} for row in table()])
    out = good(run("label", "rows.csv", "--target", "topic"))
    assert "'topic_confidence' was there already; the confidences are in 'topic_confidence_2'" in out
    assert "topic_confidence (written by semisvm)" in out
    assert {row["topic_confidence"] for row in read(tmp_path / "rows.labeled.csv")} == {"0.5"}


def test_one_label_per_class_is_noted_and_classes_that_look_alike(run, tmp_path):
    rows = [{"a": f"{x:.3f}", "topic": ("Yes", "yes")[i] if i < 2 else ""} for i, x in enumerate(X[:, 0])]
    write(tmp_path / "rows.csv", rows)
    out = good(run("label", "rows.csv", "--target", "topic"))
    assert "note: 'Yes' and 'yes' are taken as different classes" in out
    assert "not calibrated" in out


def test_columns_that_cannot_help_are_named(run, tmp_path):
    rows = [row | {"void": "", "nan": "NaN", "same": "x"} for row in table()]
    write(tmp_path / "rows.csv", rows)
    out = good(run("label", "rows.csv", "--target", "topic"))
    assert "ignored     id (identifier), void (empty), nan (empty), same (constant)" in out


def test_columns_of_one_name(run, tmp_path):
    rows = table()
    path = write(tmp_path / "rows.csv", rows)
    path.write_bytes(path.read_bytes().replace(b"length,size", b"size,size", 1))
    good(run("label", "rows.csv", "--target", "topic"))
    refused(run("label", "rows.csv", "--target", "size", "--force"), "2 columns named 'size' .numbers 2, 3.*rename")


def test_the_same_run_gives_the_same_file(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    for name in ("one.csv", "two.csv"):
        good(run("label", "rows.csv", "--target", "topic", "-o", name))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_stages_on_demand(run, tmp_path):
    write(tmp_path / "rows.csv", table())
    done = run("label", "rows.csv", "--target", "topic", "--verbose")
    assert done.code == 0
    stages = [line for line in done.err.splitlines() if ":" not in line]
    assert stages == ["reading", "columns", "kernel and steps", "probabilities", "writing"]
    assert "kernel and steps: step 0  objective" in done.err
    assert "step 0" not in done.out


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


# ------------------------------------------------------------------ the other commands


def test_info(run):
    out = good(run("info"))
    for piece in ("semisvm 0", "numpy", "scipy", "scikit-learn", "numba", "Memory for kernel values", "Compiled loops"):
        assert piece in out
    assert re.search(r"^  cccp +Transductive SVM by the concave-convex procedure", out, re.MULTILINE)


def test_demo(run, tmp_path):
    out = good(run("demo"))
    errors = re.findall(r"(\d+\.\d)% +(\d+\.\d)%$", out, re.MULTILINE)
    assert len(errors) == 2
    assert all(float(after) < float(before) for before, after in errors)
    right, filled = map(int, re.search(r"(\d+) of the (\d+) filled topics are right", out).groups())
    assert right > 0.85 * filled
    assert leftovers(tmp_path) == []


def test_help_and_version(run):
    assert "label" in good(run())
    assert "--target" in good(run("label", "--help"))
    assert good(run("--version")).startswith("semisvm 0.")
