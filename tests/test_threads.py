"""Tasks in threads, and the number of BLAS threads around them."""

import threading
import time
from concurrent.futures import ThreadPoolExecutor

import pytest
import sklearn
from joblib import Parallel, delayed, parallel_config
from threadpoolctl import threadpool_info, threadpool_limits

from semisvm import _threads
from semisvm._threads import (
    blas_threads_for,
    fit_within_n_jobs,
    limit_threads,
    n_available_threads,
    n_jobs_of_fit,
    run_in_threads,
    run_parallel,
    single_blas_thread,
    tiles,
)


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_threads_that_overlap_leave_the_number_of_blas_threads_as_it_was():
    with threadpool_limits(2, user_api="blas"):
        with single_blas_thread:  # as two tasks in threads do: the first to enter leaves first
            single_blas_thread.__enter__()
            assert set(blas_threads()) == {1}
        assert set(blas_threads()) == {1}
        single_blas_thread.__exit__()
        assert set(blas_threads()) == {2}


def test_any_thread_sets_and_removes_the_limit_of_blas():
    def in_thread(task):
        with ThreadPoolExecutor(1) as pool:
            return pool.submit(task).result()

    enter, leave = single_blas_thread.__enter__, single_blas_thread.__exit__
    with threadpool_limits(2, user_api="blas"):
        for _ in range(2):  # whoever was the last to set it
            in_thread(enter)
            assert set(blas_threads()) == {1}
            enter()
            in_thread(leave)
            assert set(blas_threads()) == {1}
            leave()
            assert set(blas_threads()) == {2}
    with threadpool_limits(1, user_api="blas"):
        in_thread(enter)
        in_thread(leave)
        assert set(blas_threads()) == {1}


@pytest.mark.parametrize("n_threads", [1, 3])
def test_every_item_is_worked_on_once_and_exceptions_are_raised(n_threads, monkeypatch):
    monkeypatch.setattr(_threads, "n_available_threads", lambda: n_threads)
    items, used, before = [], set(), blas_threads()

    def task(item):
        items.append(item)
        used.add(threading.get_ident())
        assert n_threads == 1 or set(blas_threads()) == {1}

    run_in_threads(task, list(range(50)))
    assert sorted(items) == list(range(50))
    assert len(used) <= n_threads
    assert (threading.get_ident() in used) == (n_threads == 1)
    with pytest.raises(ZeroDivisionError):
        run_in_threads(lambda item: 1 / item, [2, 1, 0, 3])
    assert blas_threads() == before


def test_tiles_cover_the_range():
    for n, size in [(0, 5), (1, 5), (5, 5), (11, 5), (1000, None), (513, None)]:
        parts = list(tiles(n, size))
        assert [i for part in parts for i in range(n)[part]] == list(range(n))
        assert all(part.stop - part.start <= (size or 512) for part in parts)


def test_parallel_tasks_have_the_configuration_of_the_caller():
    both = threading.Barrier(2, timeout=60)  # two threads

    def task(item):
        both.wait()
        return sklearn.get_config()["enable_metadata_routing"]

    with sklearn.config_context(enable_metadata_routing=True):
        assert run_parallel(task, [0, 1], 2) == [True, True]
    assert run_parallel(task, [0, 1], 2) == [False, False]


def test_the_caller_works_like_the_other_threads_and_results_are_in_order():
    both, used = threading.Barrier(2, timeout=60), set()

    def task(item):
        if item < 2:
            both.wait()
        used.add(threading.get_ident())
        return -item

    assert run_parallel(task, range(20), 2) == [-item for item in range(20)]
    assert threading.get_ident() in used
    assert len(used) == 2


@pytest.mark.parametrize("n_jobs", [1, 2])
def test_an_exception_in_a_task_is_raised_and_no_further_task_begins(n_jobs):
    begun = []

    def task(item):
        begun.append(item)
        if len(begun) == 2:
            raise ZeroDivisionError
        time.sleep(1e-3)

    with pytest.raises(ZeroDivisionError):
        run_parallel(task, range(1000), n_jobs)
    assert len(begun) < 1000


class Waits:
    """A thread that ends after the second look, at the first of which Ctrl-C comes."""

    def __init__(self):
        self.n_looks = 0

    def result(self):
        self.n_looks += 1
        if self.n_looks == 1:
            raise KeyboardInterrupt

    def done(self):
        return False


def test_ctrl_c_of_a_caller_that_waits_ends_the_others_or_is_raised():
    calls = []
    _threads._wait(Waits(), lambda: calls.append(1))
    assert calls == [1]
    with pytest.raises(KeyboardInterrupt):
        _threads._wait(Waits(), None)


def test_none_is_every_thread_unless_joblib_says_otherwise(monkeypatch):
    monkeypatch.setattr(_threads, "_n_cores", lambda: 4)
    assert n_jobs_of_fit(None) == n_available_threads() == 4
    assert [n_jobs_of_fit(n) for n in (1, 2, -1)] == [1, 2, -1]
    with limit_threads(3):
        assert n_jobs_of_fit(None) == 3
    for n in (1, 3):
        with parallel_config(n_jobs=n):
            assert n_jobs_of_fit(None) == n
    assert Parallel(2, prefer="threads")(delayed(n_jobs_of_fit)(None) for _ in range(2)) == [1, 1]
    assert n_jobs_of_fit(None) == 4


def test_small_products_have_one_thread_of_blas():
    with threadpool_limits(2, user_api="blas"):
        for n_multiplications, n_threads in [(10**5, 2), (10**6, 1), (10**9, 2)]:  # the smallest take one by themselves
            with blas_threads_for(n_multiplications):
                assert set(blas_threads()) == {n_threads}
        assert set(blas_threads()) == {2}


def test_a_fit_has_one_thread_of_blas_but_for_large_products_within_its_limits():
    class Model:
        n_jobs = None

        @fit_within_n_jobs
        def fit(self):
            found = [blas_threads()]
            with blas_threads_for(1e9):
                found.append(blas_threads())
                with limit_threads(1):
                    found.append(blas_threads())
            return [*found, blas_threads()]

    with threadpool_limits(2, user_api="blas"):
        assert [set(one) for one in Model().fit()] == [{1}, {2}, {1}, {1}]
        Model.n_jobs = 1
        assert [set(one) for one in Model().fit()] == [{1}] * 4
        assert set(blas_threads()) == {2}
