"""Splits from tables of indices."""

import numpy as np
import pytest

from semisvm.datasets.splits import build_splits


def build(n_samples=6, first=0, **arrays):
    return build_splits({name: np.array(value) for name, value in arrays.items()}, n_samples, first, "the file")


def as_lists(splits):
    return [tuple(part.tolist() for part in split) for split in splits]


def test_labeled_and_unlabeled_samples():
    found = build(idx_labs=[[0, 1], [4, 2]], idx_unls=[[5, 2], [0, 1]])
    assert as_lists(found) == [([0, 1], [5, 2], [5, 2]), ([4, 2], [0, 1], [0, 1])]


def test_test_samples_of_their_own():
    assert as_lists(build(idx_labs=[0], idx_unls=[1, 2], idx_test=[4, 3])) == [([0], [1, 2], [4, 3])]


def test_training_and_test_samples():
    assert as_lists(build(idx_train=[0, 2], idx_test=[1])) == [([0, 2], [], [1])]
    assert as_lists(build(idx_train=[[0, 2]], idx_test=[[1]], idx_unls=[[5]])) == [([0, 2], [5], [1])]


def test_tables_that_are_missing_are_all_other_samples():
    assert as_lists(build(idx_labs=[[5, 1], [0, 2]])) == [
        ([5, 1], [0, 2, 3, 4], [0, 2, 3, 4]),
        ([0, 2], [1, 3, 4, 5], [1, 3, 4, 5]),
    ]
    assert as_lists(build(idx_train=[3, 0], idx_unls=[1])) == [([3, 0], [1], [2, 4, 5])]


def test_names_of_matlab_and_indices_from_one():
    assert as_lists(build(first=1, idxLabs=[[1.0, 6.0]], idxUnls=[[2.0, 3.0]])) == [([0, 5], [1, 2], [1, 2])]


def test_published_tables_are_preferred_to_generated_ones():
    assert as_lists(build(gen_idx_labs=[0], idx_unls=[1])) == [([0], [1], [1])]
    for tables in ({"idx_labs": [2], "gen_idx_labs": [0]}, {"gen_idx_labs": [0], "idx_labs": [2]}):
        assert as_lists(build(**tables))[0][0] == [2]


def test_other_arrays_are_no_splits():
    assert build(X=np.eye(6), y=[1, 2], vocab="a") == []


@pytest.mark.parametrize(
    ("index", "first", "allowed"),
    [(6, 0, "0 to 5"), (-1, 0, "0 to 5"), (0, 1, "1 to 6"), (7, 1, "1 to 6"), (1.5, 0, "0")],
)
def test_indices_out_of_range_are_refused(index, first, allowed):
    with pytest.raises(ValueError, match=rf"the file has the index {index} in idx_labs; 6 samples allow .*{allowed}"):
        build(first=first, idx_labs=[[2, index]])


def test_tables_that_do_not_fit_are_refused():
    with pytest.raises(ValueError, match="different numbers of splits"):
        build(idx_labs=[[0], [1]], idx_unls=[[2, 3]])
    with pytest.raises(ValueError, match="no labeled samples; add idx_labs or idx_train"):
        build(idx_unls=[[2, 3]])
    with pytest.raises(ValueError, match="the file names a sample twice in a split"):
        build(idx_labs=[[0, 1], [2, 2]])
