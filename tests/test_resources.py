"""Threads and memory of a fit: no more than were asked for."""

import gc
import threading
import tracemalloc
from concurrent.futures import ThreadPoolExecutor
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pytest
from joblib import parallel_config
from scipy import sparse
from threadpoolctl import threadpool_info, threadpool_limits

from factories import PATHS, blobs, few_unlabeled, make_estimator, slow_unless, two_gaussians
from semisvm import _threads
from semisvm._validation import data as validation_data
from semisvm.estimators import ESTIMATORS
from semisvm.estimators.problems import BinaryProblems
from semisvm.self_training import WRAPPERS
from semisvm.solvers import SupervisedSVM
from semisvm.spaces import kernels

NAMES = [*ESTIMATORS, *WRAPPERS]
SHORT = {"population": 4, "generations": 4, "stall": 2, "max_nodes": 200, "random_state": 0}


def blas_threads():
    return max(library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas")


class RecordedPool(ThreadPoolExecutor):
    """A pool of threads that records their number."""

    sizes: list[int] = []

    def __init__(self, max_workers, **options):
        self.sizes.append(max_workers)
        super().__init__(max_workers, **options)


@pytest.fixture
def pools(monkeypatch):
    """The numbers of threads that run at the same time, of problems so small as those of tests, on four cores."""
    monkeypatch.setattr(_threads, "TILE", 16)
    monkeypatch.setattr(_threads, "_n_cores", lambda: 4)
    monkeypatch.setattr(_threads, "ThreadPoolExecutor", RecordedPool)
    monkeypatch.setattr(RecordedPool, "sizes", [])
    return RecordedPool.sizes


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning")
@pytest.mark.parametrize("name", NAMES)
def test_one_job_is_one_thread(name, pools, monkeypatch):
    X, y = few_unlabeled(name, *two_gaussians(40, 20))
    solve, seen = BinaryProblems._solve, []
    monkeypatch.setattr(BinaryProblems, "_solve", lambda *a: seen.append(blas_threads()) or solve(*a))
    with threadpool_limits(2, user_api="blas"):
        make_estimator(name, n_jobs=1, **SHORT).fit(X, y).predict(X)
        assert blas_threads() == 2
    assert not pools
    assert set(seen) <= {1}


@pytest.mark.parametrize("name", PATHS)
def test_jobs_over_classes_share_the_threads(name, pools, monkeypatch):
    limits, available = [], _threads.n_available_threads

    def recorded():
        limits.append(_threads._blas_threads._current)
        return available()

    monkeypatch.setattr(_threads, "n_available_threads", recorded)
    make_estimator(name, n_jobs=2, C=1.0, **SHORT).fit(*blobs(n=48))
    assert max(pools, default=1) <= 2
    assert set(limits) <= {1, 2}


def test_by_default_the_binary_problems_of_several_classes_have_all_cores(monkeypatch):
    monkeypatch.setattr(_threads, "_n_cores", lambda: 4)
    X, y = blobs(n=48)
    solve, used, all_three = SupervisedSVM.solve, set(), threading.Barrier(3, timeout=60)

    def recorded(self, *args, **kwargs):
        used.add(threading.get_ident())
        if together:
            all_three.wait()
        return solve(self, *args, **kwargs)

    monkeypatch.setattr(SupervisedSVM, "solve", recorded)
    together = True
    make_estimator("SVM", C=1.0).fit(X, y)
    assert len(used) == 3
    together = False
    used.clear()
    with parallel_config(n_jobs=1):
        make_estimator("SVM", C=1.0).fit(X, y)
    assert used == {threading.get_ident()}


def test_threads_inside_of_threads_do_not_multiply(pools):
    _threads.run_in_threads(lambda _: _threads.run_in_threads(abs, range(8)), range(8))
    assert pools == [4]
    pools.clear()
    found = _threads.run_parallel(lambda _: (_threads.n_available_threads(), blas_threads()), range(3), n_jobs=2)
    assert [n_threads for n_threads, _ in found] == [2, 2, 2]
    with _threads.limit_threads(1):
        assert _threads.n_parallel(2, 3) == _threads.n_available_threads() == 1
    assert _threads.n_available_threads() == 4


def test_a_limit_does_not_raise_the_number_of_blas_threads():
    with threadpool_limits(1, user_api="blas"), _threads.limit_threads(2):
        assert blas_threads() == 1


@pytest.mark.parametrize("n_jobs", [0, "two", 1.5, True])
@pytest.mark.parametrize("name", ["SVM", "SelfTraining"])
def test_numbers_of_jobs_that_mean_nothing_are_refused(name, n_jobs):
    with pytest.raises(ValueError, match=r"n_jobs=.* is not allowed; n_jobs takes a number of threads, -1 for"):
        make_estimator(name, n_jobs=n_jobs).fit(*two_gaussians(20, 10))


@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
@pytest.mark.parametrize("name", slow_unless(lambda name: name in {*PATHS, *WRAPPERS}, NAMES))
def test_fits_keep_the_memory_limit_or_are_refused(name, monkeypatch):
    """1,500 samples, whose kernel matrix takes 18 MB.

    The estimates of gamma and C take up to 24 MB; where they can be given, they are.
    """
    model = make_estimator(name, **(SHORT | {"max_iter": 2, "gamma": 0.1, "C": 1.0, "max_nodes": 5, "max_time": 0.3}))
    monkeypatch.setenv("SEMISVM_MEMORY", "4e6")
    model.fit(*few_unlabeled(name, *two_gaussians(60, 20)))  # compiled code is no memory of the fit
    X, y = two_gaussians(1500, 40)
    refusal = pytest.raises(MemoryError, match=r"1,500 samples.* takes .* MiB and the limit is 3\.8 MiB\. .* or raise")
    tracemalloc.start()
    with refusal if name in ("SDPTSVM", "BranchBoundTSVM") else nullcontext():
        model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < (24e6 if name in WRAPPERS else 3 * 4e6)


@pytest.mark.parametrize(("name", "dtype"), [("MultiSwitchTSVM", np.float32), ("AnnealingTSVM", np.float64)])
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
def test_fits_to_a_sparse_table_add_less_than_half_of_it(name, dtype, monkeypatch):
    """What is computed of all rows at once, or copied, would be a table more."""
    monkeypatch.setattr(kernels, "BLOCK", 50_000)
    monkeypatch.setattr(validation_data, "LARGE", 1_000_000)
    rng, n = np.random.default_rng(0), 4000
    y = np.full(n, -1)
    indices = rng.integers(0, 1000, (n, 300)).astype(np.int32)
    X = sparse.csr_matrix((np.full(n * 300, 0.06, dtype), indices.ravel(), np.arange(0, n * 300 + 1, 300)), (n, 1000))
    X.sort_indices()
    y[:10] = np.arange(10) % 2 + 1
    model = make_estimator(name, C=1.0, kernel="linear", balance=0.5, max_iter=3)
    model.fit(X[:200], y[:200])  # compiled code is no memory of the fit
    table = sum(values.nbytes for values in (X.data, X.indices, X.indptr))
    tracemalloc.start()
    model.fit(X, y)
    peak = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert peak < 0.5 * table


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::sklearn.exceptions.ConvergenceWarning", "ignore::UserWarning")
def test_a_thousand_fits_keep_no_memory():
    def fit_all(n_fits):
        for number in range(n_fits):
            name = NAMES[number % len(NAMES)]
            X, y = few_unlabeled(name, *two_gaussians(40, 20, seed=number % 7))
            make_estimator(name, **(SHORT | {"max_nodes": 20, "max_iter": 20})).fit(X, y).predict(X)
        gc.collect()
        return int(Path("/proc/self/statm").read_text().split()[1]) * 4096

    after_200 = fit_all(200)
    assert fit_all(800) - after_200 < 20e6  # 25 kB a fit would be 20 MB
