"""The command line as a program: files in, files out."""

import csv
import re

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from program import (
    LABELED,
    NAMES,
    Done,
    N,
    X,
    Y,
    check_filled,
    good,
    leftovers,
    parquet,
    read,
    refused,
    started,
    table,
    write,
)
from semisvm.datasets import hide_labels


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
