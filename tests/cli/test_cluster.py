"""``semisvm label --cluster``: the labels of memory, every row once, and one sentence for what cannot be done."""

import functools
import json
import os
import re
import signal
import sys
from itertools import pairwise

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from semisvm import MultiSwitchTSVM
from semisvm.cli import cluster_fitting, clusters, main
from semisvm.cli.progress import ProgressDisplay
from semisvm.cli.training import TableOptions, make_features, read_target
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.parallel.journal import Journal
from semisvm.tables import partitions

distributed = pytest.importorskip("distributed")

N = 240
TARGET = "topic"


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None, silence_logs=50
    ) as cluster:
        yield cluster


@pytest.fixture
def label(cluster, capsys):
    """Run the command; its exit code, standard output and standard error."""

    def run(table, *options, address=cluster.scheduler_address):
        code = main(["label", str(table), "--target", TARGET, "--cluster", address, *map(str, options)])
        return code, *capsys.readouterr()

    return run


def rows(n=N):
    """Numbers, one that is missing, a category, text, a list, and a dictionary of topics in few rows."""
    X, y = make_two_gaussians(n, 3, 1.6, random_state=0)
    shown, rng = hide_labels(y, 40, random_state=0), np.random.default_rng(0)
    words = ["goal", "match", "team", "vote", "party", "law"]
    return pa.table(
        {
            "length": X[:, 0],
            "size": [None if i % 9 == 0 else float(X[i, 1]) for i in range(n)],
            "paper": ["post", "times", None] * (n // 3),
            "title": [f"{words[3 * c - rng.integers(1, 4)]} and {rng.choice(words)} {i % 50}" for i, c in enumerate(y)],
            "nested": [[1, 2]] * n,
            "topic": pa.array([{-1: None, 1: "sport", 2: "politics"}[c] for c in shown]).dictionary_encode(),
        }
    )


def numbers():
    """The same without text."""
    return rows().drop_columns(["title"])


def write_folder(folder, table, n_files=3):
    folder.mkdir()
    edges = np.linspace(0, len(table), n_files + 1).astype(int)
    for number, (a, b) in enumerate(pairwise(edges)):
        pq.write_table(table.slice(a, b - a), folder / f"part.{number}.parquet")
    return folder


def read_folder(folder):
    return pa.concat_tables([pq.ParquetFile(path).read() for path in sorted(folder.iterdir())]).unify_dictionaries()


def assert_labeled(before, after):
    """Every row once and in order, other columns as they were, given labels kept, no cell empty."""
    assert after.schema.names == [*before.schema.names, f"{TARGET}_confidence"]
    assert after.schema.field(TARGET).type == before.schema.field(TARGET).type
    assert after.drop_columns([TARGET, f"{TARGET}_confidence"]).equals(before.drop_columns([TARGET]))
    given, found = before[TARGET].to_pylist(), after[TARGET].to_pylist()
    confidence = after[f"{TARGET}_confidence"].to_numpy()
    assert None not in found
    assert [f for f, g in zip(found, given) if g is not None] == [g for g in given if g is not None]
    assert (confidence[[g is not None for g in given]] == 1.0).all()
    assert ((confidence >= 0.0) & (confidence <= 1.0)).all()


def test_labels_are_those_of_a_fit_in_memory_to_the_same_features(label, tmp_path):
    source = write_folder(tmp_path / "rows", rows())
    pq.write_table(rows(), tmp_path / "whole.parquet")
    code, out, err = label(source, "--json")
    assert (code, err) == (0, "")
    training = read_target(TableOptions(tmp_path / "whole.parquet", TARGET), ProgressDisplay())
    make_features(training)
    model = MultiSwitchTSVM(kernel="linear", unlabeled=None, random_state=0).fit(training.X, training.y)
    after = read_folder(tmp_path / "rows.labeled.parquet")
    assert_labeled(rows(), after)
    assert after[TARGET].to_pylist() == model.transduction_.tolist()
    expected, empty = model.predict_proba(training.X).max(axis=1), training.empty
    np.testing.assert_allclose(after[f"{TARGET}_confidence"].to_numpy()[empty], expected[empty], atol=0.01)
    report, given = json.loads(out), training.labels.given
    assert report["rows"] == N
    assert report["labels"] == given
    assert report["repeated_rows"] == training.n_repeated
    assert {one["name"]: one["kind"] for one in report["columns"]} == {one.name: one.kind for one in training.columns}
    filled = np.unique(model.transduction_[empty], return_counts=True)
    assert report["filled"] == dict(zip(*map(np.ndarray.tolist, filled)))
    medians = {c: np.median(expected[empty][model.transduction_[empty] == c]) for c in report["filled"]}
    assert report["median_confidence"] == pytest.approx(medians, abs=0.01)
    assert report["supervised_differs"] == (model.supervised_.predict(training.X) != model.transduction_)[empty].sum()
    assert (report["method"], report["cluster"]["workers"]) == ("MultiSwitchTSVM", 2)
    assert {one["name"] for one in report["held_out"]} == {"MultiSwitchTSVM", "supervised"}


def test_model_that_keeps_no_number_per_row_labels_by_its_threshold(label, tmp_path, monkeypatch):
    fit = cluster_fitting.parallel.fit
    monkeypatch.setattr(cluster_fitting.parallel, "fit", functools.partial(fit, out_of_core=True))
    code, _, err = label(write_folder(tmp_path / "rows", numbers()), "--balance", "0.4", "-o", tmp_path / "out")
    assert (code, err) == (0, "")
    after = read_folder(tmp_path / "out")
    assert_labeled(numbers(), after)
    empty = [cell is None for cell in numbers()[TARGET].to_pylist()]
    assert np.mean(np.array(after[TARGET].to_pylist())[empty] == "sport") == pytest.approx(0.4, abs=0.02)


def test_columns_are_recognized_in_a_sample_of_a_large_table(label, tmp_path, monkeypatch):
    monkeypatch.setattr("semisvm.cli.cluster_reading.MAX_SAMPLE", 60)
    monkeypatch.setattr(partitions, "MAX_ROWS", 50)
    table = numbers()
    mixed = ["many" if i == 3 else f"{i % 13}.5" for i in range(N)]
    table = table.append_column("pages", pa.array(mixed))
    pq.write_table(table, tmp_path / "rows.parquet")
    code, out, err = label(tmp_path / "rows.parquet", "--method", "gradient", "-v")
    assert code == 0
    assert "filling and writing" in err
    assert "Filled by GradientTSVM" in out
    assert "rows.parquet: 240 rows, 40 with a label of topic in 2 classes, 200 without" in out
    assert "columns were recognized in a sample of 100 rows" in out
    assert re.search("pages: 1 of (100|240) cells are no numbers", out)  # counted in the sample if it is there
    assert_labeled(table, read_folder(tmp_path / "rows.labeled.parquet"))
    assert len(list((tmp_path / "rows.labeled.parquet").iterdir())) == 5


def test_table_without_an_empty_cell_is_written_as_it_is(label, tmp_path):
    full = rows().set_column(5, TARGET, pa.array([7, 8] * (N // 2)))
    code, out, _ = label(write_folder(tmp_path / "rows", full))
    assert code == 0
    assert "no row is unlabeled" in out
    assert_labeled(full, read_folder(tmp_path / "rows.labeled.parquet"))


def test_worker_that_is_killed_while_it_writes_loses_and_doubles_no_row(cluster, label, tmp_path, monkeypatch):
    monkeypatch.setattr(partitions, "MAX_ROWS", 20)
    pids = [nanny.process.pid for nanny in cluster.workers.values()]
    begin = ProgressDisplay.begin

    def kill_then_begin(self, stage, n_parts=None):
        begin(self, stage, n_parts)
        if stage == "filling and writing":
            os.kill(pids[0], signal.SIGKILL)

    monkeypatch.setattr(ProgressDisplay, "begin", kill_then_begin)
    code, _, err = label(write_folder(tmp_path / "rows", numbers()))
    assert (code, err) == (0, "")
    assert_labeled(numbers(), read_folder(tmp_path / "rows.labeled.parquet"))
    cluster.wait_for_workers(2, timeout=30)


def test_command_that_was_stopped_goes_on_from_its_checkpoint(label, tmp_path, monkeypatch):
    source, checkpoint, answered = write_folder(tmp_path / "rows", numbers()), tmp_path / "checkpoint", []
    answer = Journal.answer

    def counted(self, question, compute):
        if len(answered) == 12:
            raise clusters.ClusterFailure("the connection to the scheduler was lost.")
        answered.append(1)
        return answer(self, question, compute)

    with monkeypatch.context() as patch:
        patch.setattr(Journal, "answer", counted)
        code, _, err = label(source, "--checkpoint", checkpoint)
    assert (code, err) == (2, "the connection to the scheduler was lost.\n")
    assert len(list(checkpoint.glob("*.npz"))) == 12
    assert not (tmp_path / "rows.labeled.parquet").exists()
    code, _, err = label(source, "--checkpoint", checkpoint, "--seed", "1")
    assert (code, err.count("\n")) == (2, 1)
    assert "belongs to another table or other options" in err
    assert label(source, "--checkpoint", checkpoint)[0] == 0
    assert not list(checkpoint.iterdir())
    assert label(source, "-o", tmp_path / "at once")[0] == 0
    found, expected = (read_folder(tmp_path / name) for name in ("rows.labeled.parquet", "at once"))
    assert found[TARGET].to_pylist() == expected[TARGET].to_pylist()
    np.testing.assert_allclose(found[f"{TARGET}_confidence"], expected[f"{TARGET}_confidence"], rtol=1e-6)


@pytest.mark.parametrize(
    "options, message",
    [
        (["--target", "topik"], r"no column 'topik'; .* did you mean 'topic'\?"),
        (["--target", "nested"], r"the target 'nested' has the type list"),
        (["--target", "length"], r"the target 'length' holds fractions such as"),
        (["--ignore", "papre"], r"no column 'papre'; .* did you mean 'paper'\?"),
        (["--method", "cccp"], r"--method cccp needs the whole table .* multi-switch, annealing, gradient, cont"),
        (["--method", "semi"], r"--method semi needs the whole table in memory"),
        (["--method", "none"], r"--method none is not known"),
        (["--balance", "3"], r"--balance 3 is not understood"),
        (["--encoding", "latin-1"], r"always UTF-8; remove --encoding"),
        (["--cluster", "nowhere"], r"'nowhere' is no address of a scheduler \(missing port .* tcp://host:8786"),
        (["--cluster", "tcp://127.0.0.1:9"], r"the scheduler at tcp://127.0.0.1:9 does not answer .*dask scheduler"),
        (["--cluster", "tls://127.0.0.1:9"], r"asks for certificates; pass the files"),
        (["--cluster", "tls://127.0.0.1:9", "--tls-folder", "."], r"ca.pem' is not a file; TLS needs three"),
        (["--workers", "2"], r"--workers is for --cluster local"),
        (["--cluster", "local", "--tls-folder", "."], r"remove it from --cluster local"),
        (["--checkpoint", "rows"], r"is no checkpoint"),
        (["-o", "rows"], r"the output rows is the input or a part of it"),
        (["-o", "rows/new"], r"the output rows/new is the input or a part of it"),
        (["-o", "."], r"the output \. is the input or a part of it"),
        (["-o", "-"], r"not standard output; pass its name with -o"),
        (["-o", "nowhere/new"], r"the folder .*nowhere of the output does not exist"),
        (["-o", "whole.parquet"], r"whole.parquet is a file, but a cluster writes a folder"),
        (["-o", "notes", "--force"], r"the output notes holds more than Parquet files \(a.txt\)"),
        (["-o", "there"], r"the output there exists; pass --force"),
    ],
    ids=lambda value: " ".join(value) if isinstance(value, list) else "",
)
def test_what_cannot_be_done_is_one_sentence_and_leaves_nothing(label, tmp_path, monkeypatch, options, message):
    monkeypatch.setattr(clusters, "connect", functools.partial(clusters.connect, timeout=0.3))
    monkeypatch.chdir(tmp_path)
    write_folder(tmp_path / "rows", rows())
    write_folder(tmp_path / "there", rows(), 1)
    pq.write_table(rows(), tmp_path / "whole.parquet")
    (tmp_path / "notes").mkdir()
    (tmp_path / "notes" / "a.txt").touch()
    before = sorted(tmp_path.rglob("*"))
    code, _, err = label("rows", *options)
    assert code == 2
    assert err.count("\n") == 1
    assert re.search(message, err), err
    assert "Traceback" not in err
    assert sorted(tmp_path.rglob("*")) == before


@pytest.mark.parametrize(
    "cells, message",
    [
        ([None] * 6, r"all 6 cells of the target 'topic' are empty; label some rows"),
        (["a", None] * 3, r"the target 'topic' holds only one class, 'a'"),
        (["a", "b", None] * 2, r"no column besides the target 'topic' can be used: x \(constant\)"),
    ],
)
def test_tables_that_cannot_be_learned_from_are_refused(label, tmp_path, cells, message):
    table = pa.table({"x": [1.0] * 6, TARGET: pa.array(cells, pa.string())})
    code, _, err = label(write_folder(tmp_path / "rows", table))
    assert code == 2
    assert err.count("\n") == 1
    assert re.search(message, err), err
    assert not (tmp_path / "rows.labeled.parquet").exists()


def test_output_that_exists_is_replaced_as_a_whole_with_force(label, tmp_path):
    source, out = write_folder(tmp_path / "rows", numbers()), write_folder(tmp_path / "out", numbers(), 8)
    assert label(source, "-o", out, "--force")[0] == 0
    assert_labeled(numbers(), read_folder(out))
    assert sorted(path.name for path in tmp_path.iterdir()) == ["out", "rows"]


def test_rows_that_workers_write_elsewhere_are_missed(label, tmp_path, monkeypatch):
    monkeypatch.setattr("semisvm.cli.cluster_labeling.write_partition", _write_nowhere)
    code, _, err = label(write_folder(tmp_path / "rows", numbers()))
    assert code == 2
    assert "0 of 80 rows of part-000000.parquet are in the output; choose a folder that is the same on all" in err
    assert [path.name for path in tmp_path.iterdir()] == ["rows"]


def _write_nowhere(partition, codes, path, writer):
    from semisvm.cli.partition_tasks import PartitionCounts

    return PartitionCounts()


def test_missing_extra_is_one_sentence(label, tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "distributed", None)
    code, _, err = label(write_folder(tmp_path / "rows", rows()))
    assert code == 2
    assert err == "a cluster needs the package distributed, which is not installed: pip install 'semisvm[dask]'.\n"


@pytest.mark.parametrize("option", ["--workers=2", "--tls-folder=.", "--checkpoint=there"])
def test_options_of_a_cluster_need_one(option, tmp_path, capsys):
    pq.write_table(rows(), tmp_path / "rows.parquet")
    assert main(["label", str(tmp_path / "rows.parquet"), "--target", TARGET, option]) == 2
    assert f"{option.split('=')[0]} is an option of a cluster; pass --cluster local" in capsys.readouterr().err


def test_methods_of_a_cluster_are_those_that_need_products_alone():
    from semisvm import parallel
    from semisvm.estimators import ESTIMATORS

    X, y = make_two_gaussians(60, 3, 1.6, random_state=0)
    y, taken = hide_labels(y, 10, random_state=0), []
    for name, cls in ESTIMATORS.items():
        if "unlabeled" not in cls().get_params() or name == "S3VM":
            continue
        try:
            parallel.fit(cls(kernel="linear"), X, y, client="threads")
        except (TypeError, ValueError):
            continue
        taken.append(name)
    assert set(cluster_fitting.CLUSTER_METHODS) <= set(taken)
