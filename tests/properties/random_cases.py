"""Random input of every kind that a user may bring, drawn by hypothesis."""

import tempfile
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from hypothesis import HealthCheck, settings
from hypothesis import strategies as st
from scipy import sparse

from semisvm.self_training import WRAPPERS
from semisvm.spaces import KERNELS

FEW, TWO_OR_THREE = st.integers(4, 24), st.integers(2, 3)
LABELS = {
    "integers": ([3, 7, 11], -1),
    "text": (["a", "b", "c"], ""),
    "floats": ([1.0, 2.0, 4.0], np.nan),
    "objects": (["one", "two", "three"], None),
    "signs": ([0, 1, 2], None),
    "truth": ([False, True, True], None),
}


def repeatable(n_examples):
    """Hypothesis without a clock, a database and random seeds."""
    return settings(
        max_examples=n_examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


def memory_mapped(X):
    """X in a file that may be read only."""
    with tempfile.NamedTemporaryFile(suffix=".npy") as file:
        np.save(file, X)
        file.flush()
        return np.load(file.name, mmap_mode="r")


def read_only(X):
    """X that may not be written."""
    X = X.copy()
    X.flags.writeable = False
    return X


def with_explicit_zeros(X):
    """X as CSR in which every value is stored."""
    n, d = X.shape
    return sparse.csr_matrix((X.ravel(), np.tile(np.arange(d), n), d * np.arange(n + 1)), shape=X.shape)


def with_wide_indices(X):
    """X as CSR with indices of 64 bits."""
    X = sparse.csr_array(X)
    X.indices, X.indptr = X.indices.astype(np.int64), X.indptr.astype(np.int64)
    return X


def unsorted(X):
    """X as CSR whose rows name their columns from last to first."""
    X = sparse.csr_matrix(X[:, ::-1])
    return sparse.csr_matrix((X.data, X.shape[1] - 1 - X.indices, X.indptr), shape=X.shape)


def in_two_parts(X):
    """X as COO that names every cell twice, with a half of its value."""
    part = sparse.coo_matrix(X)
    twice = (np.r_[part.row, part.row], np.r_[part.col, part.col])
    return sparse.coo_matrix((np.r_[part.data, part.data] / 2.0, twice), shape=X.shape)


CONTAINERS = {
    "dense": np.array,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "read only": read_only,
    "memory-mapped": memory_mapped,
    "list": lambda X: X.tolist(),
    "data frame": lambda X: pd.DataFrame(X, columns=[f"x{i}" for i in range(X.shape[1])]),
    "float32": lambda X: X.astype(np.float32),
    "float16": lambda X: np.clip(X, -6e4, 6e4).astype(np.float16),
    "integers": lambda X: np.clip(np.round(X), -1e15, 1e15).astype(np.int64),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo in two parts": in_two_parts,
    "csr with zeros": with_explicit_zeros,
    "csr of 64-bit indices": with_wide_indices,
    "csr unsorted": unsorted,
}


def contents(given):
    """The bytes behind X, to see that they do not change."""
    if sparse.issparse(given):
        names = ("data", "row", "col") if given.format == "coo" else ("data", "indices", "indptr")
        return b"".join(getattr(given, name).tobytes() for name in names)
    return np.asarray(given).tobytes()


@dataclass
class Case:
    """An estimator with its parameters, and what it is fitted on: classes of the samples, and which are given."""

    name: str
    params: dict[str, Any]
    X: np.ndarray
    container: str
    names: list
    marker: Any
    classes: np.ndarray
    is_given: np.ndarray
    weights: np.ndarray | None

    @property
    def y(self):
        """The labels as a user writes them."""
        values = [self.names[c] if known else self.marker for c, known in zip(self.classes, self.is_given)]
        return np.array(values, dtype=object) if self.marker is None else np.array(values)


def distort(draw, X):
    """X with repeated, constant or collinear features or samples, or as it is."""
    n = len(X)
    match draw(st.sampled_from(["as drawn", "repeated", "constant", "collinear", "zeros", "equal", "whole numbers"])):
        case "repeated":
            X[n // 2 :] = X[: n - n // 2]
        case "constant":
            X[:, 0] = 1.0
        case "collinear":
            X[:, -1] = 2.0 * X[:, 0]
        case "zeros":
            X[np.abs(X) < 1.0] = 0.0
        case "equal":
            X[:] = X[0]
        case "whole numbers":
            X = np.round(3.0 * X)
    return X


@st.composite
def samples(draw, n_samples, n_classes):
    """Samples of a few clusters over 24 orders of magnitude, and their classes: equal in number or almost all one."""
    n, d = draw(n_samples), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    k = draw(n_classes)
    classes = np.arange(n) % k
    if draw(st.sampled_from([False, False, True])):
        classes[k:] = 0
    X = rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 1.0, 4.0])) * rng.standard_normal((k, d))[classes]
    X = distort(draw, X)
    scale, offset = 10.0 ** draw(st.integers(-12, 12)), draw(st.sampled_from([0.0, 0.0, 1.0, 1e3, 1e8]))
    return scale * (X + offset), classes


@st.composite
def parameters(draw):
    """Costs over 24 orders of magnitude, widths over 24, and what classes, balance and intercept may be."""
    power = st.integers(-12, 12).map(lambda power: 10.0**power)
    kernel = draw(st.sampled_from(["linear", "rbf", *KERNELS]))
    return {
        "C": draw(st.one_of(st.just("auto"), power)),
        "C_unlabeled": draw(st.one_of(st.none(), st.none(), power)),
        "kernel": kernel,
        "coef0": 1.0 if kernel == "inverse_multiquadric" else draw(st.sampled_from([0.0, 1.0])),
        "gamma": draw(st.one_of(st.just("median"), st.just("scale"), power)),
        "fit_intercept": kernel == "multiquadric" or draw(st.sampled_from([True, False, "regularized"])),
        "multiclass": draw(st.sampled_from(["ovr", "ovo"])),
        "balance": draw(st.sampled_from(["auto", "labeled", None, 0.5])),
        "safe": draw(st.sampled_from([False, False, True])),
        "approximation": draw(st.sampled_from(["auto", "auto", None, "nystroem"])),
    }


@st.composite
def cases(draw, estimators, n_samples=FEW, n_classes=TWO_OR_THREE):
    """An estimator on samples in some container, with labels of some type of which most are hidden, and weights."""
    X, classes = draw(samples(n_samples, n_classes))
    n, k = len(X), classes.max() + 1
    names, marker = LABELS[draw(st.sampled_from(sorted(LABELS)))] if k <= 3 else ([f"c{c:03d}" for c in range(k)], None)
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    is_given = rng.random(n) >= draw(st.sampled_from([0.0, 0.5, 0.9, 1.0]))
    is_given[:k] = True
    weights = rng.uniform(0.1, 3.0, n)
    match draw(st.sampled_from(["none", "random", "some zero"])):
        case "none":
            weights = None
        case "some zero":
            weights[k:][rng.random(n - k) < 0.2] = 0.0
    params = draw(parameters())
    if k != 2 and isinstance(params["balance"], float):
        params["balance"] = None
    name = draw(st.sampled_from(estimators))
    if k > 20 or name in WRAPPERS:  # which do not take pairs; those of many classes are thousands
        params["multiclass"] = "ovr"
    container = draw(st.sampled_from(sorted(CONTAINERS)))
    return Case(name, params, X, container, list(names), marker, classes, is_given, weights)
