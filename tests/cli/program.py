"""Running the command line as a program, and example tables."""

import csv
import io
import re
import subprocess
import sys
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from semisvm.datasets import hide_labels, make_two_gaussians

PROGRAM = [sys.executable, "-m", "semisvm"]

# Imports and fits once, then forks: every run is a separate process, without seconds of imports each.
SERVER = """
import contextlib, importlib, json, os, sys
import semisvm.cli, semisvm.tables.arrow
with contextlib.redirect_stdout(sys.stderr):
    semisvm.cli.main(["label", sys.argv[1], "--target", "topic", "--method", "cccp"])
for line in sys.stdin:
    argv, folder, out, err, setup = json.loads(line)
    child = os.fork()
    if not child:
        for name, number in ((out, 1), (err, 2)):
            os.dup2(os.open(name, os.O_WRONLY | os.O_CREAT | os.O_TRUNC), number)
        os.chdir(folder)
        code = 1
        try:
            exec(setup)
            code = importlib.import_module("semisvm.cli").main(argv)
        except BaseException:
            import traceback; traceback.print_exc()
        sys.stdout.flush(); sys.stderr.flush()
        os._exit(code)
    print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), flush=True)
"""


READING = r"rows\.csv: [\d,]+ rows, [\d,]+ with a label of topic in \d classes, [\d,]+ without\n(  .*\n)*\n\Z"


class Completed(NamedTuple):
    code: int
    out: str
    err: str


def run_new_process(*argv, **options):
    done = subprocess.run([*PROGRAM, *map(str, argv)], capture_output=True, text=True, check=False, **options)
    return Completed(done.returncode, done.stdout, done.stderr)


def assert_success(done):
    assert done.code == 0, done.err
    assert done.err == ""
    return done.out


def assert_refused(done, *patterns, code=2, after_reading=False):
    """One line on stderr, no traceback, on stdout nothing but what was read."""
    assert done.code == code, done
    assert re.match(READING, done.out) if after_reading else done.out == ""
    assert done.err.count("\n") == 1, done.err
    assert done.err.endswith((".\n", "?\n")) or "pip install" in done.err
    assert "Traceback" not in done.err
    for pattern in patterns:
        assert re.search(pattern, done.err), (pattern, done.err)
    return done.err


def file_names(folder):
    return sorted(path.name for path in folder.iterdir())


# ------------------------------------------------------------------ tables

N, N_LABELED = 80, 20
X, Y = make_two_gaussians(N, 3, 1.2, random_state=0)
WORDS = {1: "goal match team league referee", 2: "vote party law senate minister"}
TOPICS = {1: "sport", 2: "politics"}


def example_rows(topics=TOPICS, hide=True):
    """Numbers, a category, a date, text, an identifier and a topic that is empty in most rows."""
    rng = np.random.default_rng(1)
    y = hide_labels(Y, N_LABELED, random_state=0) if hide else Y
    return [
        {
            "id": str(700 + i),
            "length": f"{X[i, 0]:.3f}",
            "size": "" if i % 9 == 0 else f"{X[i, 1]:.2f}",
            "paper": ("post", "times", "")[i % 3],
            "day": f"2024-0{1 + i % 9}-11",
            "title": " ".join(rng.choice(WORDS[Y[i]].split(), 2)) + ' said "yes, no"\nand ' + str(rng.integers(50)),
            "topic": "" if y[i] == -1 else topics[y[i]],
        }
        for i in range(N)
    ]


def write_csv(path, rows, delimiter=",", encoding="utf-8", quoting=csv.QUOTE_MINIMAL):
    text = io.StringIO()
    writer = csv.DictWriter(text, rows[0].keys(), delimiter=delimiter, quoting=quoting)
    writer.writeheader()
    writer.writerows(rows)
    path.write_bytes(text.getvalue().encode(encoding))
    return path


def read_csv(path, delimiter=",", encoding="utf-8"):
    return list(csv.DictReader(io.StringIO(path.read_bytes().decode(encoding), newline=""), delimiter=delimiter))


def accuracy(rows, topics=TOPICS):
    return np.mean([row["topic"] == str(topics[y]) for row, y in zip(rows, Y)])


def assert_filled(before, after, topics=TOPICS):
    """Rows in order, other cells unchanged, given labels kept, confidences in [0, 1] and 1 where given."""
    assert len(before) == len(after)
    for old, new in zip(before, after):
        confidence = float(new["topic_confidence"])
        assert list(new) == [*old, "topic_confidence"]
        assert {k: v for k, v in new.items() if k not in ("topic", "topic_confidence")} == {
            k: v for k, v in old.items() if k != "topic"
        }
        if old["topic"]:
            assert (new["topic"], confidence) == (old["topic"], 1.0)
        else:
            assert new["topic"] in {str(topic) for topic in topics.values()}
            assert 0.0 <= confidence <= 1.0
    assert accuracy(after, topics) > 0.9


def write_parquet(path, topics, dtype=None, **extra):
    rows = example_rows(topics)
    columns = {key: [row[key] or None for row in rows] for key in ("title", "paper", "topic")}
    y = hide_labels(Y, N_LABELED, random_state=0)
    columns["topic"] = pa.array([None if label == -1 else topics[label] for label in y], type=dtype)
    columns["x"] = X[:, 0]
    columns["n"] = pa.array([None if i % 7 == 0 else i % 5 for i in range(N)])
    columns["flag"] = [bool(i % 2) for i in range(N)]
    columns["day"] = pa.array(np.datetime64("2024-01-01") + np.arange(N) % 13)
    columns["nested"] = [[1, 2]] * N
    pq.write_table(pa.table(columns | extra), path)
    return pq.ParquetFile(path).read()
