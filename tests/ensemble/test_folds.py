"""Folds of labeled samples: nothing is lost, nothing is held out twice, every class stays in training."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from semisvm.ensemble.folds import N_FOLDS, labeled_folds


@settings(max_examples=200, deadline=None)
@given(
    codes=st.lists(st.integers(-1, 4), min_size=2, max_size=40),
    n_groups=st.integers(1, 40),
    seed=st.integers(0, 1000),
)
def test_every_fold_keeps_every_class_and_holds_samples_out_once(codes, n_groups, seed):
    codes = np.unique(codes, return_inverse=True)[1] - (min(codes) == -1)
    groups = np.where(codes < 0, -1, np.random.default_rng(seed).integers(0, n_groups, len(codes)))
    folds = labeled_folds(codes, groups, np.random.default_rng(seed)) if codes.max() >= 0 else []
    assert len(folds) <= N_FOLDS
    held = np.concatenate(folds) if folds else np.zeros(0, dtype=int)
    assert len(np.unique(held)) == len(held)
    assert np.all(codes[held] >= 0)
    for fold in folds:
        assert len(fold)
        left = np.setdiff1d(np.arange(len(codes)), fold)
        assert set(codes[left]) - {-1} == set(codes) - {-1}
        assert not set(groups[fold]) & set(groups[np.intersect1d(left, np.flatnonzero(codes >= 0))])


@pytest.mark.parametrize("n_classes", [2, 3, 7])
def test_distinct_samples_are_all_held_out_in_folds_of_equal_size(n_classes):
    codes = np.repeat(np.arange(n_classes), 10)
    folds = labeled_folds(codes, np.arange(len(codes)), np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), np.arange(len(codes)))
    assert {len(fold) for fold in folds} == {2 * n_classes}
    for fold in folds:
        np.testing.assert_array_equal(np.bincount(codes[fold]), 2)


def test_a_class_of_one_sample_is_never_held_out():
    codes = np.array([0, 0, 0, 1, -1, 0])
    folds = labeled_folds(codes, np.arange(6), np.random.default_rng(0))
    np.testing.assert_array_equal(np.sort(np.concatenate(folds)), [0, 1, 2, 5])
    assert not labeled_folds(np.array([0, 1, -1]), np.arange(3), np.random.default_rng(0))
