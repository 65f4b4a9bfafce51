"""Probabilities: largest for the predicted class, calibrated on held-out labels, computed only when asked for."""

import pickle
import warnings

import numpy as np
import pytest
from scipy import sparse
from scipy.special import expit, softmax
from sklearn.metrics.pairwise import rbf_kernel

from factories import (
    PATHS,
    SEMI_SUPERVISED,
    SOME,
    blobs,
    formulation_of,
    keeps_counts,
    make_estimator,
    slow_unless,
    two_gaussians,
)
from semisvm import CCCPTSVM, S3VM, SVM
from semisvm._validation import data as validation_data
from semisvm.datasets import make_two_gaussians
from semisvm.estimators import ESTIMATORS, _calibration, problems
from semisvm.model_selection.splits import folds_of_distinct_samples
from semisvm.multiclass import COUPLINGS, SCHEMES, couple, fit_slope
from semisvm.solvers.dual import leave_one_out

every_path = pytest.mark.parametrize("name", PATHS)
two_or_three_classes = pytest.mark.parametrize("k", [2, 3])
both_schemes = pytest.mark.parametrize("scheme", SCHEMES)
WAYS = [(2, "ovr"), (3, "ovr"), (3, "ovo")]
SEARCHES = [name for name in SEMI_SUPERVISED if keeps_counts(name)]


def overlapping(k=2, n_labeled=30, seed=0):
    """Overlapping classes 1, 2, ... with some zeros in X."""
    X, y = blobs(k, 60, n_labeled, 3, distance=1.5, seed=seed)
    return np.where(np.abs(X) < 0.3, 0.0, X), np.where(y == -1, -1, y + 1)


def model(name, scheme="ovr", **params):
    return make_estimator(name, **({"C": 1.0, "gamma": 0.3, "random_state": 0, "multiclass": scheme} | params))


@pytest.fixture
def slope_arguments(monkeypatch):
    """What ``fit_slope`` is given, call after call."""
    calls = []
    monkeypatch.setattr(_calibration, "fit_slope", lambda *given: calls.append(given) or fit_slope(*given))
    return calls


@pytest.fixture
def solved_problems(monkeypatch):
    """The binary problems that are solved, in their order."""
    solved, original = [], problems.BinaryProblems._solve
    monkeypatch.setattr(
        problems.BinaryProblems, "_solve", lambda self, ps, *rest: solved.extend(ps) or original(self, ps, *rest)
    )
    return solved


def check_probabilities(fitted, X, k):
    """They sum to one, and the largest is that of the predicted class."""
    p = fitted.predict_proba(X)
    assert p.shape == (len(X), k)
    assert (p >= 0).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))


@pytest.mark.parametrize(
    "name, coupling", slow_unless(lambda name, coupling: name in ("SVM", "CCCPTSVM"), PATHS, COUPLINGS)
)
def test_every_coupling_predicts_the_class_of_the_largest_probability(name, coupling):
    X, y = overlapping(3)
    check_probabilities(model(name, "ovo", coupling=coupling).fit(X, y), 3.0 * overlapping(3, seed=1)[0], 3)


@pytest.mark.filterwarnings("ignore:.* the model puts all 20 unlabeled samples into the class")  # they are equal
@pytest.mark.parametrize("name", [name for name in ESTIMATORS if name not in SEARCHES])  # searches break the tie
@pytest.mark.parametrize("k", [2, 4])
def test_a_sample_on_the_boundary_is_predicted_as_its_probabilities_say(name, k):
    X, y = np.ones((40, 2)), np.r_[np.arange(20) % k + 1, np.full(20, -1)]
    fitted = model(name, balance=None).fit(X, y)  # all samples are equal: no class is more likely
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        p = fitted.predict_proba(X)
    if k > 2 or name not in ("GradientTSVM", "ContinuationTSVM"):  # for them f = 0 of two classes is a saddle point
        np.testing.assert_allclose(p, 1.0 / k, rtol=1e-14)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[p.argmax(axis=1)])


@pytest.mark.parametrize(
    "name, k, scheme", slow_unless(lambda name, *way: name in SOME or way == WAYS[-1], PATHS, WAYS)
)
def test_probabilities_by_their_formulas(name, k, scheme, slope_arguments):
    X, y = overlapping(k)
    fitted = model(name, scheme).fit(X, y)
    p = fitted.predict_proba(X)
    check_probabilities(fitted, 3.0 * overlapping(k, seed=1)[0], k)
    (given,) = slope_arguments
    slope = fit_slope(*given)
    if hasattr(fitted, "coef_"):
        f = X @ fitted.coef_.T + fitted.intercept_
    else:
        f = rbf_kernel(X, X[fitted.support_], gamma=0.3) @ fitted.dual_coef_.T + fitted.intercept_
    if k == 2:
        np.testing.assert_allclose(p[:, 1], expit(slope * f[:, 0]), atol=1e-9)
    else:
        expected = softmax(slope * f, axis=1) if scheme == "ovr" else couple(expit(slope * f), 3, "pwc2")
        np.testing.assert_allclose(p, expected, atol=1e-9)
    n_held_out = np.count_nonzero(y != -1) * (1 if k == 2 or scheme == "ovr" else 2)  # each in the pairs of its class
    assert [len(part) for part in given] == [n_held_out] * 3


@two_or_three_classes
def test_probabilities_of_huge_scores(k):
    X, y = overlapping(k)
    fitted = SVM(kernel="linear").fit(X, y)
    p = fitted.predict_proba(1e9 * X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(1e9 * X))


def test_frequencies_of_new_samples_are_the_probabilities():
    X, y = make_two_gaussians(21000, 8, 0.3, random_state=0)  # the true probability is a sigmoid of a linear score
    p = SVM(0.1, kernel="linear").fit(X[:1000], y[:1000]).predict_proba(X[1000:])[:, 1]
    bins = np.minimum((10 * p).astype(int), 9)
    for inside in (bins == b for b in range(10)):
        standard_error = np.sqrt(p[inside].mean() * (1.0 - p[inside].mean()) / inside.sum())
        assert inside.sum() > 100
        difference = abs((y[1000:][inside] == 2).mean() - p[inside].mean())
        assert difference < 4.0 * standard_error + 0.04  # the fit has 1,000 samples


@pytest.mark.parametrize("n_unlabeled", [0, 20, 300])
def test_confidence_is_accuracy(n_unlabeled):
    excess = []
    for seed in range(4):
        X, y = make_two_gaussians(3100 + n_unlabeled, 8, 0.35, random_state=seed)
        seen = np.r_[y[:100], np.full(n_unlabeled, -1)]
        fitted, new = CCCPTSVM(1.0, gamma=0.05).fit(X[: len(seen)], seen), X[len(seen) :]
        excess.append(fitted.predict_proba(new).max(axis=1).mean() - fitted.score(new, y[len(seen) :]))
    assert abs(np.mean(excess)) < 0.05


@pytest.mark.parametrize("name, k", slow_unless(lambda name, k: name in SOME or k == 3, SEMI_SUPERVISED, (2, 3)))
def test_without_unlabeled_samples_the_probabilities_are_the_supervised_ones(name, k):
    X, y = overlapping(k, n_labeled=60)
    fitted = model(name, tol=1e-7).fit(X, y)
    np.testing.assert_allclose(fitted.predict_proba(X), fitted.supervised_.predict_proba(X), atol=1e-6)


def test_a_supervised_solver_gives_probabilities_where_all_samples_are_labeled():
    X, y = overlapping(n_labeled=60)
    p = S3VM(solver="smo", C=1.0, gamma=0.3, tol=1e-7).fit(X, y).predict_proba(X)
    np.testing.assert_allclose(p, SVM(1.0, gamma=0.3, tol=1e-7).fit(X, y).predict_proba(X), atol=1e-6)


@every_path
def test_a_label_has_no_influence_on_its_own_held_out_score(name, slope_arguments):
    """More features than samples and random labels: every training score is right, held-out ones are worth nothing."""
    rng = np.random.default_rng(0)
    X, y = rng.standard_normal((80, 120)), np.r_[rng.integers(1, 3, 60), np.full(20, -1)]
    fitted = model(name, kernel="linear", C=100.0, C_unlabeled=0.1).fit(X, y)
    X, y = X[:60], y[:60]
    assert fitted.score(X, y) == 1.0
    assert fitted.predict_proba(X).max(axis=1).mean() < 0.8
    f = fitted.decision_function(X)
    training_slope = fit_slope(np.column_stack([-f / 2, f / 2]), y - 1, np.ones(60))
    assert fit_slope(*slope_arguments[0]) < training_slope / 4.0


def test_held_out_scores_are_those_of_fits_without_the_fold(slope_arguments):
    X, y = overlapping(3, n_labeled=60)
    SVM(1.0, gamma=0.3, tol=1e-7).fit(X, y).predict_proba(X)
    folds, expected = folds_of_distinct_samples(X, y - 1, 5), np.empty((60, 3))
    for held in (folds == fold for fold in range(5)):
        expected[held] = SVM(1.0, gamma=0.3, tol=1e-7).fit(X[~held], y[~held]).decision_function(X[held])
    np.testing.assert_allclose(slope_arguments[0][0], expected, atol=1e-6)
    np.testing.assert_array_equal(slope_arguments[0][1], y - 1)


@pytest.mark.parametrize("name, k", slow_unless(lambda name, k: name in SOME or k == 2, PATHS, (2, 3)))
def test_only_predict_proba_pays_for_the_calibration(name, k, solved_problems):
    X, y = overlapping(k)
    fitted, n_tasks = model(name).fit(X, y), 1 if k == 2 else 3
    fitted.predict(X)
    assert len(solved_problems) == n_tasks
    fitted.predict_proba(X)
    fitted.predict_proba(X)
    in_closed_form = formulation_of(fitted).solver.accepts.held_out
    assert len(solved_problems) == (2 if in_closed_form else 6) * n_tasks


@pytest.mark.parametrize("name", ["SVM", "LSSVM"])
def test_one_vs_one_of_an_svm_or_least_squares_trains_every_pair_once(name, solved_problems):
    X, y = overlapping(4)
    fitted = model(name, "ovo").fit(X, y)
    fitted.predict(X), fitted.predict_proba(X)
    assert len(solved_problems) == 6


def test_one_vs_one_with_many_free_samples_is_calibrated_by_folds(monkeypatch, solved_problems, slope_arguments):
    X, y = overlapping(3, n_labeled=60)
    one_by_one = model("SVM", "ovo").fit(X, y)
    assert len(solved_problems) == 3
    monkeypatch.setattr(leave_one_out, "LIMIT", 1)
    by_folds = model("SVM", "ovo").fit(X, y)
    assert len(solved_problems) == 3 + 6 * 3
    (of_samples, truth, _), (of_folds, same, _) = slope_arguments
    np.testing.assert_array_equal(truth, same)
    assert np.corrcoef(of_samples[:, 1], of_folds[:, 1])[0, 1] > 0.9
    np.testing.assert_allclose(one_by_one.predict_proba(X), by_folds.predict_proba(X), atol=0.1)


@pytest.mark.parametrize(
    "name, asked_before", slow_unless(lambda name, asked: name in SOME or not asked, PATHS, (True, False))
)
def test_a_saved_estimator_has_its_slope_and_not_the_samples(name, asked_before):
    y = np.arange(300) % 2
    X = np.random.default_rng(0).standard_normal((300, 60)) + 2.0 * np.eye(2, 60)[y]
    fitted = model(name, kernel="linear", C=0.1).fit(X, np.where(np.arange(300) < 30, y + 1, -1))
    if asked_before:
        fitted.predict_proba(X)
    saved = pickle.dumps(fitted)
    assert len(saved) - len(pickle.dumps(fitted.trace_)) < 0.25 * X.nbytes  # a tenth is kept for ``supervised_``
    np.testing.assert_array_equal(pickle.loads(saved).predict_proba(X), fitted.predict_proba(X))


@every_path
@pytest.mark.parametrize("k, scheme", WAYS)
def test_one_label_in_a_class_warns_and_gives_probabilities(name, k, scheme):
    X, y = overlapping(k)
    y[np.flatnonzero(y == 1)[1:]] = -1
    with pytest.warns(UserWarning, match=r"a class has one labeled sample.*not calibrated.*Label two samples"):
        p = model(name, scheme).fit(X, y).predict_proba(X)
    assert np.isfinite(p).all()
    np.testing.assert_allclose(p.sum(axis=1), 1.0)


FEWER_THAN_FOLDS = (2, 3)  # classes, and distinct samples of one


@pytest.mark.parametrize(
    "name, k, n_kept",
    slow_unless(lambda name, *case: name in SOME or case == FEWER_THAN_FOLDS, PATHS, (2, 3), (30, 3)),
)
def test_repeated_samples_count_like_weights(name, k, n_kept):
    """So no sample is predicted by its copy; also where a class has fewer distinct samples than there are folds."""
    X, y = overlapping(k)
    y[np.flatnonzero(y == 1)[n_kept:]] = -1
    if name in SEARCHES:  # held-out copies would be searched one by one, a sample of thrice the weight has one label
        X, y = X[y != -1], y[y != -1]
    repeated = np.r_[np.arange(len(y)), np.flatnonzero(y == 1), np.flatnonzero(y == 1)]
    expected = model(name, tol=1e-7).fit(X[repeated], y[repeated]).predict_proba(X)
    weighted = model(name, tol=1e-7).fit(X, y, sample_weight=np.bincount(repeated)).predict_proba(X)
    np.testing.assert_allclose(weighted, expected, atol=1e-6)


@every_path
def test_no_fold_takes_the_last_sample_of_a_class_away(name, monkeypatch):
    """Both samples of class 2 have a copy in class 1, and copies share a fold."""
    X = np.random.default_rng(0).standard_normal((12, 2))
    X, y = np.r_[X, X[:2], X + 0.1], np.r_[np.ones(12), 2, 2, np.full(12, -1)]
    codes_seen, original = [], problems.BinaryProblems.solve
    monkeypatch.setattr(
        problems.BinaryProblems,
        "solve",
        lambda self, codes, *rest: codes_seen.append(set(codes)) or original(self, codes, *rest),
    )
    fitted = model(name).fit(X, y)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        fitted.predict_proba(X)
    assert len(codes_seen) >= 1
    assert all({0, 1} <= codes for codes in codes_seen)


ORDER = np.random.default_rng(1).permutation(60)


@every_path
def test_order_of_samples_marker_and_storage_do_not_matter(name):
    X, y = overlapping(3)
    expected = model(name, tol=1e-7).fit(X, y).predict_proba(X)
    marked = [None if label == -1 else label for label in y[ORDER].tolist()]
    found = model(name, tol=1e-7).fit(sparse.csr_array(X[ORDER]), marked).predict_proba(X)
    np.testing.assert_allclose(found, expected, atol=1e-6)


@pytest.mark.parametrize("name", ["SVM", "CCCPTSVM", "LocalSearchRLSC"])
@both_schemes
def test_order_of_samples_of_a_kernel_matrix_does_not_matter(name, scheme):
    X, y = overlapping(3)
    K = rbf_kernel(X, gamma=0.3)
    fitted = model(name, scheme, kernel="precomputed", tol=1e-7).fit(K, y)
    moved = model(name, scheme, kernel="precomputed", tol=1e-7).fit(K[np.ix_(ORDER, ORDER)], y[ORDER])
    np.testing.assert_allclose(moved.predict_proba(K[:, ORDER]), fitted.predict_proba(K), atol=1e-6)


@every_path
def test_an_array_that_changes_after_the_fit_does_not_change_the_probabilities(name):
    X, y = overlapping()
    expected, changing = model(name).fit(X, y).predict_proba(X), X.copy()
    fitted = model(name).fit(changing, y)
    changing[:] = np.random.default_rng(0).standard_normal(X.shape)
    np.testing.assert_array_equal(fitted.predict_proba(X), expected)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n not in (*PATHS, "MixedIntegerTSVM", "BranchBoundTSVM")])
def test_probabilities_of_all_other_estimators(name):
    """Their code paths are those of others; a fit a fold of a long search takes seconds."""
    X, y = overlapping(3)
    fitted = model(name, population=4, exact=False).fit(X, y)
    p = fitted.predict_proba(X)
    np.testing.assert_allclose(p.sum(axis=1), 1.0, atol=1e-12)
    np.testing.assert_array_equal(fitted.classes_[p.argmax(axis=1)], fitted.predict(X))


@pytest.mark.parametrize("as_sparse", [False, True])
def test_a_large_table_is_not_copied_for_probabilities_and_a_change_of_it_is_refused(as_sparse, monkeypatch):
    X, y = two_gaussians(60, 20)
    X = sparse.csr_matrix(X) if as_sparse else X
    expected = make_estimator("MultiSwitchTSVM", kernel="linear").fit(X, y).predict_proba(X)
    monkeypatch.setattr(validation_data, "LARGE", 0)
    model = make_estimator("MultiSwitchTSVM", kernel="linear").fit(X, y)
    np.testing.assert_array_equal(model.predict_proba(X), expected)
    model = make_estimator("MultiSwitchTSVM", kernel="linear").fit(X, y)
    X[7, 1] += 1.0
    with pytest.raises(RuntimeError, match=r"have changed.*predict_proba before X is changed"):
        model.predict_proba(X)
