"""One-vs-rest and one-vs-one: the binary tasks of a problem with k classes.

All tasks share the samples and so the kernel; they differ in signs and in which samples are part of them. With two
classes both schemes are the same single task, whose positive class is the second.

In one-vs-one an unlabeled sample may belong to neither class of a pair. It is part of the pairs of the class that the
supervised one-vs-one model votes for, k - 1 of them: there it can still move to any other class, and it has no
influence on the boundaries between other classes.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..balance import AskedShares
from .ties import merge_ties, merge_zeros

SCHEMES = ("ovr", "ovo")


class BinaryTask(NamedTuple):
    """A binary task.

    Attributes
    ----------
    signs : array of shape (n,)
        +1 and -1 on the labeled samples of the task, 0 elsewhere.
    present : bool array of shape (n,)
        Samples that are part of the task, labeled or not.
    share : float
        Share of positive samples among the unlabeled ones.
    n_labels : float
        Number of labels that, counted, tell the share as surely.
    """

    signs: np.ndarray
    present: np.ndarray
    share: float
    n_labels: float = np.inf


def one_vs_rest(codes: np.ndarray, asked: AskedShares) -> list[BinaryTask]:
    """One task per class, or a single one for two classes; every sample is part of all."""
    shares, n_labels = asked
    present = np.ones(len(codes), dtype=bool)
    positive = [1] if len(shares) == 2 else range(len(shares))
    return [
        BinaryTask(np.where(codes < 0, 0.0, np.where(codes == c, 1.0, -1.0)), present, float(shares[c]), n_labels)
        for c in positive
    ]


def one_vs_one(codes: np.ndarray, asked: AskedShares, guess: np.ndarray | None = None) -> list[BinaryTask]:
    """One task per pair (i, j), i < j, positive for j.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class of each sample, -1 where unknown.
    asked : AskedShares
        Shares of the classes among the unlabeled samples.
    guess : int array of shape (n,), optional
        Class that the supervised model votes for, which says where an unlabeled sample is part; None: everywhere.
    """
    tasks, (shares, n_labels) = [], asked
    for i, j in pairs(len(shares)):
        of_pair = (codes == i) | (codes == j)
        unlabeled = (codes < 0) if guess is None else (codes < 0) & ((guess == i) | (guess == j))
        total = shares[i] + shares[j]
        share = float(shares[j] / total) if total > 0 else 0.5
        signs = np.where(codes == j, 1.0, np.where(codes == i, -1.0, 0.0))
        tasks.append(BinaryTask(signs, of_pair | unlabeled, share, n_labels * total if total > 0 else n_labels))
    return tasks


def pairs(k: int) -> list[tuple[int, int]]:
    """The pairs of k classes in the order of the tasks."""
    return [(i, j) for i in range(k) for j in range(i + 1, k)]


def n_binary_tasks(scheme: str, k: int) -> int:
    """How many binary tasks k classes make."""
    return 1 if k == 2 else k if scheme == "ovr" else len(pairs(k))


def votes(scores: np.ndarray, k: int) -> np.ndarray:
    """The class that wins most pairs; sums of scores, squeezed, break ties, and then the order of the classes."""
    total = np.zeros((len(scores), k))
    scores = merge_zeros(scores, float(np.abs(scores).max(initial=0.0)))
    for column, (i, j) in enumerate(pairs(k)):
        f = scores[:, column]
        won = (f > 0) + f / (1.0 + np.abs(f)) / (3.0 * k)
        total[:, j] += won
        total[:, i] += 1.0 - won
    return merge_ties(total, 1.0).argmax(axis=1)
