"""Data sets that scikit-learn downloads; here its functions are replaced, and nothing reaches the network."""

import urllib.error

import numpy as np
import pytest
import sklearn.datasets
from scipy import sparse
from sklearn.utils import Bunch

from semisvm.datasets import load_dataset

X = np.arange(12.0).reshape(4, 3)


@pytest.fixture
def openml(monkeypatch):
    """Calls of fetch_openml, which answers with the labels that are set here."""
    calls = Bunch(arguments=[], target=np.array(["1", "2", "2", "1"], dtype=object))

    def fetch_openml(**arguments):
        calls.arguments.append(arguments)
        return Bunch(data=X, target=calls.target)

    monkeypatch.setattr(sklearn.datasets, "fetch_openml", fetch_openml)
    return calls


def test_openml_by_name(openml, tmp_path):
    data = load_dataset("openml:diabetes", tmp_path)
    assert openml.arguments[0]["name"] == "diabetes"
    assert openml.arguments[0]["data_home"] == tmp_path
    assert openml.arguments[0]["target_column"] == "default-target"
    assert openml.arguments[0]["as_frame"] is False
    assert data.name == "openml:diabetes"
    np.testing.assert_array_equal(data.X, X)
    assert data.y.tolist() == [1, 2, 2, 1]
    assert data.splits == []


def test_openml_by_number_and_target(openml):
    openml.target = np.array(["yes", "no", "no", "yes"], dtype=object)
    data = load_dataset("openml:37", target="class")
    assert openml.arguments[0]["data_id"] == 37
    assert "name" not in openml.arguments[0]
    assert openml.arguments[0]["target_column"] == "class"
    assert openml.arguments[0]["data_home"] is None
    assert data.y.tolist() == ["yes", "no", "no", "yes"]


def test_splits_of_a_file_apply(openml, tmp_path):
    np.savez(tmp_path / "tables.npz", idx_labs=[[0, 1]])
    split = load_dataset("openml:diabetes", splits=tmp_path / "tables.npz").splits[0]
    assert split.unlabeled.tolist() == [2, 3]


def test_the_arguments_are_those_of_scikit_learn(openml):
    """The replaced function takes anything; the real one has to know every argument."""
    import inspect

    from sklearn.datasets._openml import fetch_openml

    load_dataset("openml:diabetes")
    assert set(openml.arguments[0]) <= set(inspect.signature(fetch_openml).parameters)


def test_20_newsgroups_have_the_split_by_date(monkeypatch, tmp_path):
    parts = {
        "train": Bunch(data=sparse.csr_matrix(X), target=np.array([0, 1, 2, 0])),
        "test": Bunch(data=sparse.csr_matrix(X[:2] + 100.0), target=np.array([2, 1])),
    }
    folders = []

    def fetch_20newsgroups_vectorized(*, subset, data_home):
        folders.append(data_home)
        return parts[subset]

    monkeypatch.setattr(sklearn.datasets, "fetch_20newsgroups_vectorized", fetch_20newsgroups_vectorized)
    data = load_dataset("20newsgroups", tmp_path)
    assert folders == [tmp_path, tmp_path]
    np.testing.assert_array_equal(data.X.toarray(), np.vstack([X, X[:2] + 100.0]))
    assert data.y.tolist() == [0, 1, 2, 0, 2, 1]
    (split,) = data.splits
    assert [part.tolist() for part in split] == [[0, 1, 2, 3], [], [4, 5]]


@pytest.mark.parametrize("error", [urllib.error.URLError("no route to host"), TimeoutError("timed out")], ids=str)
@pytest.mark.parametrize(
    ("name", "function"), [("openml:diabetes", "fetch_openml"), ("20newsgroups", "fetch_20newsgroups_vectorized")]
)
def test_no_network_is_one_sentence(monkeypatch, name, function, error):
    def refuse(**arguments):
        raise error

    monkeypatch.setattr(sklearn.datasets, function, refuse)
    with pytest.raises(
        ConnectionError, match=rf"'{name}' could not be downloaded \(.*\); connect to the network, or get"
    ):
        load_dataset(name)


def test_what_is_refused(openml):
    openml.target = None
    with pytest.raises(
        ValueError, match="'diabetes' of OpenML has no column of labels by default; name one with target="
    ):
        load_dataset("openml:diabetes")
    for arguments in ({"format": "csv"}, {"target": 3}):
        with pytest.raises(ValueError, match="is downloaded; it takes no format, and a name as target"):
            load_dataset("openml:diabetes", **arguments)
    with pytest.raises(ValueError, match="'20newsgroups' has its labels in place: leave target out"):
        load_dataset("20newsgroups", target="group")
    with pytest.raises(ValueError, match="'openml:' names no set; write openml:NAME or openml:NUMBER"):
        load_dataset("openml:")
