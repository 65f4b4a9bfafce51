"""Fits that share a KernelCache give the models of fits without one, and compute kernels once."""

import pickle
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from sklearn.base import clone
from sklearn.model_selection import GridSearchCV

from factories import PATHS, SOME, blobs, few_unlabeled, make_estimator, slow_unless, two_gaussians
from semisvm import (
    CCCPTSVM,
    DCLSSVM,
    LSSVM,
    SVM,
    GradientTSVM,
    HelpTraining,
    KernelCache,
    LocalSearchRLSC,
    RampSVM,
    SelfTraining,
    SwitchingLSSVM,
    SwitchingTSVM,
)
from semisvm.estimators import ESTIMATORS, _spaces
from semisvm.model_selection import LabeledKFold
from semisvm.solvers.least_squares import dense_form
from semisvm.spaces import Features, Gram
from semisvm.spaces.cache import digest

pytestmark = [
    pytest.mark.filterwarnings("ignore:.*(are in the class|into the class|far from the origin)"),
    pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning"),
]
X, y = two_gaussians(90, 20)
OTHER_Y = np.where(np.arange(90) % 5 == 0, 1 + (np.arange(90) % 3 == 0), -1)  # other labels, at other samples
WEIGHTS = np.random.default_rng(0).choice([0.3, 1.0, 3.0], 90)
SOME_ZERO = np.where(np.arange(90) % 7 == 0, 0.0, WEIGHTS)
LINEAR = ["SVM", "LSSVM", "CCCPTSVM", "MultiSwitchTSVM", "GradientTSVM", "LocalSearchRLSC", "ConcaveLPTSVM"]
APPROXIMATED = [
    LocalSearchRLSC(1.0, approximation="nystroem", n_components=15, random_state=0),
    LocalSearchRLSC(1.0, approximation="nystroem", landmarks="labeled", random_state=0),
    LocalSearchRLSC(1.0, approximation="nystroem", landmarks=X[:9] + 0.1),
    SwitchingLSSVM(1.0, approximation="kernel_pca", n_components=10),
    GradientTSVM(10.0, approximation="nystroem", n_components=15, random_state=np.random.RandomState(3)),
    GradientTSVM(10.0, kernel="linear", approximation="kernel_pca"),
]


@pytest.fixture
def counts(monkeypatch):
    """How many kernel matrices of a whole space, exact features and Nystroem approximations were computed."""
    found = {"symmetric": 0, "exact": 0, "nystroem": 0}

    def count(owner, name, key):
        function = getattr(owner, name)

        def counted(*args, **options):
            found[key] += 1
            return function(*args, **options)

        monkeypatch.setattr(owner, name, counted)

    count(Gram, "_symmetric", "symmetric")
    count(_spaces, "kernel_pca", "exact")
    count(_spaces, "cholesky_features", "exact")
    count(_spaces, "nystroem", "nystroem")
    return found


def fitted(estimator, X, y, weights=None):
    return clone(estimator).fit(X, y, sample_weight=weights)


def assert_same_model(shared, alone, X=X, exact=False):
    close = {"rtol": 0, "atol": 0} if exact else {"rtol": 1e-7, "atol": 1e-9}
    np.testing.assert_allclose(shared.decision_function(X), alone.decision_function(X), **close)
    np.testing.assert_allclose(shared.objective_, alone.objective_, rtol=1e-9)
    np.testing.assert_array_equal(shared.transduction_, alone.transduction_)
    assert (shared.gamma_, shared.C_) == (alone.gamma_, alone.C_)


def contents(cache):
    """Hashes of the samples or features of all spaces; a kernel matrix has to be what it was when it was computed."""
    spaces = [entry[1] for entry in cache._results._kept.values() if isinstance(entry[1], Gram | Features)]
    for space in spaces:
        if isinstance(space, Gram):
            np.testing.assert_array_equal(space.compute(), Gram(space.kernel, space.X).compute())
    return [digest(space.X) for space in spaces]


def check_shared(estimator, X=X, ys=(y, OTHER_Y)):
    """Other labels and weights first: nothing of them is left, and the last fit shares all it can with the first."""
    cache = KernelCache()
    shared = clone(estimator).set_params(cache=cache)
    fits = [(0, None), (1, None), (1, WEIGHTS), (0, SOME_ZERO), (0, WEIGHTS), (0, None)]
    for labels, weights in ((ys[number], weights) for number, weights in fits):
        assert_same_model(fitted(shared, X, labels, weights), fitted(estimator, X, labels, weights), X)
    assert cache.n_reused > 0
    return cache


@pytest.mark.parametrize("name", slow_unless(lambda name: name in PATHS, ESTIMATORS))
def test_every_estimator_gives_the_model_without_a_cache(name):
    few, labels = few_unlabeled(name, X, y)
    estimator = make_estimator(name, C=1.0, random_state=0, population=4, max_nodes=50)
    cache = KernelCache()
    first = fitted(clone(estimator).set_params(cache=cache), few, labels)
    before = contents(cache)
    second = fitted(clone(estimator).set_params(cache=cache), few, labels)
    assert contents(cache) == before
    alone = fitted(estimator, few, labels)
    assert_same_model(first, alone, few, exact=True)
    assert_same_model(second, alone, few)
    assert cache.n_reused == cache.n_computed


@pytest.mark.parametrize("name", PATHS)
def test_labels_and_weights_of_other_fits_leave_no_trace(name):
    check_shared(make_estimator(name, random_state=0))


CONTAINERS = {"dense": np.asarray, "csr": sparse.csr_array, "far": lambda X: X + 1e3}


@pytest.mark.parametrize(
    "name, container", slow_unless(lambda name, container: container == "csr" or name in SOME, LINEAR, CONTAINERS)
)
def test_linear_kernels_are_shared(name, container):
    data = CONTAINERS[container](np.where(np.abs(X) < 0.5, 0.0, X))
    check_shared(make_estimator(name, C=1.0, kernel="linear", random_state=0), data)


@pytest.mark.parametrize("estimator", APPROXIMATED, ids=lambda one: f"{type(one).__name__} {one.approximation}")
def test_features_in_place_of_a_kernel_are_shared(estimator):
    check_shared(estimator)


@pytest.mark.parametrize("kernel", ["poly", "laplacian", "kmod", "precomputed"])
def test_other_kernels_are_shared(kernel):
    data = X @ X.T if kernel == "precomputed" else X
    check_shared(CCCPTSVM(1.0, kernel=kernel, gamma=0.3, coef0=1.0), data)
    check_shared(SwitchingLSSVM("auto", kernel=kernel, coef0=1.0), data)


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_classes_share_too(multiclass):
    samples, labels = blobs()
    cache = KernelCache()
    for estimator in (CCCPTSVM(1.0, multiclass=multiclass), SwitchingLSSVM(1.0, multiclass=multiclass)):
        alone = fitted(estimator, samples, labels)
        assert_same_model(fitted(clone(estimator).set_params(cache=cache), samples, labels), alone, samples)


def test_methods_and_costs_compute_one_kernel_matrix(counts):
    cache = KernelCache()
    for C in (1.0, 10.0, "auto"):
        for cls in (CCCPTSVM, SwitchingTSVM, DCLSSVM):
            cls(C, cache=cache).fit(X, y)
    assert counts["symmetric"] == 1
    assert (cache.n_computed, cache.n_reused) == (3, 18)  # gamma, total variance of the features, kernel matrix
    for C in (1.0, 10.0):
        GradientTSVM(C, cache=cache).fit(X, y)
    assert counts["exact"] == 1


@pytest.mark.parametrize("random_state, n_built", [(0, 1), (None, 1), (np.random.RandomState(0), 1), ("new", 3)])
def test_landmarks_are_drawn_once_for_a_seed(random_state, n_built, counts):
    cache = KernelCache()
    for seed in range(3):
        seed = seed if isinstance(random_state, str) else random_state
        estimator = LocalSearchRLSC(1.0, approximation="nystroem", n_components=9, random_state=seed, cache=cache)
        clone(estimator).fit(X, y)
    assert counts["nystroem"] == n_built


def test_samples_changed_in_place_are_other_samples():
    for estimator in (CCCPTSVM(1.0, kernel="poly"), GradientTSVM(1.0, kernel="linear"), DCLSSVM(1.0)):
        own, shared = X.copy(), clone(estimator).set_params(cache=KernelCache())
        fitted(shared, own, y)
        own[:, 0] *= -3.0
        assert_same_model(fitted(shared, own, y), fitted(estimator, own, y), own)
        assert_same_model(fitted(shared, X, y), fitted(estimator, X, y))  # the first space did not change with them


def test_landmarks_changed_in_place_are_other_landmarks():
    landmarks = X[:9] + 0.1
    estimator = LocalSearchRLSC(1.0, approximation="nystroem", landmarks=landmarks, cache=KernelCache())
    first = estimator.fit(X, y).decision_function(X)
    landmarks *= 0.5
    np.testing.assert_array_equal(estimator.decision_function(X), first)
    assert np.abs(estimator.fit(X, y).decision_function(X) - first).max() > 1e-3


def test_models_do_not_share_their_support_vectors():
    cache = KernelCache()
    first, second = (GradientTSVM(1.0, cache=cache).fit(X, y) for _ in range(2))
    before = second.decision_function(X)
    first.support_vectors_ *= 2.0
    np.testing.assert_array_equal(second.decision_function(X), before)


def test_functions_are_evaluated_in_every_fit():
    width = 1.0

    def kernel(A, B):
        return np.exp(-width * ((A[:, None] - B[None]) ** 2).sum(axis=2))

    shared = SVM(1.0, kernel=kernel, cache=KernelCache())
    for width in (0.1, 1.0):
        scores = SVM(1.0, gamma=width).fit(X, y).decision_function(X)
        np.testing.assert_allclose(shared.fit(X, y).decision_function(X), scores, atol=1e-2)  # SMO ends within tol


def test_grid_search_computes_the_matrix_of_every_fold_once(counts):
    cache, splits = KernelCache(), LabeledKFold(3)
    grid = {"C": [0.1, 1.0, 10.0], "cache": [cache]}
    search = GridSearchCV(CCCPTSVM(), grid, cv=splits).fit(X, y)
    assert counts["symmetric"] == 3 + 1  # and that of the last fit, to all samples
    assert search.best_estimator_.cache is cache
    alone = GridSearchCV(CCCPTSVM(), {"C": grid["C"]}, cv=splits).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])
    assert_same_model(search.best_estimator_, alone.best_estimator_)


def test_grid_search_in_threads_gives_the_same(counts):
    cache, grid = KernelCache(), {"C": [0.1, 1.0, 10.0]}
    with parallel_config(backend="threading", n_jobs=3):
        search = GridSearchCV(GradientTSVM(cache=cache), grid, cv=LabeledKFold(3)).fit(X, y)
    assert counts["exact"] == 3 + 1
    alone = GridSearchCV(GradientTSVM(), grid, cv=LabeledKFold(3)).fit(X, y)
    np.testing.assert_array_equal(search.cv_results_["mean_test_score"], alone.cv_results_["mean_test_score"])


def test_threads_do_not_replace_each_others_kernel_rows(monkeypatch):
    """Of more samples than a block holds, and beyond the memory limit, rows are computed as they are needed."""
    monkeypatch.setenv("SEMISVM_MEMORY", "4e5")
    samples, labels = two_gaussians(800, 800)
    estimators = [RampSVM(C, init="subset", random_state=0) for C in (0.1, 0.3, 1.0, 3.0)]
    alone = [fitted(estimator, samples, labels) for estimator in estimators]
    cache = KernelCache(max_bytes=np.inf)
    with ThreadPoolExecutor(4) as pool:
        found = pool.map(lambda one: clone(one).set_params(cache=cache).fit(samples, labels), estimators)
        for shared, expected in zip(found, alone):
            assert_same_model(shared, expected, samples)
    assert cache.n_computed == 2


def test_calibration_and_supervised_model_use_the_cache(counts):
    cache = KernelCache()
    shared, alone = CCCPTSVM(1.0, cache=cache).fit(X, y), CCCPTSVM(1.0).fit(X, y)
    before = counts["symmetric"]
    np.testing.assert_allclose(shared.predict_proba(X), alone.predict_proba(X), rtol=1e-7)
    assert counts["symmetric"] == before + 1  # of the model without a cache
    assert shared.supervised_.cache is cache
    assert_same_model(shared.supervised_, alone.supervised_)
    n_reused = cache.n_reused
    labeled = y != -1
    again = SVM(1.0, gamma=alone.gamma_, cache=cache).fit(X[labeled], y[labeled])
    assert_same_model(again, alone.supervised_)
    assert cache.n_reused == n_reused + 1


@pytest.mark.parametrize("wrapper", [SelfTraining(threshold=0.5), HelpTraining()], ids=lambda one: type(one).__name__)
def test_self_training_uses_the_cache_of_its_estimator(wrapper):
    cache = KernelCache()
    inner = [LSSVM(1.0, cache=one) for one in (cache, cache, None)]
    first, second, alone = (clone(wrapper).set_params(estimator=one).fit(X, y) for one in inner)
    assert alone.n_iter_ > 1
    for shared in (first, second):
        np.testing.assert_allclose(shared.decision_function(X), alone.decision_function(X), rtol=1e-9)
        np.testing.assert_array_equal(shared.transduction_, alone.transduction_)
    assert cache.n_reused >= 2


def test_saved_models_are_as_small_as_without_a_cache():
    cache = KernelCache(max_bytes=1e8)
    shared, alone = (CCCPTSVM(1.0, cache=one).fit(X, y) for one in (cache, None))
    saved = pickle.dumps(shared)
    assert len(saved) < len(pickle.dumps(alone)) + 150
    loaded = pickle.loads(saved)
    assert_same_model(loaded, alone)
    assert (loaded.cache.max_bytes, loaded.cache.n_computed) == (1e8, 0)
    assert clone(shared).get_params()["cache"] is cache


def test_ctrl_c_in_a_fit_does_no_harm_to_the_next(monkeypatch):
    """The factor of the system is overwritten by the inverse: interrupted, it is neither."""

    def interrupted(U, size):
        U[:] = np.nan
        raise KeyboardInterrupt
        yield

    estimator = LSSVM(1.0, cache=KernelCache())
    with monkeypatch.context() as patch:
        patch.setattr(dense_form, "invert", interrupted)
        with pytest.raises(KeyboardInterrupt):
            clone(estimator).fit(X, y).predict_proba(X)
    try:
        found = clone(estimator).fit(X, y).predict_proba(X)
    except KeyboardInterrupt:
        pytest.fail("the interrupted system was used")
    np.testing.assert_allclose(found, LSSVM(1.0).fit(X, y).predict_proba(X), rtol=1e-9)


def test_anything_else_is_refused():
    with pytest.raises(ValueError, match="cache='yes' is not allowed; cache takes a KernelCache or None"):
        SVM(cache="yes").fit(X, y)
