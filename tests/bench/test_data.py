"""Sets of a folder, labels at random and partitions."""

import hashlib
import os
from pathlib import Path

import numpy as np
import pytest
from scipy import sparse

from semisvm import LSSVM
from semisvm.bench import DIGESTS, DataFolder, check_splits, split_sentences
from semisvm.bench.data import Partition, show_labels


def test_dense_and_sparse_sets(tmp_path):
    X, y = np.arange(12.0).reshape(6, 2), np.array([-1, 1, 1, -1, 1, -1])
    labeled, rest = [[0, 1], [2, 3]], [[2, 3, 4, 5], [0, 1, 4, 5]]
    np.savez(tmp_path / "dense.npz", X=X, y=y, gen_idx_labs=labeled, gen_idx_unls=rest)
    sparse.save_npz(tmp_path / "words.X.npz", sparse.csr_matrix(X))
    np.save(tmp_path / "words.y.npy", y)
    np.savez(tmp_path / "words.splits.npz", idx_train=[0, 1, 2], idx_test=[4, 5])
    folder = DataFolder(tmp_path)
    assert [folder.has(name) for name in ("dense", "words", "other")] == [True, True, False]
    dense, words = folder.load("dense"), folder.load("words")
    np.testing.assert_array_equal(dense.X, X)
    np.testing.assert_array_equal(dense.y, [1, 2, 2, 1, 2, 1])  # -1 marks unlabeled samples
    np.testing.assert_array_equal(dense.splits[1].labeled, [2, 3])
    np.testing.assert_array_equal(dense.splits[1].test, [0, 1, 4, 5])
    np.testing.assert_array_equal(words.X.toarray(), X)
    np.testing.assert_array_equal(words.splits[0].labeled, [0, 1, 2])
    np.testing.assert_array_equal(words.splits[0].test, [4, 5])
    assert folder.load("dense") is dense
    with pytest.raises(FileNotFoundError, match=r"no data set .other. in the folder"):
        folder.load("other")
    assert not DataFolder().has("dense")
    with pytest.raises(FileNotFoundError, match="no data folder was given"):
        DataFolder().load("dense")


def test_labels_at_random_have_all_classes():
    y = np.repeat([1, 2, 3], [90, 8, 2])
    for seed in range(20):
        shown = show_labels(y, 10, np.random.default_rng(seed))
        kept = shown != -1
        assert kept.sum() == 10
        np.testing.assert_array_equal(shown[kept], y[kept])
        assert set(shown[kept]) == {1, 2, 3}


def test_a_partition_counts_errors_on_test_samples_and_trains_on_shown_labels():
    X = np.array([[-2.0], [-1.0], [1.0], [2.0], [-3.0], [-4.0], [3.0], [4.0]])
    y = np.array([1, 1, 2, 2, 2, 2, 1, 1])  # turned around where it is not shown
    shown = np.array([1, 1, 2, 2, -1, -1, -1, -1])
    data = Partition(X, shown, y, np.array([[-1.5], [1.5], [2.5], [-2.5]]), np.array([1, 2, 1, 1]))
    assert data.error(LSSVM(1.0, kernel="linear")) == 25.0
    assert data.error(LSSVM(1.0, kernel="linear"), all_labels=True) == 75.0
    assert data.shares == pytest.approx(0.5)
    assert data._replace(y=np.array([1, 2, 3, 3])).shares == {1: 0.25, 2: 0.25, 3: 0.5}


def test_other_splits_than_the_official_ones_are_named(tmp_path, monkeypatch):
    y = np.array([1, 2, 2, 1])
    changes = {"g50c": {}, "text": {"idx_labs": [[0, 2]]}, "uspst": {"y": [1, 2, 1, 2]}}
    for name, change in changes.items():
        np.savez(tmp_path / f"{name}.npz", **({"X": np.eye(4), "y": y, "idx_labs": [[0, 1]]} | change))
    (tmp_path / "usps.npz").write_text("damaged")
    folder = DataFolder(tmp_path)
    expected = hashlib.sha256(np.array(y, "<i8").tobytes())
    for part in ([0, 1], [2, 3], [2, 3]):
        expected.update(b"2:" + np.array(part, "<i8").tobytes())
    for name in [*changes, "usps"]:
        monkeypatch.setitem(DIGESTS, name, expected.hexdigest())
    found = check_splits([*changes, "usps", "mnist", "coil20"], folder)
    assert found == {"g50c": True, "text": False, "usps": False, "uspst": False}
    assert split_sentences(found) == [
        "The splits are the official ones, bit for bit: g50c",
        "Splits that are not the official ones, so that their cells are stand-ins: text, usps, uspst",
    ]


@pytest.mark.slow
@pytest.mark.skipif("SEMISVM_DATA" not in os.environ, reason="the folder of the data sets is named by SEMISVM_DATA")
def test_the_official_splits():
    found = check_splits(DIGESTS, DataFolder(Path(os.environ["SEMISVM_DATA"])))
    assert found
    assert all(found.values())
