"""One-vs-rest and one-vs-one: the binary tasks of a problem with k classes.

All tasks share the rows and so the kernel; they differ in signs and in which rows take part. With two classes both
schemes are the same single task, whose positive class is the second.

In one-vs-one an unlabeled row may belong to neither class of a pair. It takes part in the pairs of the class that the
supervised one-vs-one machine votes for, k - 1 of them: there it can still move to any other class, and it does not
press on boundaries that have nothing to do with it.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np


class Task(NamedTuple):
    """A binary task.

    Attributes
    ----------
    signs : array of shape (n,)
        +1 and -1 on the labeled rows that take part, 0 elsewhere.
    present : bool array of shape (n,)
        Rows that take part, labeled or not.
    share : float
        Wanted share of positive rows among the unlabeled ones.
    """

    signs: np.ndarray
    present: np.ndarray
    share: float


def one_vs_rest(codes: np.ndarray, shares: np.ndarray, guess: np.ndarray | None = None) -> list[Task]:
    """One task per class, or a single one for two classes; every row takes part."""
    present = np.ones(len(codes), dtype=bool)
    positive = [1] if len(shares) == 2 else range(len(shares))
    return [
        Task(np.where(codes < 0, 0.0, np.where(codes == c, 1.0, -1.0)), present, float(shares[c])) for c in positive
    ]


def one_vs_one(codes: np.ndarray, shares: np.ndarray, guess: np.ndarray | None = None) -> list[Task]:
    """One task per pair (i, j), i < j, positive for j.

    Parameters
    ----------
    codes : int array of shape (n,)
        Class of each row, -1 where unknown.
    shares : array of shape (k,)
        Wanted shares of the classes among the unlabeled rows.
    guess : int array of shape (n,), optional
        Class that the supervised machine votes for, which says where an unlabeled row takes part; None: everywhere.
    """
    tasks = []
    for i, j in pairs(len(shares)):
        own = (codes == i) | (codes == j)
        near = (codes < 0) if guess is None else (codes < 0) & ((guess == i) | (guess == j))
        total = shares[i] + shares[j]
        share = float(shares[j] / total) if total > 0 else 0.5
        tasks.append(Task(np.where(codes == j, 1.0, np.where(codes == i, -1.0, 0.0)), own | near, share))
    return tasks


SCHEMES = {"ovr": one_vs_rest, "ovo": one_vs_one}


def pairs(k: int) -> list[tuple[int, int]]:
    """The pairs of k classes in the order of the tasks."""
    return [(i, j) for i in range(k) for j in range(i + 1, k)]


def votes(scores: np.ndarray, k: int) -> np.ndarray:
    """The class with most won pairs; sums of scores, squeezed, break ties."""
    total = np.zeros((len(scores), k))
    for column, (i, j) in enumerate(pairs(k)):
        f = scores[:, column]
        won = (f > 0) + f / (1.0 + np.abs(f)) / (3.0 * k)
        total[:, j] += won
        total[:, i] += 1.0 - won
    return total.argmax(axis=1)
