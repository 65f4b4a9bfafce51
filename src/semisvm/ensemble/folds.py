"""Folds of a handful of labeled samples, none of which takes all samples of a class."""

from __future__ import annotations

import numpy as np

N_FOLDS = 5


def labeled_folds(codes: np.ndarray, groups: np.ndarray, rng: np.random.Generator) -> list[np.ndarray]:
    """Samples that are held out together, fold by fold; those of a class that has a single group in none.

    Classes are dealt to the folds one after the other, each in a random order, so that folds are of equal size and hold
    as many of each class as possible.

    Parameters
    ----------
    codes : int array of shape (n,)
        Positions of the classes, -1 for samples without a label.
    groups : int array of shape (n,)
        Samples of a group, equal ones, are held out together.
    rng : Generator
        For the order.
    """
    fold_of: dict[int, int] = {}
    position = 0
    for code in rng.permutation(codes.max() + 1):
        members = np.unique(groups[codes == code])
        if len(members) < 2:
            continue
        for group in rng.permutation(members):
            if int(group) not in fold_of:
                fold_of[int(group)] = position % N_FOLDS
                position += 1
    return _without_lost_classes(codes, groups, fold_of)


def _without_lost_classes(codes: np.ndarray, groups: np.ndarray, fold_of: dict[int, int]) -> list[np.ndarray]:
    """The folds as samples; a class that would be held out whole keeps its first group in training."""
    folds = []
    for fold in range(N_FOLDS):
        held = np.array([codes[i] >= 0 and fold_of.get(int(groups[i]), -1) == fold for i in range(len(codes))])
        for code in range(codes.max() + 1):
            of_class = codes == code
            if not (of_class & ~held).any():
                held &= groups != groups[np.flatnonzero(of_class)[0]]
        if held.any():
            folds.append(np.flatnonzero(held))
    return folds
