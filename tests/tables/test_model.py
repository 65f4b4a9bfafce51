"""Model files: the same predictions after loading, and nothing loaded from files that are damaged or hostile."""

import functools
import io
import os
import pickle
import zipfile

import numpy as np
import pytest
import skops.io

from factories import SOME
from semisvm import SVM, SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS
from semisvm.tables import InputError
from semisvm.tables.columns import RawColumn, detect_column
from semisvm.tables.delimited import DelimitedTable
from semisvm.tables.features import TableFeatures
from semisvm.tables.model import TableModel, is_known_type, load_model, save_model

X, Y = make_two_gaussians(60, 3, 1.0, random_state=0)
SHOWN = np.array([None if v == -1 else "ab"[v - 1] for v in hide_labels(Y, 20, random_state=0)], dtype=object)
CELLS = {
    "x": [f"{v:.2f}".replace(".", ",") for v in X[:, 0]],
    "z": [f"{v:.2f}" for v in X[:, 1]],
    "color": ["red", "green", "", "blue"] * 15,
    "open": ["true", "false", "false"] * 20,
    "day": [f"{1 + i % 28}.0{1 + i % 9}.2024" for i in range(60)],
    "town": [f"town{i % 45}" for i in range(60)],
    "words": [f"{'good fine' if v == 1 else 'bad poor'} day number {i}" for i, v in enumerate(Y)],
}


def table(path, cells):
    lines = [";".join(cells), *(";".join(row) for row in zip(*cells.values()))]
    path.write_text("\n".join(lines))
    return DelimitedTable.read(path)


def table_model(estimator):
    raws = [RawColumn("text", cells) for cells in CELLS.values()]
    columns = [detect_column(name, raw) for name, raw in zip(CELLS, raws)]
    assert len({column.kind for column in columns}) == 6
    features = TableFeatures(columns)
    matrix = features.fit_transform([column.values(raw) for column, raw in zip(columns, raws)])
    return TableModel("topic", features, estimator.fit(matrix, SHOWN), {"ignored": ["id"]})


@pytest.fixture(scope="module")
def model():
    return table_model(SVM(unlabeled=None))


@pytest.fixture
def path(tmp_path, model):
    path = tmp_path / "rows.model.skops"
    path.write_bytes(save_model(model))
    return path


EVERY = ENSEMBLES | ESTIMATORS | WRAPPERS


@pytest.mark.parametrize(
    "name", [name if name in (*SOME, "SemiSVM") else pytest.param(name, marks=pytest.mark.slow) for name in EVERY]
)
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
def test_loaded_models_predict_the_same(tmp_path, name):
    options = {"unlabeled": None, "max_time": 60.0, "random_state": 0}
    estimator = EVERY[name]()
    estimator.set_params(**{key: value for key, value in options.items() if key in estimator.get_params()})
    fitted = table_model(estimator)
    (tmp_path / "m.skops").write_bytes(save_model(fitted))
    loaded = load_model(tmp_path / "m.skops")
    matrix, notes = loaded.read_features(table(tmp_path / "rows.csv", CELLS), "rows.csv")
    assert notes == []
    np.testing.assert_allclose(loaded.estimator.predict_proba(matrix), fitted.estimator.predict_proba(matrix))
    assert loaded.columns == fitted.columns
    assert loaded.classes == ["a", "b"]


def test_other_tables(tmp_path, path):
    loaded = load_model(path)
    expected, _ = loaded.read_features(table(tmp_path / "rows.csv", CELLS), "rows.csv")
    backwards = dict(reversed(CELLS.items()))
    reordered, notes = loaded.read_features(table(tmp_path / "b.csv", backwards), "b.csv")
    assert abs(reordered - expected).max() == 0
    assert notes == []
    cells = {name: values for name, values in CELLS.items() if name != "day"} | {"id": CELLS["x"], "new": CELLS["x"]}
    cells["z"] = ["much", *cells["z"][1:]]
    _, notes = loaded.read_features(table(tmp_path / "c.csv", cells), "c.csv")
    assert notes == [
        "columns that are not in c.csv count as missing: day",
        "z: 1 cells are no numbers as in the training; taken as missing",
        "columns that the model does not know are not used: new",
    ]
    with pytest.raises(InputError, match=r"has none of the columns of the model, 'x', .*; its columns are 'u', 'v'"):
        loaded.read_features(table(tmp_path / "d.csv", {"u": ["1"], "v": ["2"]}), "d.csv")


def test_damaged_files_are_refused(tmp_path, path):
    data = path.read_bytes()
    rng = np.random.default_rng(0)
    refusals = []
    for i in range(40):
        broken = bytearray(data)
        if i % 2:
            broken = broken[: rng.integers(len(data))]
        else:
            for place in rng.integers(len(data), size=5):
                broken[place] ^= 1 + rng.integers(255)
        path.write_bytes(broken)
        try:
            load_model(path)  # a byte that nobody reads may be any
        except InputError as error:
            refusals.append(str(error))
    assert len(refusals) >= 35
    assert all("write" in refusal for refusal in refusals)


def with_comment(data, comment):
    buffer = io.BytesIO(data)
    with zipfile.ZipFile(buffer, "a") as archive:
        archive.comment = comment
    return buffer.getvalue()


class Hostile:
    def __reduce__(self):
        return os.system, ("touch hostile",)


def test_files_that_are_no_models_are_refused(tmp_path, path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ours = b"semisvm 0.1.0 model 1"
    cases = {
        "is no model file": [b"", b"text", pickle.dumps(Hostile()), skops.io.dumps(SVM())],
        "semisvm 9.9 in another format .7, here 1": [with_comment(path.read_bytes(), b"semisvm 9.9 model 7")],
        "holds no model of a table": [with_comment(skops.io.dumps({"a": 1}), ours)],
        "holds types that no model of semisvm has": [
            with_comment(skops.io.dumps(functools.partial(os.system, "touch hostile")), ours),
            with_comment(skops.io.dumps(Hostile), ours),
        ],
    }
    for message, files in cases.items():
        for data in files:
            path.write_bytes(data)
            with pytest.raises(InputError, match=message):
                load_model(path)
    with pytest.raises(InputError, match="does not exist"):
        load_model(tmp_path / "nowhere.skops")
    assert sorted(file.name for file in tmp_path.iterdir()) == [path.name]


def test_types_of_a_model():
    assert is_known_type("semisvm.ensemble.estimator.SemiSVM")
    assert is_known_type(f"{SemiSVM.__module__}.SemiSVM")
    functions = ["semisvm.cli.main", "semisvm.cli.app.run", "semisvm.tables.model.load_model", "os.system"]
    others = [
        "semisvm.tables.InputError",
        "builtins.eval",
        "semisvm.tables.model.Path",
        "semisvm.nothing.Here",
        "semisvm",
    ]
    assert not any(is_known_type(name) for name in functions + others)
