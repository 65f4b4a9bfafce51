"""The same seed gives the same answer, whatever the number of threads and the process.

``tests/estimators/test_contracts.py`` holds that the order of samples does not matter, with the defaults of every
estimator. It matters where random numbers choose samples by their position: landmarks (``approximation="nystroem"``,
and "auto" for many samples), the first subset of ``RampSVM(init="subset")``, the starts of ``n_init`` above one and the
individuals of ``GeneticTSVM``. There another order is another draw, as another seed is.
"""

import multiprocessing

import numpy as np
import pytest

from factories import PATHS, blobs, few_unlabeled, make_estimator, slow_unless, two_gaussians
from semisvm import _threads
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS

NAMES = [*ESTIMATORS, *WRAPPERS]
DRAWN = {  # settings by which random numbers decide
    "RampSVM": {"s": 0.0, "init": "subset"},
    "SparseLSSVM": {"n_components": 7, "landmarks": "kmeans++"},
    "GradientTSVM": {"approximation": "nystroem", "n_components": 9},
    "SwitchingLSSVM": {"approximation": "nystroem", "n_components": 9, "n_init": 4},
    "LocalSearchRLSC": {"n_init": 4},
}
SHORT = {"population": 4, "generations": 4, "stall": 2, "random_state": 0}


def answer(name, n_jobs=None, seed=0):
    X, y = few_unlabeled(name, *blobs(n=60))
    options = SHORT | {"n_jobs": n_jobs, "random_state": seed} | DRAWN.get(name, {})
    return make_estimator(name, **options).fit(X, y).decision_function(X)


def all_answers():
    return {name: answer(name) for name in NAMES}


@pytest.mark.slow
def test_another_process_gives_the_same_answers():
    with multiprocessing.get_context("spawn").Pool(1) as pool:
        found = pool.apply_async(all_answers).get(timeout=600)
    for name in NAMES:
        np.testing.assert_array_equal(found[name], answer(name), err_msg=name)


@pytest.mark.parametrize("name", slow_unless(lambda name: name in {*PATHS, *DRAWN, *WRAPPERS}, NAMES))
def test_any_number_of_threads_gives_the_same_answer(name, monkeypatch):
    expected = answer(name)
    monkeypatch.setattr(_threads, "TILE", 16)  # so that small problems use threads
    for n_jobs in (1, -1):
        np.testing.assert_allclose(answer(name, n_jobs), expected, atol=1e-8)


@pytest.mark.parametrize("name", WRAPPERS)
def test_order_of_samples_does_not_matter_to_rounds(name):
    X, y = two_gaussians(60, 12, shift=0.4)
    order = np.random.default_rng(0).permutation(len(y))
    scores = make_estimator(name, random_state=0).fit(X, y).decision_function(X)
    shuffled = make_estimator(name, random_state=0).fit(X[order], y[order]).decision_function(X)
    np.testing.assert_allclose(shuffled, scores, atol=1e-9)


@pytest.mark.parametrize("name", DRAWN)
def test_the_global_random_state_is_neither_read_nor_changed(name):
    np.random.seed(1)
    expected, state = answer(name), np.random.get_state()[1].copy()
    np.random.seed(2)
    np.testing.assert_array_equal(answer(name), expected)
    np.random.seed(1)
    np.testing.assert_array_equal(np.random.get_state()[1], state)
