"""Splits of random labels: no unlabeled sample is ever held out, every class is trained on, or one sentence."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import LABELS, repeatable

from semisvm.model_selection import LabeledKFold, LabeledShuffleSplit


@st.composite
def random_labels(draw):
    """Labels of some type, and which samples have one."""
    names, marker = LABELS[draw(st.sampled_from(sorted(LABELS)))]
    codes = draw(st.lists(st.integers(-1, 2), min_size=1, max_size=40))
    values = [marker if code < 0 else names[code] for code in codes]
    y = np.array(values, dtype=object) if marker is None else np.array(values)
    return y, np.array([code >= 0 for code in codes])


@st.composite
def split_cases(draw):
    """Labels, a number of folds and whether they are shuffled."""
    return *draw(random_labels()), draw(st.integers(-1, 6)), draw(st.booleans())


SIZES = st.one_of(st.integers(0, 12), st.floats(0.0, 1.0))


@st.composite
def shuffle_cases(draw):
    """Labels, and the sizes of the parts of a random split."""
    return *draw(random_labels()), draw(SIZES), draw(st.one_of(st.none(), SIZES)), draw(st.integers(0, 3))


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
        assert set(y[train][is_labeled[train]].tolist()) == set(y[is_labeled].tolist())
        for name in set(y[is_labeled].tolist()):
            assert abs(np.sum(y[test] == name) - np.sum(y[is_labeled] == name) / n_splits) < 1.0


def sizes_fit(n, n_classes, test_size, train_size):
    """Whether so many labeled samples can be divided so that every class is trained on."""
    sizes = [test_size] if train_size is None else [test_size, train_size]
    if n == 0 or not all(size >= 1 if isinstance(size, int) else 0.0 < size < 1.0 for size in sizes):
        return False
    n_test = test_size if isinstance(test_size, int) else int(np.ceil(test_size * n))
    n_train = n - n_test
    if train_size is not None:
        n_train = train_size if isinstance(train_size, int) else int(train_size * n)
    return n_test + n_train <= n and n_train >= n_classes and n_test <= n - n_classes


def check_random_splits(case):
    y, is_labeled, test_size, train_size, seed = case
    splitter = LabeledShuffleSplit(3, test_size=test_size, train_size=train_size, random_state=seed)
    if not sizes_fit(is_labeled.sum(), len(set(y[is_labeled].tolist())), test_size, train_size):
        with pytest.raises(ValueError, match=r"[a-z].*\.$"):
            list(splitter.split(np.zeros(len(y)), y))
        return
    splits = list(splitter.split(np.zeros(len(y)), y))
    assert len(splits) == splitter.get_n_splits() == 3
    for train, test in splits:
        assert len(test) > 0
        assert is_labeled[test].all()
        assert not set(train) & set(test)
        assert set(np.flatnonzero(~is_labeled)) <= set(train)
        assert set(y[train][is_labeled[train]].tolist()) == set(y[is_labeled].tolist())
        if train_size is None:
            assert len(train) + len(test) == len(y)


@repeatable(100)
@given(shuffle_cases())
def test_random_splits_never_leak_and_train_on_every_class(case):
    check_random_splits(case)


@pytest.mark.slow
@repeatable(1000)
@given(shuffle_cases())
def test_many_random_splits_never_leak_and_train_on_every_class(case):
    check_random_splits(case)


@repeatable(100)
@given(split_cases())
def test_random_folds_hold_out_every_labeled_sample_once(case):
    check_folds(case)


@pytest.mark.slow
@repeatable(1000)
@given(split_cases())
def test_many_random_folds_hold_out_every_labeled_sample_once(case):
    check_folds(case)
