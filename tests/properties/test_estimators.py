"""Random estimators on random input: a right answer, or one sentence that says what is wrong.

An answer is right if it is finite, if its objective is that of the problem, its status no better than its certificate
and its bound no higher than its objective, if given labels stay and if the input is unchanged.
"""

import warnings

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from random_cases import CONTAINERS, cases, contents, repeatable
from scipy import sparse

from factories import SEMI_SUPERVISED, make_estimator, problems_of_codes
from semisvm.estimators import ESTIMATORS
from semisvm.estimators.base import settings_of
from semisvm.problem import objective_of_scores
from semisvm.self_training import WRAPPERS
from semisvm.spaces import Gram

SEARCHES = ["GeneticTSVM", "MixedIntegerTSVM", "BranchBoundTSVM", "SDPTSVM"]  # of tenths of a second and more
QUICK = [name for name in ESTIMATORS if name not in SEARCHES]


def fit_or_refuse(case):
    """The fitted estimator and X as it was given; None where the fit is refused in a sentence."""
    X = CONTAINERS[case.container](case.X)
    before = contents(X)
    estimator = make_estimator(case.name, **case.params, max_iter=200, n_init=2, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        warnings.simplefilter("error", RuntimeWarning)
        refusal, fitted = None, None
        try:
            fitted = estimator.fit(X, case.y, sample_weight=case.weights)
        except (ValueError, TypeError) as error:
            refusal = error
    if refusal is not None:
        assert type(refusal) in (ValueError, TypeError), f"from the depths: {refusal!r}"
        assert len(str(refusal)) > 20, refusal
        assert str(refusal).rstrip().endswith((".", ")", "!", "?")), refusal
    assert contents(X) == before
    return fitted, X


def assert_right_or_refused(case):
    fitted, X = fit_or_refuse(case)
    if fitted is None:
        return
    scores = fitted.decision_function(X)
    assert np.isfinite(scores).all()
    assert set(fitted.predict(X)) <= set(fitted.classes_)
    given = case.is_given
    assert set(fitted.transduction_[~given]) <= set(fitted.classes_)
    assert (fitted.transduction_[given] == case.y[given]).all()
    if case.name in WRAPPERS:
        return
    assert np.isfinite(fitted.objective_).all()
    certificates = fitted.certificate_ if isinstance(fitted.certificate_, list) else [fitted.certificate_]
    assert not fitted.converged_ or all(one.within_tol for one in certificates)
    for one, objective in zip(certificates, np.atleast_1d(fitted.objective_)):
        assert one.lower_bound is None or one.lower_bound <= objective + 1e-6 * abs(objective)
    norm = settings_of(fitted).formulation.norm
    if (scores.ndim == 1 or fitted.multiclass == "ovr") and (norm == 2 or hasattr(fitted, "coef_")):
        assert_objectives_are_recomputed(fitted, case, X, fitted._checked_scores(X))  # before ties are merged


def assert_objectives_are_recomputed(fitted, case, X, scores):
    """Every objective is that of its problem at the scores and the coefficients, up to the rounding of the scores.

    A search over labels reports the objective at its labels, which the unlabeled loss bounds from below.
    """
    X = X.toarray() if sparse.issparse(X) else np.asarray(X)
    X = X if X.dtype == np.float32 else X.astype(float)
    kept = np.ones(len(X), dtype=bool) if case.weights is None else case.weights > 0
    kept &= case.is_given | (case.name in SEMI_SUPERVISED)
    codes = np.full(len(X), -1)
    codes[case.is_given] = np.searchsorted(fitted.classes_, case.y[case.is_given].astype(fitted.classes_.dtype))
    weights = np.ones(len(X)) if case.weights is None else case.weights
    problems, _ = problems_of_codes(fitted, X[kept], codes[kept], weights[kept])
    for task, problem in enumerate(problems):
        size, size_error, error = size_and_rounding(fitted, task, X[kept])
        f, b = scores[kept, task], fitted.intercept_[task]
        least = objective_of_scores(problem, size, f, b)
        reported = np.atleast_1d(fitted.objective_)[task]
        rounding = 1e-6 * abs(reported) + size_error + problem.cost @ (error * (2.0 + 2.0 * np.abs(f) + error))
        assert reported >= least - rounding
        if len(problems) == 1:
            found = np.where(fitted.transduction_[kept] == fitted.classes_[1], 1.0, -1.0)
            at_labels = objective_of_scores(problem, size, f, b, found)
            assert min(abs(reported - least), abs(reported - at_labels)) <= rounding, (reported, least, at_labels)


def size_and_rounding(fitted, task, X):
    """||w||^2, or ||w||_1 of the linear programs, and the errors of it and of every score that rounding can explain."""
    digits = 1e-5 if X.dtype == np.float32 else 1e-12
    b = abs(fitted.intercept_[task])
    if hasattr(fitted, "coef_"):
        w = fitted.coef_[task]
        size = np.abs(w).sum() if settings_of(fitted).formulation.norm == 1 else w @ w
        return size, digits * size, digits * (np.abs(X) @ np.abs(w) + b)
    kernel = settings_of(fitted).kernel._replace(gamma=fitted.gamma_)
    a, landmarks = fitted.dual_coef_[task], fitted.support_vectors_
    both = Gram(kernel, np.vstack([landmarks.toarray() if sparse.issparse(landmarks) else landmarks, X]), float64=True)
    K = both.compute()[:, : len(a)]
    parts = np.abs(K) @ np.abs(a)
    return a @ K[: len(a)] @ a, digits * parts[: len(a)] @ np.abs(a), digits * (parts[len(a) :] + b)


SMALL = st.integers(4, 9)
KINDS = {
    "quick": cases(QUICK),
    "searches": cases(SEARCHES, SMALL),
    "wrappers": cases(sorted(WRAPPERS)),
    "many classes": cases(QUICK, st.integers(100, 130), st.integers(30, 100)),
}


@pytest.mark.parametrize(("kind", "n_cases"), [("quick", 120), ("searches", 20), ("wrappers", 50)])
def test_random_cases_are_right_or_refused(kind, n_cases):
    repeatable(n_cases)(given(KINDS[kind])(assert_right_or_refused))()


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "n_cases"), [("quick", 7000), ("searches", 400), ("wrappers", 800), ("many classes", 60)]
)
def test_many_random_cases_are_right_or_refused(kind, n_cases):
    repeatable(n_cases)(given(KINDS[kind])(assert_right_or_refused))()
