"""Independent fits on a cluster are those of this process."""

import importlib
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LogisticRegression

from parallel.data import KillsItsWorkerOnce, gaussians, mapped, sparse_samples, three_classes
from semisvm import CCCPTSVM, LocalSearchRLSC, MultiSwitchTSVM, SelfTraining, parallel
from semisvm.parallel import execution

da = pytest.importorskip("dask.array")


def same_models(found, expected, X):
    for one, other in zip(found, expected, strict=True):
        assert type(one) is type(other)
        np.testing.assert_allclose(one.predict_proba(X), other.predict_proba(X), atol=1e-9)


def test_candidates_are_fitted_as_here_and_stay_as_they_were(client, tmp_path):
    X, y = gaussians(300)
    candidates = [
        *(LocalSearchRLSC(n_init=1, random_state=k) for k in range(3)),
        CCCPTSVM(0.1),
        SelfTraining(),
    ]
    expected = [type(one)(**one.get_params(deep=False)).fit(X, y) for one in candidates]
    tables = {
        "array": X,
        "file": mapped(tmp_path, X),
        "file by columns": mapped(tmp_path, np.asfortranarray(X), "F.npy"),
        "dask": da.from_array(X, chunks=(100, -1)),
        "threads": X,
    }
    for name, table in tables.items():
        found = parallel.fit_each(candidates, table, y, client="threads" if name == "threads" else client)
        same_models(found, expected, X)
    assert not any(hasattr(one, "classes_") for one in candidates)


def test_weights_sparse_samples_and_names_of_classes(client):
    X, y = sparse_samples(300)
    weights = np.where(np.arange(300) % 3, 1.0, 2.0)
    models = [MultiSwitchTSVM(kernel="linear"), MultiSwitchTSVM(0.1, kernel="linear")]
    found = parallel.fit_each(models, X, y, weights, client=client)
    same_models(found, [type(m)(m.C, kernel="linear").fit(X, y, sample_weight=weights) for m in models], X)
    X, y = three_classes(200)
    same_models(parallel.fit_each([CCCPTSVM()], X, y, client=client), [CCCPTSVM().fit(X, y)], X)
    assert parallel.fit_each([], X, y, client=client) == []


def test_a_refused_fit_is_named_and_not_tried_again(client):
    X, y = gaussians(100)
    with pytest.raises(ValueError, match="C=-1") as refused:
        parallel.fit_each([CCCPTSVM(), CCCPTSVM(-1.0)], X, y, client=client)
    assert refused.value.__notes__ == ["raised by the fit of the estimator at position 1."]
    with pytest.raises(ValueError, match="takes a distributed"):
        parallel.fit_each([CCCPTSVM()], X, y, client="tcp://somewhere")
    with pytest.raises(TypeError, match=r"a list of estimators, and CCCPTSVM is none; put it into \[...\]"):
        parallel.fit_each(CCCPTSVM(), X, y)


def test_warnings_come_back(client):
    X, y = gaussians(100)
    with pytest.warns(ConvergenceWarning, match="max_iter"):
        parallel.fit_each([LogisticRegression(max_iter=1)], X, np.arange(100) % 2, client=client)
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        parallel.fit_each([CCCPTSVM()], X, y, client=client)


def test_a_lost_worker_costs_its_fits_alone(client, tmp_path):
    X, y = gaussians(200)
    models = [KillsItsWorkerOnce(str(tmp_path / "mark")), *(CCCPTSVM(C) for C in (0.1, 1.0, 10.0))]
    found = parallel.fit_each(models, X, y, client=client)
    assert found[0].total_ == X.sum() + y.sum()
    same_models(found[1:], [CCCPTSVM(C).fit(X, y) for C in (0.1, 1.0, 10.0)], X)
    client.wait_for_workers(2, timeout=30)


def test_what_workers_cannot_import_is_named(client, tmp_path, monkeypatch):
    X, y = gaussians(100)
    (tmp_path / "only_here.py").write_text("from semisvm import SVM\n\n\nclass Mine(SVM):\n    pass\n")
    monkeypatch.syspath_prepend(tmp_path)
    mine = importlib.import_module("only_here").Mine()
    with pytest.raises(ModuleNotFoundError, match="only_here"):
        parallel.fit_each([mine], X, y, client=client)
    assert len(client.nthreads()) == 2
    monkeypatch.setattr(execution, "__version__", "9.9")
    with pytest.raises(execution.ClusterFailure, match=r"has semisvm .*; here it is 9.9. Install .*\(2 of 2 differ\)"):
        parallel.fit_each([CCCPTSVM()], X, y, client=client)
    with pytest.raises(execution.ClusterFailure, match=r"here it is 9\.9"):
        parallel.predict(mine.fit(X, y), X)
