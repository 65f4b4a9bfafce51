"""``semisvm label``, ``demo`` and ``info`` as programs."""

import csv
import json
import re
import shutil
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from program import (
    N_LABELED,
    TOPICS,
    N,
    X,
    Y,
    assert_filled,
    assert_refused,
    assert_success,
    example_rows,
    file_names,
    read_csv,
    run_new_process,
    write_csv,
    write_parquet,
)

from semisvm.cli.methods import methods
from semisvm.datasets import hide_labels, make_messages


def test_csv_of_numbers_categories_dates_and_text(tmp_path):
    source = write_csv(tmp_path / "rows.csv", example_rows())
    before = source.read_bytes()
    out = assert_success(run_new_process("label", source, "--target", "topic", cwd=tmp_path))
    assert source.read_bytes() == before
    assert file_names(tmp_path) == ["rows.csv", "rows.labeled.csv", "rows.labeled.html"]
    assert "report: rows.labeled.html\n" in out
    page = (tmp_path / "rows.labeled.html").read_text()
    for heading in ("topic of rows.csv", "held out", "Map of the rows", "Rows most worth a look", "Model", "Data"):
        assert heading in page
    assert page.count("<svg ") == 4
    after = read_csv(tmp_path / "rows.labeled.csv")
    assert_filled(example_rows(), after)
    assert "rows.csv: 80 rows, 20 with a label of topic in 2 classes, 60 without" in out
    assert "Filled by SemiSVM" in out
    for name in TOPICS.values():
        filled = sum(row["topic"] == name for row in after) - 10
        assert re.search(rf"^  {name} +10 +{filled} +[01]\.\d\d$", out, re.MULTILINE)
    assert re.search(r"^The unlabeled samples .*: .*the (model|average) .*\.$", out, re.MULTILINE)
    assert re.search(r"The supervised model would fill \d+ rows differently \(\d+\.\d %\)\.", out)
    assert re.search(r"numbers +length, size$", out, re.MULTILINE)
    assert re.search(r"dates +day$", out, re.MULTILINE)
    assert re.search(r"categories +paper$", out, re.MULTILINE)
    assert re.search(r"text +title$", out, re.MULTILINE)
    assert re.search(r"ignored +id \(identifier\)$", out, re.MULTILINE)
    assert "written to rows.labeled.csv\n" in out
    for name in ("supervised SVM", "average of separators"):
        assert re.search(rf"^  {name} +\d+\.\d %   \d+\.\d to \d+\.\d$", out, re.MULTILINE)


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
def test_all_other_bytes_are_unchanged(run, tmp_path, delimiter, ending, quoting):
    """Without the last cell and the filled labels, the output is the input, byte by byte."""
    source = write_csv(tmp_path / f"rows.{ending}", example_rows(), delimiter, quoting=quoting)
    assert_success(run("label", source, "--target", "topic"))
    result = (tmp_path / f"rows.labeled.{ending}").read_bytes().decode()
    assert_filled(example_rows(), read_csv(tmp_path / f"rows.labeled.{ending}", delimiter))
    without_confidence = re.sub(rf"{re.escape(delimiter)}(1|[01]\.\d{{4}}|topic_confidence)\r\n", "\r\n", result)
    quote = '"' if quoting == csv.QUOTE_ALL else ""
    names = "|".join(TOPICS.values())
    lines = iter(source.read_bytes().decode().split("\r\n"))
    for line in without_confidence.split("\r\n"):
        old = next(lines)
        assert line == old or re.sub(f"{quote}({names}){quote}$", quote * 2, line) == old


def test_line_ends_byte_order_mark_and_empty_lines_are_unchanged(run, tmp_path):
    lines = ["\ufeffa,topic", *(f"{x:.3f},{'ab'[y - 1] if i < 20 else ''}" for i, (x, y) in enumerate(zip(X[:, 0], Y)))]
    text = "\n".join(lines[:30]) + "\n\n" + "\r\n".join(lines[30:])
    (tmp_path / "rows.csv").write_bytes(text.encode())
    assert_success(run("label", "rows.csv", "--target", "topic"))
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
def test_parquet_keeps_types_and_other_columns(run, tmp_path, case):
    topics, dtype = PARQUET[case]
    before = write_parquet(tmp_path / "rows.parquet", topics, dtype)
    out = assert_success(run("label", "rows.parquet", "--target", "topic"))
    assert re.search(r"ignored +nested \(type list<.*>\)$", out, re.MULTILINE)
    after = pq.ParquetFile(tmp_path / "rows.labeled.parquet").read()
    assert after.column_names == [*before.column_names, "topic_confidence"]
    assert after.schema.field("topic").type == dtype
    assert after.drop_columns(["topic", "topic_confidence"]).equals(before.drop_columns(["topic"]))
    confidence = after["topic_confidence"].to_numpy()
    given = before["topic"].is_valid().to_numpy()
    assert (confidence[given] == 1).all()
    assert ((confidence >= 0) & (confidence <= 1)).all()
    filled = after["topic"].to_pylist()
    assert [v for v, is_given in zip(filled, given) if is_given] == before["topic"].drop_null().to_pylist()
    assert np.mean([v == topics[y] for v, y in zip(filled, Y)]) > 0.85


def test_parquet_written_by_pandas(run, tmp_path):
    frame = pd.DataFrame({"x": X[:, 0], "z": X[:, 1], "topic": hide_labels(Y, N_LABELED, random_state=0)})
    frame["topic"] = frame["topic"].where(frame["topic"] > 0)
    frame.index = [f"r{i}" for i in range(N)]
    frame.to_parquet(tmp_path / "rows.pq")
    assert_success(run("label", "rows.pq", "--target", "topic"))
    after = pd.read_parquet(tmp_path / "rows.labeled.pq")
    assert after.index.equals(frame.index)
    assert set(after["topic"]) == {1.0, 2.0}
    pd.testing.assert_frame_equal(after[["x", "z"]], frame[["x", "z"]])


@pytest.mark.parametrize(
    "topics",
    [{1: "01", 2: "1"}, {1: "None", 2: "unknown"}, {1: "-1", 2: "+1"}, {1: "a,b", 2: 'say "x"'}],
    ids=str,
)
def test_labels_are_written_as_they_were_read(run, tmp_path, topics):
    write_csv(tmp_path / "rows.csv", example_rows(topics))
    assert_success(run("label", "rows.csv", "--target", "topic"))
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv"), topics)


def test_default_method_takes_classes_named_by_signs(run, tmp_path):
    topics = {1: "-1", 2: "+1"}
    write_csv(tmp_path / "rows.csv", example_rows(topics))
    assert_success(run("label", "rows.csv", "--target", "topic", "--method", "semi"))
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv"), topics)


def test_three_classes_with_balance_and_composed_estimator(run, tmp_path):
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
    write_csv(tmp_path / "rows.csv", rows)
    assert_success(run("label", "rows.csv", "--target", "kind", "--balance", "x=0.4,y=0.3,z=0.3", "--method", "S3VM"))
    found = read_csv(tmp_path / "rows.labeled.csv")
    assert np.mean([row["kind"] == "xyz"[c] for row, c in zip(found, y)]) > 0.9
    assert_refused(
        run("label", "rows.csv", "--target", "kind", "--balance", "0.3", "--force"), "--balance 0.3 is not", "x=0.33"
    )


def test_supervised_method(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    out = assert_success(run("label", "rows.csv", "--target", "topic", "--method", "svm"))
    assert "Filled by SVM" in out
    assert "SVM uses the labeled rows alone." in out
    assert "supervised model" not in out
    done = run("label", "rows.csv", "--target", "topic", "--method", "svm", "--balance", "0.5", "-o", "x.csv")
    assert_refused(done, "--balance 0.5 is not allowed with --method svm, which uses labeled rows only; remove")


@pytest.mark.parametrize("method, name", [("self-training", "SelfTraining"), ("help-training", "HelpTraining")])
@pytest.mark.parametrize("topics", [{1: "sport", 2: "politics"}, {1: "-1", 2: "1"}], ids=["words", "signs"])
def test_self_training_methods(run, tmp_path, method, name, topics):
    write_csv(tmp_path / "rows.csv", example_rows(topics))
    out = assert_success(run("label", "rows.csv", "--target", "topic", "--method", method))
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv"), topics)
    assert f"Filled by {name}" in out
    assert "The supervised model would fill" in out


def test_balance_of_help_training(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    command = ("label", "rows.csv", "--target", "topic", "--method", "help-training", "--balance")
    assert_success(run(*command, "sport=0.5,politics=0.5"))
    rows = zip(example_rows(), read_csv(tmp_path / "rows.labeled.csv"))
    filled = [new["topic"] for old, new in rows if not old["topic"]]
    assert filled.count("sport") == filled.count("politics") == 30
    assert_refused(run(*command, "2", "--force"), "--balance 2 is not understood")


def test_text_and_ignore_options(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    out = assert_success(
        run("label", "rows.csv", "--target", "topic", "--text", "paper", "--text", "title", "--ignore", "size")
    )
    assert re.search(r"text +paper, title$", out, re.MULTILINE)
    assert "size (excluded by --ignore)" in out
    command = ("label", "rows.csv", "--target", "topic", "--force")
    assert_refused(run(*command, "--text", "nosuch"), "no column 'nosuch'; its columns are 'id', 'length'.*--text")
    assert_refused(run(*command, "--text", "topic"), "'topic' is the target.*remove it from --text")


def test_unlabeled_option_adds_a_marker(run, tmp_path):
    rows = [row | {"topic": row["topic"] or ("?" if i % 2 else "  ")} for i, row in enumerate(example_rows())]
    write_csv(tmp_path / "rows.csv", rows)
    assert_success(run("label", "rows.csv", "--target", "topic", "--unlabeled", "?"))
    assert_filled(example_rows(), read_csv(tmp_path / "rows.labeled.csv"))


def test_other_encodings(run, tmp_path):
    topics = {1: "Fußball", 2: "Köln"}
    write_csv(tmp_path / "rows.csv", example_rows(topics), encoding="latin-1")
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "note: rows.csv is not UTF-8; read and written as cp1252 (Western European), --encoding names another" in out
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv", encoding="cp1252"), topics)
    done = run("label", "rows.csv", "--target", "topic", "--encoding", "ascii", "--force")
    assert_refused(
        done, r"rows\.csv is not ascii: byte 0x(df|f6) in line \d+ cannot be decoded; save.*--encoding latin-1"
    )
    out = assert_success(run("label", "rows.csv", "--target", "topic", "--encoding", "latin-1", "--force"))
    assert "cp1252" not in out
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv", encoding="latin-1"), topics)
    assert_refused(
        run("label", "rows.csv", "--target", "topic", "--encoding", "klingon", "--force"),
        "klingon is not a known text encoding",
    )


@pytest.mark.parametrize("encoding", ["utf-16", "utf-16-le", "utf-16-be", "utf-8-sig"])
def test_unicode_with_and_without_marks(run, tmp_path, encoding):
    topics = {1: "Fußball", 2: "Köln"}
    write_csv(tmp_path / "rows.csv", example_rows(topics), encoding=encoding)
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert ("read and written as UTF-16" in out) == ("16" in encoding)
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv", encoding=encoding), topics)
    start = slice(0, 20)
    assert (tmp_path / "rows.labeled.csv").read_bytes()[start] == (tmp_path / "rows.csv").read_bytes()[start]


def test_table_without_unlabeled_rows(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows(hide=False))
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "no row is unlabeled, all 80 rows have a label, with confidence 1" in out
    assert {row["topic_confidence"] for row in read_csv(tmp_path / "rows.labeled.csv")} == {"1"}


def test_existing_confidence_column_is_kept_and_not_used(run, tmp_path):
    write_csv(tmp_path / "rows.csv", [row | {"topic_confidence": "0.5"} for row in example_rows()])
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "the column 'topic_confidence' exists; what is new is in 'topic_confidence_2'" in out
    assert "topic_confidence (written by semisvm)" in out
    assert {row["topic_confidence"] for row in read_csv(tmp_path / "rows.labeled.csv")} == {"0.5"}


def test_notes_on_classes_of_few_labels_and_on_spellings(run, tmp_path):
    rows = [{"a": f"{x:.3f}", "topic": ("Yes", "yes", "no")[i] if i < 3 else ""} for i, x in enumerate(X[:, 0])]
    write_csv(tmp_path / "rows.csv", rows)
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "note: 'yes' (1) counted as 'Yes' (1); --exact-labels keeps them apart" in out
    assert "note: classes of few labels are guesses, label more rows of: Yes (2), no (1)" in out
    assert "Whether the unlabeled rows helped cannot be checked with 3 labels." in out
    assert "not calibrated" in out
    after = read_csv(tmp_path / "rows.labeled.csv")
    assert [row["topic"] for row in after[:3]] == ["Yes", "yes", "no"]
    assert {row["topic"] for row in after[3:]} <= {"Yes", "no"}
    out = assert_success(run("label", "rows.csv", "--target", "topic", "--exact-labels", "--force"))
    assert "Yes (1), yes (1), no (1)" in out


def test_a_rare_class_that_is_hardly_filled_is_told(run, tmp_path):
    rng = np.random.default_rng(0)
    rows = [{"a": f"{rng.normal():.3f}", "topic": ("rare" if i < 8 else "usual") if i < 40 else ""} for i in range(400)]
    write_csv(tmp_path / "rows.csv", rows)
    out = assert_success(run("label", "rows.csv", "--target", "topic", "--method", "svm"))
    assert re.search(r"note: filled less often than the labels suggest.*rare \(20\.0 % of the labels, ", out)


def test_spellings_of_unlabeled_cells_are_told(run, tmp_path):
    rows = [
        row | {"topic": row["topic"] or ("NA", "unknown", "n/a")[i % 3 % 2 * 2]} for i, row in enumerate(example_rows())
    ]
    write_csv(tmp_path / "rows.csv", rows)
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert re.search(r"note: taken as unlabeled: 'NA' \(\d+\), 'n/a' \(\d+\)", out)
    assert_filled(example_rows(), read_csv(tmp_path / "rows.labeled.csv"))


def test_formulas_are_escaped_where_they_are_filled_in(run, tmp_path):
    topics = {1: "=1+1", 2: "+x, y"}
    write_csv(tmp_path / "rows.csv", example_rows(topics))
    assert_success(run("label", "rows.csv", "--target", "topic"))
    rows = list(zip(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv")))
    assert {new["topic"] for old, new in rows if old["topic"]} == set(topics.values())
    assert {new["topic"] for old, new in rows if not old["topic"]} == {"'=1+1", "'+x, y"}
    assert_success(run("label", "rows.csv", "--target", "topic", "--force", "--raw"))
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv"), topics)


def test_class_names_never_control_the_terminal(run, tmp_path):
    topics = {1: "\x1b[31mred", 2: "\u202eblue"}
    write_csv(tmp_path / "rows.csv", example_rows(topics))
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "\x1b" not in out
    assert "\u202e" not in out
    assert r"\x1b[31mred" in out
    assert_filled(example_rows(topics), read_csv(tmp_path / "rows.labeled.csv"), topics)
    done = run("label", "rows.csv", "--target", "topic", "--force", "--balance", "2")
    assert "\x1b" not in done.err


def test_unusable_columns_are_listed_with_the_reason(run, tmp_path):
    rows = [row | {"void": "", "nan": "NaN", "same": "x"} for row in example_rows()]
    write_csv(tmp_path / "rows.csv", rows)
    out = assert_success(run("label", "rows.csv", "--target", "topic"))
    assert "ignored     id (identifier), void (empty), nan (empty), same (constant)" in out


def test_columns_with_the_same_name(run, tmp_path):
    rows = example_rows()
    path = write_csv(tmp_path / "rows.csv", rows)
    path.write_bytes(path.read_bytes().replace(b"length,size", b"size,size", 1))
    assert_success(run("label", "rows.csv", "--target", "topic"))
    assert_refused(
        run("label", "rows.csv", "--target", "size", "--force"),
        "2 columns named 'size' .numbers 2, 3.*ambiguous; rename",
    )


def test_results_are_reproducible(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    for name in ("one.csv", "two.csv"):
        assert_success(run("label", "rows.csv", "--target", "topic", "-o", name))
    assert (tmp_path / "one.csv").read_bytes() == (tmp_path / "two.csv").read_bytes()


def test_verbose_prints_stages_and_iterations(run, tmp_path):
    write_csv(tmp_path / "rows.csv", example_rows())
    done = run("label", "rows.csv", "--target", "topic", "--verbose")
    assert done.code == 0
    stages = [line for line in done.err.splitlines() if ":" not in line]
    assert stages == ["reading", "preparing features", "fitting", "comparing with the supervised model",
                      "computing probabilities",
                      "checking on held-out rows", "writing"]  # fmt: skip
    assert "fitting: step 0  objective" in done.err
    assert "step 0" not in done.out


def test_misspelled_text_is_read_by_parts_of_words(run, tmp_path):
    rng = np.random.default_rng(0)
    texts, topics = make_messages(200, random_state=0)
    spoiled = ["".join(c for c in text if c == " " or rng.random() > 0.12) for text in texts]
    shown = hide_labels(np.unique(topics, return_inverse=True)[1], 40, random_state=0) != -1
    visible = np.where(shown, topics, "")
    write_csv(tmp_path / "rows.csv", [{"message": text, "topic": topic} for text, topic in zip(spoiled, visible)])
    command = ("label", "rows.csv", "--target", "topic", "--method", "ls", "--force")
    right = {}
    for option in ("--text", "--characters"):
        out = assert_success(run(*command, option, "message"))
        assert "  text        message\n" in out
        filled = [row["topic"] for row in read_csv(tmp_path / "rows.labeled.csv")]
        right[option] = np.mean(np.array(filled)[~shown] == topics[~shown])
    assert right["--characters"] > right["--text"]
    message = "'topic' is the target, which is never a feature; remove it from --characters"
    assert_refused(run(*command, "--characters", "topic"), message)


# ------------------------------------------------------------------ the other commands


def test_info(run):
    out = assert_success(run("info"))
    for item in (
        "semisvm 0",
        "numpy",
        "scipy",
        "scikit-learn",
        "numba",
        "Memory limit of kernel matrices",
        "Cache of compiled functions",
    ):
        assert item in out
    assert re.search(r"^  cccp +Transductive SVM by the concave-convex procedure", out, re.MULTILINE)


def test_json_of_info(run):
    content = json.loads(assert_success(run("info", "--json")))
    assert set(content["packages"]) == {"numpy", "scipy", "scikit-learn", "numba"}
    assert set(content["methods"]) == set(methods())


def test_demo(run, tmp_path):
    out = assert_success(run("demo", setup="from semisvm.cli import demo; demo.N_DRAWS = 1"))
    errors = re.findall(r"(\d+\.\d)% +(\d+\.\d)%$", out, re.MULTILINE)
    assert len(errors) == 2
    assert all(float(after) < float(before) for before, after in errors)
    shares = re.findall(r"Right in truth: (\d+\.\d) % of the filled rows, (\d+\.\d) % by the supervised model", out)
    assert len(shares) == 2
    assert all(float(after) > max(float(before), 85) for after, before in shares)
    pages = re.findall(r"^report: (.*)$", out, re.MULTILINE)
    for page in pages:
        assert Path(page).read_text().count("<svg ") == 4
    shutil.rmtree(Path(pages[0]).parent)
    assert file_names(tmp_path) == []


def test_help_and_version(run):
    assert "label" in assert_success(run())
    assert "--target" in assert_success(run("label", "--help"))
    assert assert_success(run("--version")).startswith("semisvm 0.")
