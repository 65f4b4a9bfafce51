"""Independent fits on a cluster, by joblib's Dask backend."""

import joblib
import numpy as np
import pytest
from sklearn.model_selection import GridSearchCV

from parallel.data import gaussians
from semisvm import MultiSwitchTSVM
from semisvm.bench import PROTOCOLS, DataFolder, Setup, run_protocol
from semisvm.model_selection import LabeledKFold, make_labeled_scorer

distributed = pytest.importorskip("distributed")


def test_grid_search_and_tables_of_papers_on_a_cluster(client, tmp_path):
    X, y = gaussians()
    search = GridSearchCV(
        MultiSwitchTSVM(kernel="linear"), {"C": [0.01, 1.0]}, cv=LabeledKFold(2), scoring=make_labeled_scorer()
    )
    expected = search.fit(X, y).cv_results_["mean_test_score"]
    with joblib.parallel_config("dask", n_jobs=2):
        np.testing.assert_allclose(search.fit(X, y).cv_results_["mean_test_score"], expected)
    protocol, setup = PROTOCOLS["shim-4.1"], Setup(DataFolder(None), True)
    plain = run_protocol(protocol, setup, tmp_path / "plain.jsonl", draws=1)
    with joblib.parallel_config("dask", n_jobs=2):
        found = run_protocol(protocol, setup, tmp_path / "dask.jsonl", draws=1)
    assert [result.key for result in found.results] == [result.key for result in plain.results]
    assert [result.value for result in found.results] == [result.value for result in plain.results]
    assert not any(result.failure for result in found.results)
