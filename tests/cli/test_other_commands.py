"""fit, predict, compare and next, as a user runs them; results as JSON."""

import csv
import json
import os
import re
import subprocess
import sys

import pytest
from program import (
    TOPICS,
    N,
    Y,
    accuracy,
    assert_refused,
    assert_success,
    example_rows,
    file_names,
    read_csv,
    run_new_process,
    write_csv,
)


@pytest.fixture
def rows(tmp_path):
    return write_csv(tmp_path / "rows.csv", example_rows())


def test_fit_and_predict(run, tmp_path, rows):
    out = assert_success(run("fit", "rows.csv", "--target", "topic", "--method", "cccp"))
    assert "Fitted CCCPTSVM" in out
    assert "written to rows.model.skops\nnext: semisvm predict rows.model.skops NEW_TABLE\n" in out
    wanted = ("title", "size", "length", "paper")  # another order, one column less, one more
    new = [{name: row[name] for name in wanted} | {"extra": "1"} for row in example_rows(hide=False)]
    write_csv(tmp_path / "new.csv", new)
    out = assert_success(run("predict", "rows.model.skops", "new.csv"))
    assert "note: columns that are not in new.csv count as missing: day" in out
    assert "note: columns that the model does not know are not used: extra" in out
    after = read_csv(tmp_path / "new.predicted.csv")
    assert [{name: row[name] for name in new[0]} for row in after] == new
    assert accuracy(after) > 0.9
    assert all(0 <= float(row["topic_confidence"]) <= 1 for row in after)
    assert file_names(tmp_path) == ["new.csv", "new.predicted.csv", "rows.csv", "rows.model.skops"]


def test_predict_beside_known_labels(run, tmp_path, rows):
    assert_success(run("fit", "rows.csv", "--target", "topic", "--method", "svm", "-o", "m.skops"))
    write_csv(tmp_path / "new.csv", example_rows(hide=False))
    found = json.loads(assert_success(run("predict", "m.skops", "new.csv", "--json")))
    after = read_csv(tmp_path / "new.predicted.csv")
    right = sum(row["topic"] == row["topic_2"] for row in after)
    assert (found["known_labels"], found["known_labels_predicted"], found["column"]) == (N, right, "topic_2")
    assert sum(found["predicted"].values()) == N
    assert found["model"]["method"] == "svm"


def test_models_that_cannot_be_used(run, tmp_path, rows):
    (tmp_path / "m.skops").write_text("no model")
    assert_refused(
        run("predict", "m.skops", "rows.csv"), "m.skops is no model file of semisvm; write one by semisvm fit"
    )
    assert_refused(run("predict", "nowhere.skops", "rows.csv"), "nowhere.skops does not exist")
    assert_success(run("fit", "rows.csv", "--target", "topic", "--method", "svm", "-o", "m.skops", "--force"))
    assert_refused(run("fit", "rows.csv", "--target", "topic", "-o", "m.skops"), "m.skops exists; pass --force")
    write_csv(tmp_path / "other.csv", [{"a": "1", "b": "2"}])
    assert_refused(run("predict", "m.skops", "other.csv"), "other.csv has none of the columns of the model, 'length'")
    assert_refused(run("predict", "m.skops", "rows.csv", "-o", "rows.csv"), "never overwritten")
    assert file_names(tmp_path) == ["m.skops", "other.csv", "rows.csv"]


def test_matrices_and_models(run, tmp_path):
    lines = [f"{1 if y == 1 else -1} 1:{i % 7 + 10 * y} 3:{i % 3}" for i, y in enumerate(Y)]
    shown = [line if i % 4 == 0 else "0" + line[line.index(" ") :] for i, line in enumerate(lines)]
    (tmp_path / "rows.libsvm").write_text("\n".join(shown) + "\n")
    assert_success(run("fit", "rows.libsvm", "--method", "svm"))
    (tmp_path / "new.libsvm").write_text("\n".join(lines) + "\n")
    assert_success(run("predict", "rows.model.skops", "new.libsvm"))
    after = (tmp_path / "new.predicted.libsvm").read_text().splitlines()
    assert [line.partition(" #")[0] for line in after] == lines
    assert sum(line.split("# ")[1].split()[0] == line.split()[0] for line in after) > 0.9 * N
    write_csv(tmp_path / "rows.csv", example_rows())
    assert_refused(run("predict", "rows.model.skops", "rows.csv"), "the model is of a matrix and rows.csv has columns")


def test_compare(run, tmp_path, rows):
    methods = [word for name in ("svm", "cccp", "ls") for word in ("--method", name)]
    out = assert_success(run("compare", "rows.csv", "--target", "topic", *methods))
    found = re.findall(r"^  (\S+) +(\d+\.\d) %   (\d+\.\d) to (\d+\.\d) +\d+\.\d\d$", out, re.MULTILINE)
    assert {name for name, *_ in found} == {"svm", "cccp", "ls"}
    errors = [float(error) for _, error, *_ in found]
    assert errors == sorted(errors)
    content = json.loads(assert_success(run("compare", "rows.csv", "--target", "topic", *methods[:2], "--json")))
    assert [one["name"] for one in content["methods"]] == ["svm"]
    assert content["methods"][0]["rows"] == 20
    few = [row | {"topic": row["topic"] if i < 30 else ""} for i, row in enumerate(example_rows())]
    write_csv(tmp_path / "few.csv", few)
    assert_refused(
        run("compare", "few.csv", "--target", "topic"), r"has \d labels.*takes 15 labels or more.*label more"
    )
    assert_refused(
        run("compare", "rows.csv", "--target", "topic", "--method", "nosuch"), "--method nosuch is not known"
    )


def test_next(run, tmp_path, rows):
    out = assert_success(run("next", "rows.csv", "--target", "topic", "--n", "6", "--method", "cccp", "-o", "todo.csv"))
    listed = [int(number) for number in re.findall(r"^ +(\d+)  \S", out, re.MULTILINE)]
    before = example_rows()
    assert len(set(listed)) == 6
    assert all(not before[number - 1]["topic"] for number in listed)
    with (tmp_path / "todo.csv").open(newline="") as file:
        written = list(csv.DictReader(file))
    assert [int(row["row"]) for row in written] == listed
    assert {row["predicted"] for row in written} <= set(TOPICS.values())
    content = json.loads(
        assert_success(run("next", "rows.csv", "--target", "topic", "--n", "6", "--method", "cccp", "--json"))
    )
    assert [one["row"] for one in content["next"]] == listed
    assert content["expected_gain"]["n_labels"] == 20
    write_csv(tmp_path / "full.csv", example_rows(hide=False))
    assert_refused(run("next", "full.csv", "--target", "topic"), "all rows of 'topic' have a label; there is none")
    assert_refused(run("next", "rows.csv", "--target", "topic", "--n", "0"), "--n.*greater than or equal to 1")


def test_label_as_json(run, tmp_path, rows):
    content = json.loads(assert_success(run("label", "rows.csv", "--target", "topic", "--json")))
    assert content["labels"] == {"sport": 10, "politics": 10}
    after = read_csv(tmp_path / "rows.labeled.csv")
    filled = [new["topic"] for old, new in zip(example_rows(), after) if not old["topic"]]
    assert content["filled"] == {c: filled.count(c) for c in content["filled"]}
    assert {one["name"] for one in content["held_out"]} == {"CCCPTSVM", "supervised"}
    assert [one["kind"] for one in content["columns"]] == ["ignored", "number", "number", "category", "date", "text"]


CHECK = """
from semisvm import SemiSVM
from semisvm.cli.compiled import compiled_functions
from semisvm.datasets import hide_labels, make_two_gaussians
X, y = make_two_gaussians(100, 5, random_state=0)
SemiSVM(random_state=0).fit(X, hide_labels(y, 30, random_state=0)).predict(X)
print(sum(sum(function.stats.cache_misses.values()) for function in compiled_functions()))
"""


@pytest.mark.slow
def test_after_warm_up_nothing_is_compiled(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    content = json.loads(assert_success(run_new_process("info", "--warm-up", "--json", env=environment)))
    assert content["warm_up"]["compiled"] > 10
    done = subprocess.run([sys.executable, "-c", CHECK], env=environment, capture_output=True, text=True, check=True)
    assert int(done.stdout) == 0
