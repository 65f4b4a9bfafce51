"""What a KernelCache keeps, what it drops, and what it takes for the same samples."""

import copy
import pickle
from concurrent.futures import ThreadPoolExecutor
from threading import Barrier

import numpy as np
import pytest
from scipy import sparse
from sklearn.base import clone

from factories import random_samples
from semisvm import KernelCache
from semisvm.spaces import Features, Gram, Kernel, SampleResults
from semisvm.spaces.cache import ENTRY_BYTES, digest, held_bytes

X = random_samples(30)


def ask(cache, *names, X=X, n_bytes=0):
    """The names that had to be computed when results of so many bytes were asked for by these names, in turn."""
    computed = []
    for name in names:
        SampleResults(X, cache).once((name,), lambda X, name=name: computed.append(name) or np.zeros(n_bytes, np.int8))
    return "".join(computed)


def test_results_of_equal_values_and_keys_are_computed_once():
    cache = KernelCache()
    assert ask(cache, *"abab") == "ab"
    assert ask(cache, *"ab", X=X.copy()) == ""
    assert (cache.n_computed, cache.n_reused) == (2, 4)
    assert ask(None, *"aa") == "aa"


def test_other_values_shapes_and_types_are_other_samples():
    changed = X.copy()
    changed[-1, -1] = np.nextafter(changed[-1, -1], 9.0)
    csr = sparse.csr_array(X)
    moved = csr.copy()
    moved.indices = moved.indices[::-1].copy()
    others = [X, changed, X.T, X.reshape(-1, 1), X.astype(np.float32), X.view(np.int64), X[:-1], csr, moved, csr[:, :3]]
    assert len({digest(one) for one in others}) == len(others)
    assert digest(np.asfortranarray(X)) == digest(X[:]) == digest(np.repeat(X, 2, axis=0)[::2])
    assert digest(sparse.csr_array(X)) == digest(csr)


def test_arrays_in_a_key_count_by_their_values():
    cache, weights = KernelCache(), np.ones(30)

    def total():
        return SampleResults(X, cache).once(("total", weights), lambda X: weights.sum())

    assert total() == 30.0
    weights[0] = 3.0
    assert total() == 32.0


def test_least_recently_used_results_are_dropped_beyond_the_limit():
    cache = KernelCache(max_bytes=3 * (1000 + ENTRY_BYTES))
    assert ask(cache, *"abcabcadabc", n_bytes=1000) == "abcdbc"  # d replaces b, b replaces c, and c replaces d
    assert ask(cache, "a", "b", "c", "x", "x", n_bytes=1000) == "x"
    assert ask(KernelCache(max_bytes=0), *"aabba", n_bytes=1000) == "aba"  # the last one stays, whatever it takes


def test_a_result_that_grows_makes_others_go():
    cache = KernelCache(max_bytes=9 * 300**2)
    few, many = random_samples(50), random_samples(300)

    def gram(X):
        return SampleResults(X, cache).once(("gram",), lambda X: Gram(Kernel("rbf"), X))

    first = gram(few)
    assert gram(many) is gram(many)
    assert gram(few) is first
    gram(many).compute()
    assert gram(many).is_computed
    gram(few).compute()
    assert gram(few) is first  # 8 x 300^2 bytes and those of few samples fit
    other = SampleResults(random_samples(299, seed=1), cache).once(("gram",), lambda X: Gram(Kernel("rbf"), X))
    other.compute()
    assert gram(few) is first
    assert not gram(many).is_computed  # dropped, and built again


def test_limit_is_the_memory_rule_unless_one_is_given(monkeypatch):
    cache = KernelCache()
    monkeypatch.setenv("SEMISVM_MEMORY", "3e3")
    assert ask(cache, *"abab", n_bytes=1000) == "abab"
    monkeypatch.setenv("SEMISVM_MEMORY", "5e3")
    assert ask(cache, *"abab", n_bytes=1000) == "a"


def test_bytes_are_those_of_all_arrays_once():
    K, samples = Gram(Kernel("rbf"), X), X.nbytes
    before = held_bytes(K, set())
    assert before == 2 * samples + K.samples.squared_norms.nbytes + K.center.nbytes
    K.compute()
    K.once(("a",), lambda: {"view": K.compute()[:5], "own": [np.zeros(7)]})
    assert held_bytes(K, set()) == before + 8 * 30**2 + 56
    csr = sparse.csr_array(X)
    assert held_bytes(Features(csr), set()) == csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes


def test_threads_that_ask_together_compute_once():
    cache, barrier = KernelCache(), Barrier(4)

    def asked(name):
        barrier.wait()
        return SampleResults(X, cache).once((name,), lambda X: Gram(Kernel("rbf"), X)).compute()

    with ThreadPoolExecutor(4) as pool:
        found = list(pool.map(asked, "aabb"))
    assert found[0] is found[1]
    assert found[2] is found[3]
    assert (cache.n_computed, cache.n_reused) == (2, 2)


def test_what_is_kept_has_samples_of_its_own():
    cache, own = KernelCache(), X.copy()
    kept = SampleResults(own, cache).once(("features",), Features, holds_samples=True)
    own *= 2.0
    np.testing.assert_array_equal(kept.X, X)
    assert SampleResults(X, cache).once(("features",), Features) is kept


def test_clones_are_the_cache_and_copies_are_empty():
    cache = KernelCache(max_bytes=1e6)
    ask(cache, "a", n_bytes=1000)
    assert clone(cache) is cache
    for other in (pickle.loads(pickle.dumps(cache)), copy.deepcopy(cache), copy.copy(cache)):
        assert other is not cache
        assert other.max_bytes == 1e6
        assert ask(other, "a") == "a"
    assert len(pickle.dumps(cache)) < 150
    assert ask(cache, "a") == ""
    cache.clear()
    assert ask(cache, "a") == "a"


def test_repr_and_refusal():
    assert repr(KernelCache()) == "KernelCache()"
    assert repr(KernelCache(max_bytes=1e9)) == "KernelCache(max_bytes=1000000000.0)"
    with pytest.raises(ValueError, match=r"max_bytes=-1 is not allowed; max_bytes takes a number in \[0, inf\] or N"):
        KernelCache(max_bytes=-1)
