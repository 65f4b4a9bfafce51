"""Data sets from files: what was written comes back."""

import bz2
import gzip

import numpy as np
import pandas as pd
import pytest
from scipy import sparse
from scipy.io import savemat
from sklearn.datasets import dump_svmlight_file

from semisvm.datasets import Dataset, Split, load_dataset

RNG = np.random.default_rng(0)
X = RNG.standard_normal((8, 3)).round(3)
SPARSE = sparse.csr_matrix(np.where(X > 0, X, 0.0), dtype=np.float32)
Y = np.array([1, -1, 1, 1, -1, -1, 1, -1])
LABELED = np.array([[0, 1], [7, 2], [3, 5]])
UNLABELED = np.array([[2, 3, 4, 5, 6, 7], [0, 1, 3, 4, 5, 6], [0, 1, 2, 4, 6, 7]])


def assert_loaded(data, samples=X, labels=Y, name="small", n_splits=3):
    assert isinstance(data, Dataset)
    assert data.name == name
    found = data.X.toarray() if sparse.issparse(data.X) else data.X
    np.testing.assert_array_equal(found, samples.toarray() if sparse.issparse(samples) else samples)
    np.testing.assert_array_equal(data.y, labels)
    assert data.y.dtype == int
    assert len(data.splits) == n_splits
    for split, labeled, unlabeled in zip(data.splits, LABELED, UNLABELED):
        assert isinstance(split, Split)
        assert all(part.dtype == int for part in split)
        np.testing.assert_array_equal(split.labeled, labeled)
        np.testing.assert_array_equal(split.unlabeled, unlabeled)
        np.testing.assert_array_equal(split.test, unlabeled)


def write_npz(folder):
    np.savez(folder / "small.npz", X=X, y=Y.astype(np.int8), idx_labs=LABELED, idx_unls=UNLABELED.astype(np.int16))


def write_sparse(folder):
    sparse.save_npz(folder / "small.X.npz", SPARSE)
    np.save(folder / "small.y.npy", Y.astype(np.int8))
    np.savez(folder / "small.splits.npz", idx_labs=LABELED, idx_unls=UNLABELED)


def write_mat(folder):
    savemat(folder / "small.mat", {"X": X, "y": Y[:, None], "idxLabs": LABELED + 1, "idxUnls": UNLABELED + 1})


@pytest.mark.parametrize(("write", "samples"), [(write_npz, X), (write_sparse, SPARSE), (write_mat, X)])
def test_formats_with_splits(tmp_path, write, samples):
    write(tmp_path)
    assert_loaded(load_dataset("small", tmp_path), samples)


def test_dtypes_are_those_of_the_file(tmp_path):
    np.savez(tmp_path / "bytes.npz", X=np.arange(6, dtype=np.uint8).reshape(2, 3), y=np.array(["b", "a"]))
    data = load_dataset("bytes", tmp_path)
    assert data.X.dtype == np.uint8
    assert data.y.tolist() == ["b", "a"]
    assert data.splits == []


def test_sparse_samples_of_matlab(tmp_path):
    savemat(tmp_path / "small.mat", {"X": sparse.csc_matrix(SPARSE, dtype=float), "y": Y.astype(float)})
    data = load_dataset("small", tmp_path)
    assert data.X.format == "csr"
    assert_loaded(data, SPARSE.astype(float), n_splits=0)


def test_one_split_of_matlab_as_a_column(tmp_path):
    savemat(tmp_path / "small.mat", {"X": X, "y": Y, "idxLabs": LABELED[:1].T + 1, "idxUnls": UNLABELED[:1].T + 1})
    assert_loaded(load_dataset("small", tmp_path), n_splits=1)


@pytest.mark.parametrize("ending", [".svmlight", ".libsvm", ".svm", ".svm.gz", ".libsvm.bz2"])
def test_svmlight(tmp_path, ending):
    path = tmp_path / f"small{ending}"
    dump_svmlight_file(X, Y, str(path), zero_based=False)
    pack = {".gz": gzip.compress, ".bz2": bz2.compress}.get(path.suffix, lambda text: text)
    path.write_bytes(pack(path.read_bytes()))
    assert_loaded(load_dataset("small", tmp_path), n_splits=0)
    assert_loaded(load_dataset(path), n_splits=0)


def test_format_of_an_unknown_ending(tmp_path):
    path = tmp_path / "a9a.t"
    dump_svmlight_file(X, Y, str(path), zero_based=False)
    assert_loaded(load_dataset(path, format="svmlight"), name="a9a.t", n_splits=0)
    with pytest.raises(
        ValueError, match=r"a9a\.t has an unknown format; known are the endings .*: pass format= for others"
    ):
        load_dataset(path)


@pytest.mark.parametrize("header", [True, False])
@pytest.mark.parametrize(("ending", "separator"), [("csv", ","), ("tsv", "\t")])
def test_columns_of_text(tmp_path, header, ending, separator):
    table = pd.DataFrame(X, columns=["a", "b", "c"]).assign(label=Y)
    table.to_csv(tmp_path / f"small.{ending}", sep=separator, header=header, index=False)
    assert_loaded(load_dataset("small", tmp_path), n_splits=0)


@pytest.mark.parametrize("target", ["label", 1, -3])
def test_target_by_name_or_number(tmp_path, target):
    table = pd.DataFrame(X, columns=["a", "b", "c"])
    table.insert(1, "label", np.where(Y > 0, "yes", "no"))
    table.to_csv(tmp_path / "small.csv", index=False)
    data = load_dataset("small", tmp_path, target=target)
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == np.where(Y > 0, "yes", "no").tolist()


@pytest.mark.parametrize(
    ("cells", "labels"), [(["yes", "", "no"], ["yes", None, "no"]), (["1", "", "2"], [1.0, np.nan, 2.0])]
)
def test_empty_cells_are_missing_labels(tmp_path, cells, labels):
    (tmp_path / "part.csv").write_text("".join(f"{n},{cell}\n" for n, cell in enumerate(cells)))
    data = load_dataset("part", tmp_path)
    assert data.X.tolist() == [[0.0], [1.0], [2.0]]
    np.testing.assert_array_equal(data.y, np.array(labels, dtype=data.y.dtype))


def test_splits_from_a_file_of_their_own(tmp_path):
    dump_svmlight_file(X, Y, str(tmp_path / "small.svm"), zero_based=False)
    savemat(tmp_path / "labels=2.mat", {"idxLabs": LABELED + 1, "idxUnls": UNLABELED + 1})
    np.savez(tmp_path / "tables.npz", idx_labs=LABELED)
    for name in ("labels=2.mat", "tables.npz"):
        assert_loaded(load_dataset("small", tmp_path, splits=tmp_path / name))


def test_where_files_are_looked_for(tmp_path, monkeypatch):
    other = tmp_path / "other"
    other.mkdir()
    write_npz(other)
    monkeypatch.chdir(tmp_path)
    assert_loaded(load_dataset("other/small.npz"))
    assert_loaded(load_dataset("small", "other"))
    assert_loaded(load_dataset("small.npz", other))
    with pytest.raises(FileNotFoundError):
        load_dataset("small")
    monkeypatch.setenv("SEMISVM_DATA", str(other))
    assert_loaded(load_dataset("small"))


def test_a_file_without_its_ending_is_the_first_of_the_list(tmp_path):
    write_npz(tmp_path)
    (tmp_path / "small.csv").write_text("1,2\n3,4\n")
    assert_loaded(load_dataset("small", tmp_path))


# ---------------------------------------------------------------- what is refused


def test_missing_files(tmp_path):
    with pytest.raises(
        FileNotFoundError, match=r"no data set 'nothing' in the folder .* pass the path of a file, or the"
    ):
        load_dataset("nothing", tmp_path)
    sparse.save_npz(tmp_path / "small.X.npz", SPARSE)
    with pytest.raises(FileNotFoundError, match=r"has no labels: there is no small\.y\.npy beside it"):
        load_dataset("small", tmp_path)
    write_npz(tmp_path)
    with pytest.raises(FileNotFoundError, match=r"no file of splits .*; pass the path of an NPZ or MATLAB file"):
        load_dataset("small", tmp_path, splits=tmp_path / "none.npz")


def test_python_objects_are_not_loaded(tmp_path):
    np.savez(tmp_path / "small.npz", X=X, y=np.array([{}] * 8, dtype=object))
    with pytest.raises(ValueError, match="holds Python objects, which are not loaded; save arrays of numbers or text"):
        load_dataset("small", tmp_path)
    sparse.save_npz(tmp_path / "objects.X.npz", SPARSE)
    np.save(tmp_path / "objects.y.npy", np.array([{}] * 8, dtype=object))
    with pytest.raises(ValueError, match="holds Python objects"):
        load_dataset("objects", tmp_path)


@pytest.mark.parametrize("save", [lambda path, **arrays: np.savez(f"{path}.npz", **arrays), savemat])
def test_samples_and_labels_are_needed(tmp_path, save):
    def write(**arrays):
        if save is savemat:
            savemat(tmp_path / "small.mat", arrays)
        else:
            save(tmp_path / "small", **arrays)

    write(X=X, labels=Y)
    with pytest.raises(ValueError, match=r"has no y, only \['X', 'labels'\]; name the samples X and the labels y"):
        load_dataset("small", tmp_path)
    write(X=X.T, y=Y)
    with pytest.raises(ValueError, match=r"X of shape \(3, 8\) and y of shape \(8,\); X takes one row per sample"):
        load_dataset("small", tmp_path)
    write(X=X, y=np.eye(8))
    with pytest.raises(ValueError, match=r"y of shape \(8, 8\)"):
        load_dataset("small", tmp_path)


def test_indices_of_matlab_start_at_one(tmp_path):
    savemat(tmp_path / "small.mat", {"X": X, "y": Y, "idxLabs": LABELED})
    with pytest.raises(ValueError, match="the index 0 in idxLabs; 8 samples allow whole numbers from 1 to 8"):
        load_dataset("small", tmp_path)


def test_matlab_of_version_73(tmp_path):
    header = b"MATLAB 7.3 MAT-file".ljust(124) + b"\x00\x02IM"
    (tmp_path / "new.mat").write_bytes(header + bytes(64))
    with pytest.raises(ValueError, match=r"is of MATLAB's version 7\.3; save it with the option '-v7'"):
        load_dataset("new", tmp_path)


CSV = {
    "no such column": ("a,b\n1,2\n", {"target": "c"}, r"has no column 'c'; target takes one of 'a', 'b'"),
    "no such number": ("1,2\n", {"target": 2}, r"target=2 is not a column of .*; it takes -2 to 1 or a name"),
    "one column": ("1\n2\n", {}, r"has 1 column; it takes features and a column of labels"),
    "text": ("1,x,2\n3,y,4\n", {"target": "2"}, r"has 'y' in sample 1, which is not a number"),
    "empty cell": ("1,1,a\n2,,b\n", {}, r"has '' in sample 2, which is not a number"),
    "ragged": ("1,2,3\n1,2\n", {}, r"has 2 cells in sample 2 and 3 in line 1"),
    "empty": ("", {}, r"is empty; it takes one line per sample"),
    "header alone": ("a,b\n", {}, r"has no samples below its header; it takes one line per sample"),
}


@pytest.mark.parametrize(("text", "arguments", "message"), CSV.values(), ids=CSV)
def test_tables_that_are_refused(tmp_path, text, arguments, message):
    (tmp_path / "small.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        load_dataset("small", tmp_path, **arguments)


def test_arguments_that_are_refused(tmp_path):
    write_npz(tmp_path)
    (tmp_path / "bad.svm").write_text("this is text\n")
    np.savez(tmp_path / "none.npz", a=[1])
    with pytest.raises(ValueError, match=r"format='arff' is not allowed; format takes one of 'npz', .* None"):
        load_dataset("small", tmp_path, format="arff")
    with pytest.raises(ValueError, match=r"target='y' is for CSV and TSV files; .* leave target out"):
        load_dataset("small", tmp_path, target="y")
    with pytest.raises(ValueError, match=r"bad\.svm is not of the format svmlight"):
        load_dataset("bad", tmp_path)
    with pytest.raises(ValueError, match=r"has no table of splits, only \['a'\]; add idx_labs or idx_train"):
        load_dataset("small", tmp_path, splits=tmp_path / "none.npz")
    with pytest.raises(ValueError, match="splits takes the path of an NPZ or MATLAB file"):
        load_dataset("small", tmp_path, splits=tmp_path / "bad.svm")
