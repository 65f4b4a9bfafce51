"""scikit-learn's own checks."""

import pytest
from sklearn.utils.estimator_checks import parametrize_with_checks

from factories import SOME
from semisvm import SVM
from semisvm.estimators import ESTIMATORS

EXPECTED = {
    "check_classifiers_classes": "it trains on y of -1 and 1 without saying that -1 is a class; -1 marks unlabeled "
    "samples, as in scikit-learn's own semi-supervised estimators"
}
CHECKED = [*SOME, "S3VM"]  # SOME, and with losses as parameters
OTHERS = [cls() for name, cls in ESTIMATORS.items() if name not in CHECKED] + [SVM(loss="squared_hinge")]


@parametrize_with_checks([ESTIMATORS[name]() for name in CHECKED], expected_failed_checks=lambda _: EXPECTED)
def test_one_estimator_per_code_path(estimator, check):
    check(estimator)


@pytest.mark.slow
@parametrize_with_checks(OTHERS, expected_failed_checks=lambda _: EXPECTED)
def test_all_other_estimators(estimator, check):
    check(estimator)
