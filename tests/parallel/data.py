"""Samples for the tests of blocks, and what workers import."""

import os
import signal

import numpy as np
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin

from semisvm.datasets import hide_labels, make_two_gaussians

N = 900


def gaussians(n=N, d=8, labeled=40, seed=0):
    X, y = make_two_gaussians(n, d, random_state=seed)
    return X, hide_labels(y, labeled, random_state=seed)


def three_classes(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    X = rng.normal(size=(n, 5)) + 1.5 * np.eye(5)[y]
    names = np.array(["ape", "bee", "cat"], dtype=object)[y]
    names[rng.permutation(n)[60:]] = None
    return X, names


def sparse_samples(n=N, d=300, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 2, n)
    X = sparse.random_array((n, d), density=0.03, rng=rng, format="csr")
    X = sparse.csr_array(
        X + sparse.csr_array((np.ones(n), (np.arange(n), y + 2 * rng.integers(0, 5, n))), shape=(n, d))
    )
    partial = np.full(n, -1)
    partial[:60] = y[:60]
    return X, partial


def mapped(folder, X, name="X.npy"):
    """The samples as a file that is mapped into memory."""
    np.save(folder / name, X)
    return np.load(folder / name, mmap_mode="r")


class KillsItsWorkerOnce(ClassifierMixin, BaseEstimator):
    """An estimator at whose first fit the worker is lost."""

    def __init__(self, mark=None):
        self.mark = mark

    def fit(self, X, y):
        if not os.path.exists(self.mark):
            open(self.mark, "w").close()
            os.kill(os.getpid(), signal.SIGKILL)
        self.total_ = X.sum() + y.sum()
        return self
