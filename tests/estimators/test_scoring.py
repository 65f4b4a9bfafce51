"""``score`` is the accuracy on the labeled samples."""

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import cross_val_score

from factories import make_estimator, two_gaussians
from semisvm import SVM
from semisvm.self_training import WRAPPERS

LABELS = {
    "-1": (-1, lambda y: y),
    "zero": (0, lambda y: np.where(y == -1, 0, y)),
    "text": (-1, lambda y: np.array(["", "?", "a", "b"], dtype=object)[np.where(y == -1, 0, y + 1)]),
    "nullable": (-1, lambda y: pd.Series([None if v == -1 else int(v) for v in y], dtype="Int64")),
}


@pytest.mark.parametrize("name", ["SVM", "CCCPTSVM", "LocalSearchRLSC", *WRAPPERS])
@pytest.mark.parametrize("case", LABELS)
def test_unlabeled_samples_are_skipped(name, case):
    marker, encode = LABELS[case]
    X, y = two_gaussians()
    given = encode(y)
    fitted = make_estimator(name, unlabeled=marker).fit(X, given)
    known = y != -1
    correct = fitted.predict(X)[known] == np.asarray(given)[known]
    assert fitted.score(X, given) == correct.mean()
    weights = np.arange(len(y)) + 1.0
    assert fitted.score(X, given, sample_weight=weights) == pytest.approx(np.average(correct, weights=weights[known]))


def test_default_scoring_of_scikit_learn_counts_labeled_samples_alone():
    X, y = two_gaussians(shift=3.0)
    np.testing.assert_array_equal(cross_val_score(make_estimator("CCCPTSVM"), X, y, cv=2), [1.0, 1.0])


def test_a_score_without_a_true_label_is_refused():
    X, y = two_gaussians()
    fitted = SVM().fit(X, y)
    with pytest.raises(ValueError, match="no labeled sample"):
        fitted.score(X, np.full(len(y), -1))
    with pytest.raises(ValueError, match="one label per sample"):
        fitted.score(X, y[1:])
