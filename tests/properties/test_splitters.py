"""Folds of random labels: every labeled sample is held out once, no unlabeled one ever, or one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import LABELS, repeatable

from semisvm.model_selection import LabeledKFold


@st.composite
def split_cases(draw):
    """Labels of some type, a number of folds and whether they are shuffled."""
    names, marker = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    codes = draw(st.lists(st.integers(-1, 2), min_size=1, max_size=40))
    values = [marker if code < 0 else names[code] for code in codes]
    y = np.array(values, dtype=object) if marker is None else np.array(values)
    return y, np.array([code >= 0 for code in codes]), draw(st.integers(-1, 6)), draw(st.booleans())


def check_folds(case):
    y, is_labeled, n_splits, shuffle = case
    splitter = LabeledKFold(n_splits, shuffle=shuffle, random_state=0)
    counts = [np.sum(y[is_labeled] == name) for name in set(y[is_labeled].tolist())]
    if n_splits < 2 or not counts or min(counts) < n_splits:
        with pytest.raises(ValueError, match=r"[a-z].*\.$"):
            list(splitter.split(np.zeros(len(y)), y))
        return
    folds = list(splitter.split(np.zeros(len(y)), y))
    assert len(folds) == splitter.get_n_splits() == n_splits
    held = np.concatenate([test for _, test in folds])
    np.testing.assert_array_equal(np.sort(held), np.flatnonzero(is_labeled))
    for train, test in folds:
        np.testing.assert_array_equal(np.sort(np.r_[train, test]), np.arange(len(y)))
        for name in set(y[is_labeled].tolist()):
            assert abs(np.sum(y[test] == name) - np.sum(y[is_labeled] == name) / n_splits) < 1.0


@repeatable(100)
@given(split_cases())
def test_random_folds_hold_out_every_labeled_sample_once(case):
    check_folds(case)


@pytest.mark.slow
@repeatable(1000)
@given(split_cases())
def test_many_random_folds_hold_out_every_labeled_sample_once(case):
    check_folds(case)
