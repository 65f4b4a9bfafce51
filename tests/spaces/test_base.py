"""What several problems share is computed once; the memory rule."""

import sys
import threading

import numpy as np
import pytest

from semisvm.spaces import Features, Gram, Kernel, base, format_bytes, largest_block, memory_limit, nystroem
from semisvm.spaces.base import Memo


def test_results_are_computed_once_per_key():
    memo, computed = Memo(), []
    for _ in range(3):
        assert memo.once(("a", 1), lambda: computed.append("a") or "first") == "first"
    assert memo.once(("b", 1), lambda: computed.append("b") or "second") == "second"
    assert memo.once(("a", 1), lambda: computed.append("again")) == "first"
    assert computed == ["a", "b"]


def test_least_recently_used_result_is_dropped():
    memo, computed = Memo(), []
    for name in "abacabac":  # c replaces b, then b replaces c, then c replaces b
        memo.once((name,), lambda name=name: computed.append(name) or name)
    assert computed == ["a", "b", "c", "b", "c"]


def test_threads_at_the_same_time_share_one_computation():
    memo, computed, results = Memo(), [], []
    started, proceed = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert proceed.wait(10)
        computed.append(1)
        return object()

    threads = [threading.Thread(target=lambda: results.append(memo.once(("slow",), slow))) for _ in range(4)]
    for thread in threads:
        thread.start()
    assert started.wait(10)
    assert memo.once(("other",), lambda: "at once") == "at once"  # another key does not wait
    proceed.set()
    for thread in threads:
        thread.join(10)
    assert computed == [1]
    assert len(results) == 4
    assert all(result is results[0] for result in results)


def test_computation_that_fails_is_tried_again():
    memo = Memo()
    with pytest.raises(ZeroDivisionError):
        memo.once(("a",), lambda: 1 / 0)
    assert memo.once(("a",), lambda: 7) == 7


def test_every_space_remembers():
    X, rbf = np.random.default_rng(0).standard_normal((5, 4)), Kernel("rbf", 0.3)
    for space in (Gram(rbf, X), Features(X), nystroem(rbf, X, 3, rng=0)):
        assert space.once(("a",), object) is space.once(("a",), object)


def test_memory_limit_is_at_most_four_gib_or_what_the_environment_says(monkeypatch):
    monkeypatch.delenv("SEMISVM_MEMORY", raising=False)
    assert 0 < memory_limit() <= 4 * 2**30
    monkeypatch.setenv("SEMISVM_MEMORY", "1.5e9")
    assert memory_limit() == 1_500_000_000
    monkeypatch.setenv("SEMISVM_MEMORY", "inf")
    assert memory_limit() == sys.maxsize
    assert Gram(Kernel("rbf"), np.zeros((3, 1))).fits_memory


@pytest.mark.parametrize("given", ["much", "nan", "-1"])
def test_memory_limit_that_is_no_number_of_bytes_is_refused(monkeypatch, given):
    monkeypatch.setenv("SEMISVM_MEMORY", given)
    with pytest.raises(ValueError, match=f"SEMISVM_MEMORY='{given}' is not allowed; it takes a number of bytes"):
        memory_limit()


def test_the_largest_block_takes_the_memory_limit_and_has_a_floor(monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", str(8 * 1000**2))
    assert largest_block(8) == 1000
    assert largest_block(4) == 1414
    monkeypatch.setenv("SEMISVM_MEMORY", "0")
    assert largest_block(8) == 512


def test_sizes_are_written_in_the_largest_unit_that_fits():
    sizes = (0, 1023, 1024, 4_000_000, 2**30 - 2**20, 2**30, 3 * 2**29)
    expected = ["0 bytes", "1023 bytes", "1.0 KiB", "3.8 MiB", "1023.0 MiB", "1.0 GiB", "1.5 GiB"]
    assert [format_bytes(size) for size in sizes] == expected


@pytest.mark.parametrize("landmarks", ["random", "leverage", np.zeros((3, 4))], ids=["random", "leverage", "given"])
def test_features_beyond_the_memory_limit_are_refused(landmarks, monkeypatch):
    X = np.random.default_rng(0).standard_normal((20, 4))
    monkeypatch.setattr(base, "MIN_BLOCK", 1)
    monkeypatch.setenv("SEMISVM_MEMORY", "479")
    with pytest.raises(MemoryError, match=r"20 samples by 3 landmarks takes 480 bytes and the limit is 479 bytes\."):
        nystroem(Kernel("rbf", 0.3), X, 3, landmarks, rng=0)


def test_the_free_memory_is_looked_up_again_after_a_while(monkeypatch):
    monkeypatch.delenv("SEMISVM_MEMORY", raising=False)
    monkeypatch.setattr(base, "_last_look", (-np.inf, 0))
    now, texts = [0.0], iter(["MemTotal: 9 kB\nMemAvailable: 2048 kB\n", "MemAvailable: 4096 kB\n"])
    monkeypatch.setattr(base.time, "monotonic", lambda: now[0])
    monkeypatch.setattr(base.Path, "read_text", lambda path: next(texts))
    assert memory_limit() == memory_limit() == 2**20
    now[0] += 2.0 * base.LOOK_PERIOD
    assert memory_limit() == 2**21
