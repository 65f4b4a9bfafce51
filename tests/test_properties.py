"""Random estimators on random input: a right answer, or one sentence that says what is wrong.

An answer is right if it is finite, if its status says no more than its certificate, if given labels stay and if the
input is unchanged.
"""

import warnings

import numpy as np
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from scipy import sparse

from factories import make_estimator
from semisvm.estimators import ESTIMATORS

SLOW = ("GeneticTSVM", "MixedIntegerTSVM", "BranchBoundTSVM", "SDPTSVM")  # searches of seconds
FAST = [name for name in ESTIMATORS if name not in SLOW]
KERNELS = ["linear", "rbf", "poly", "laplacian"]
CONTAINERS = {
    "dense": lambda X: X,
    "fortran": np.asfortranarray,
    "strided": lambda X: np.repeat(X, 2, axis=0)[::2],
    "list": lambda X: X.tolist(),
    "float32": lambda X: X.astype(np.float32),
    "csr": sparse.csr_matrix,
    "csc": sparse.csc_array,
    "coo": sparse.coo_array,
}
LABELS = {"ints": [3, 7, 11], "text": ["a", "b", "c"], "floats": [0.5, 1.5, 2.5]}


def repeatable(n_examples):
    """Hypothesis without a clock, a database and random seeds."""
    return settings(
        max_examples=n_examples,
        derandomize=True,
        deadline=None,
        database=None,
        suppress_health_check=list(HealthCheck),
    )


@st.composite
def samples(draw):
    """A few clusters, scaled and shifted, some with repeated, constant or collinear features or samples."""
    n, d = draw(st.integers(4, 24)), draw(st.integers(1, 6))
    rng = np.random.default_rng(draw(st.integers(0, 2**16)))
    k = draw(st.integers(2, 3))
    classes = np.arange(n) % k
    X = rng.standard_normal((n, d)) + draw(st.sampled_from([0.0, 1.0, 4.0])) * rng.standard_normal((k, d))[classes]
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
    scale, offset = 10.0 ** draw(st.integers(-12, 12)), draw(st.sampled_from([0.0, 0.0, 1.0, 1e3, 1e8]))
    return scale * (X + offset), classes


@st.composite
def labels(draw, classes):
    """Labels of one type, all classes among them; most are hidden."""
    names = draw(st.sampled_from(sorted(LABELS)))
    y = np.array([LABELS[names][c] for c in classes], dtype=object)
    hidden = np.random.default_rng(draw(st.integers(0, 2**16))).random(len(y)) < draw(st.sampled_from([0.0, 0.5, 0.9]))
    hidden[: len(np.unique(classes))] = False
    y[hidden] = None
    return y


@st.composite
def parameters(draw):
    """Costs over 24 orders of magnitude, widths over 12, and what classes, balance and intercept may be."""
    return {
        "C": draw(st.one_of(st.just("auto"), st.integers(-12, 12).map(lambda power: 10.0**power))),
        "kernel": draw(st.sampled_from(KERNELS)),
        "gamma": draw(st.one_of(st.just("median"), st.integers(-6, 6).map(lambda power: 10.0**power))),
        "fit_intercept": draw(st.sampled_from([True, False, "regularized"])),
        "multiclass": draw(st.sampled_from(["ovr", "ovo"])),
        "balance": draw(st.sampled_from(["labeled", None])),
    }


@st.composite
def cases(draw, names):
    """An estimator, its parameters, samples in some container, labels and weights."""
    X, classes = draw(samples())
    weights = draw(st.sampled_from(["none", "random", "some zero"]))
    rng = np.random.default_rng(len(X))
    w = None if weights == "none" else rng.uniform(0.1, 3.0, len(X))
    if weights == "some zero":
        w[rng.random(len(w)) < 0.2] = 0.0
    container = draw(st.sampled_from(sorted(CONTAINERS)))
    return draw(st.sampled_from(names)), draw(parameters()), X, container, draw(labels(classes)), w


def assert_right_or_refused(case):
    name, params, X, container, y, w = case
    given, untouched = CONTAINERS[container](X), X.copy()
    estimator = make_estimator(name, **params, max_iter=200, n_init=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        try:
            fitted = estimator.fit(given, y, sample_weight=w)
        except (ValueError, TypeError, MemoryError) as error:
            text = str(error)
            assert len(text) > 20, text
            assert text.rstrip().endswith((".", ")", "!")), text
            return
        scores = fitted.decision_function(given)
    assert np.isfinite(scores).all()
    assert np.isfinite(fitted.objective_).all()
    is_given = np.array([label is not None for label in y])
    assert set(fitted.transduction_[~is_given]) <= set(fitted.classes_)
    assert (fitted.transduction_[is_given] == y[is_given]).all()
    certificates = fitted.certificate_ if isinstance(fitted.certificate_, list) else [fitted.certificate_]
    assert not fitted.converged_ or all(one.within_tol for one in certificates)
    if isinstance(given, np.ndarray):
        np.testing.assert_array_equal(given.astype(float), CONTAINERS[container](untouched).astype(float))


@repeatable(150)
@given(cases(FAST))
def test_random_cases_are_right_or_refused(case):
    assert_right_or_refused(case)
