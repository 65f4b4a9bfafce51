"""Fits at the same time, in threads and in processes, and the folder of compiled functions that they share."""

import multiprocessing
import os
import subprocess
import sys
import threading
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from factories import PATHS, few_unlabeled, make_estimator, two_gaussians
from semisvm import _threads
from semisvm._threads import limit_threads

NAMES = [*PATHS, "GeneticTSVM", "ContinuationTSVM", "SelfTraining"]
FIT = """
import numpy as np, semisvm
X = np.random.default_rng(0).standard_normal((40, 3))
y = np.where(np.arange(40) < 20, np.arange(40) % 2 + 1, -1)
"""
FIT_LSSVM = FIT + "print(semisvm.LSSVM(C=1.0).fit(X, y).objective_)"
FIT_IN_THREADS = (
    "from concurrent.futures import ThreadPoolExecutor\n"
    + FIT
    + """
models = [semisvm.SVM(C=1.0), semisvm.LSSVM(C=1.0), semisvm.CCCPTSVM(C=1.0), semisvm.SwitchingLSSVM(C=1.0)]
with ThreadPoolExecutor(4) as pool:
    print(*[model.objective_ for model in pool.map(lambda model: model.fit(X, y), models)])
"""
)
UNWRITABLE = """
from numba.core import caching
def refuse(self):
    raise PermissionError("read-only")
caching._CacheLocator.ensure_cache_path = refuse
"""


def fit(name, n_jobs=None):
    X, y = few_unlabeled(name, *two_gaussians(60, 20))
    return make_estimator(name, n_jobs=n_jobs, population=4, random_state=0).fit(X, y).decision_function(X)


def start(code, **environment):
    return subprocess.Popen(
        [sys.executable, "-c", code],
        env=os.environ | environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def finish(process):
    out, err = process.communicate()
    assert process.returncode == 0, err
    return out, err


def test_fits_in_threads_give_the_answers_of_one_at_a_time(monkeypatch):
    monkeypatch.setattr(_threads, "TILE", 16)  # so that small problems use threads of their own
    before, n_threads = threadpool_info(), [None, 1, 2]
    jobs = [(name, n_jobs) for name in NAMES for n_jobs in n_threads]
    expected = {name: fit(name) for name in NAMES}
    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(lambda job: fit(*job), jobs))
    for (name, _), scores in zip(jobs, found):
        np.testing.assert_allclose(scores, expected[name], atol=1e-7, err_msg=name)
    assert threadpool_info() == before


@pytest.mark.filterwarnings("ignore:This process .* is multi-threaded:DeprecationWarning")
@pytest.mark.parametrize(
    "method",
    [
        name if name == "fork" else pytest.param(name, marks=pytest.mark.slow)
        for name in ("fork", "spawn")
        if name in multiprocessing.get_all_start_methods()
    ],
)
def test_fits_in_other_processes_give_the_same_answer(method):
    names = ["CCCPTSVM", "LSSVM", "GradientTSVM"]
    expected = [fit(name) for name in names]
    inside, leave = threading.Event(), threading.Event()

    def hold_a_limit():  # as a fit in another thread does while this one starts processes
        with limit_threads(1):
            inside.set()
            leave.wait()

    holder = threading.Thread(target=hold_a_limit)
    holder.start()
    inside.wait()
    try:
        with multiprocessing.get_context(method).Pool(2) as pool:
            found = pool.map_async(fit, names).get(timeout=300)
    finally:
        leave.set()
        holder.join()
    np.testing.assert_array_equal(found, expected)


def test_a_folder_that_cannot_be_written_to_is_one_warning():
    out, err = finish(start(UNWRITABLE + FIT_LSSVM))
    assert float(out) > 0
    assert err.count("semisvm cannot cache its compiled functions") == 1
    assert "NUMBA_CACHE_DIR" in err


@pytest.mark.slow
def test_processes_that_fill_one_cache_at_the_same_time(tmp_path):
    processes = [start(FIT_IN_THREADS, NUMBA_CACHE_DIR=str(tmp_path)) for _ in range(2)]
    (first, errors), (second, more_errors) = map(finish, processes)
    assert first == second == finish(start(FIT_IN_THREADS, NUMBA_CACHE_DIR=str(tmp_path)))[0]
    assert errors + more_errors == ""
