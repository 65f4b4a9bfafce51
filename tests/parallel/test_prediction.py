"""Predictions block by block are those of the model; labels of a fit come back in the order of the samples."""

import numpy as np
import pytest
from scipy import sparse

from parallel.data import gaussians, mapped, sparse_samples, three_classes
from semisvm import SVM, MultiSwitchTSVM, SelfTraining, parallel

da = pytest.importorskip("dask.array")
dd = pytest.importorskip("dask.dataframe")


def tables(X, folder):
    import pandas as pd

    array = da.from_array(X, chunks=(170, 3))
    return [X, mapped(folder, X), array, dd.from_pandas(pd.DataFrame(X), npartitions=4).to_dask_array()]


@pytest.mark.parametrize("data", [gaussians, three_classes])
def test_every_method_block_by_block(data, tmp_path):
    X, y = data()
    model = MultiSwitchTSVM(kernel="linear").fit(X, y)
    for table in tables(X, tmp_path):
        for method in ("predict", "decision_function", "predict_proba"):
            found = getattr(parallel, method)(model, table)
            expected = getattr(model, method)(X)
            assert found.dtype == expected.dtype
            if expected.dtype.kind == "f":
                np.testing.assert_allclose(found.compute(), expected, rtol=1e-9, atol=1e-12)
            else:
                np.testing.assert_array_equal(found.compute(), expected)
        np.testing.assert_array_equal(parallel.transduce(model, table).compute(), model.transduction_)


def test_sparse_samples_kernels_and_other_estimators():
    X, y = sparse_samples()
    blocks = da.from_array(X.toarray(), chunks=(250, -1)).map_blocks(sparse.csr_array)
    for model in (SVM(gamma=0.5), SelfTraining(SVM(kernel="linear")), SVM(multiclass="ovo")):
        model.fit(X, y)
        np.testing.assert_array_equal(parallel.predict(model, blocks).compute(), model.predict(X))


def test_prediction_does_not_calibrate(monkeypatch):
    X, y = gaussians()
    model = MultiSwitchTSVM(kernel="linear").fit(X, y)
    monkeypatch.setattr("semisvm.estimators._calibration.LazySlope.compute", lambda self: 1 / 0)
    np.testing.assert_array_equal(parallel.predict(model, X).compute(), model.predict(X))


def test_names_of_a_frame_are_those_of_the_fit():
    import pandas as pd

    X, y = gaussians()
    frame = pd.DataFrame(X, columns=list("abcdefgh"))
    model = parallel.fit(MultiSwitchTSVM(kernel="linear"), dd.from_pandas(frame, npartitions=3), y)
    np.testing.assert_array_equal(
        parallel.predict(model, dd.from_pandas(frame, npartitions=2)).compute(), model.predict(frame)
    )
    with pytest.raises(ValueError, match="feature names should match"):
        parallel.predict(model, dd.from_pandas(frame.rename(columns={"a": "z"}), npartitions=2)).compute()


def test_hashed_text_is_fitted_and_predicted():
    import pandas as pd

    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 400)
    words = np.array([["dull", "poor", "flat"], ["bright", "rich", "deep"]])
    texts = [" ".join(["film", *words[c, rng.integers(0, 3, 4)]]) for c in y]
    texts[7] = None
    series = dd.from_pandas(pd.Series(texts), npartitions=3)
    X = parallel.hash_text(series, n_features=512, ngram_range=(1, 2))
    partial = np.where(np.arange(400) < 40, y, -1)
    model = parallel.fit(MultiSwitchTSVM(kernel="linear"), X, partial)
    assert np.mean(parallel.predict(model, X).compute() != y) < 0.02
    with pytest.raises(ValueError, match="allowed are a dask Series"):
        parallel.hash_text(pd.DataFrame({"text": texts}))
