"""The choice of landmarks: how many, which, and from how many samples."""

import numpy as np
import pytest
from scipy import sparse

from factories import random_samples
from semisvm.spaces import Gram, Kernel
from semisvm.spaces.landmarks import choose_landmarks

RBF = Kernel("rbf", 0.3)
every_draw = pytest.mark.parametrize("method", ["kmeans++", "leverage", "random"])
every_space = pytest.mark.parametrize("kind", ["dense", "csr", "precomputed"])


def cluster_samples(n_clusters=6, n_each=30):
    centers = 100.0 * np.random.default_rng(7).standard_normal((n_clusters, 3))
    return np.repeat(centers, n_each, axis=0) + 0.01 * random_samples(n_clusters * n_each, 3, seed=8)


def make_gram(X, kind="dense", kernel=RBF):
    if kind == "precomputed":
        return Gram(Kernel("precomputed"), Gram(kernel, X).compute())
    return Gram(kernel, sparse.csr_array(X) if kind == "csr" else X)


def choose(gram, method, m, seed=0, labeled=None):
    return choose_landmarks(gram, method, m, labeled, np.random.default_rng(seed))


@every_draw
@every_space
def test_landmarks_are_distinct_samples_of_the_given_number(method, kind):
    gram = make_gram(random_samples(300), kind)
    for m in (1, 2, 12, 299, 300, 1000, None):  # 1 and 2 are chosen from some of the samples
        support = choose(gram, method, m)
        assert len(support) == min(m or 1000, 300)
        assert (np.diff(support) > 0).all()
        assert support[0] >= 0
        assert support[-1] < 300


@every_draw
def test_choice_depends_on_the_seed_and_not_on_the_container(method):
    dense, csr, precomputed = (
        choose(make_gram(random_samples(300), kind), method, 12) for kind in ("dense", "csr", "precomputed")
    )
    np.testing.assert_array_equal(dense, csr)
    np.testing.assert_array_equal(dense, precomputed)
    np.testing.assert_array_equal(choose(make_gram(random_samples(300)), method, 12), dense)
    assert (choose(make_gram(random_samples(300)), method, 12, seed=1) != dense).any()


@every_space
def test_labeled_samples_are_the_landmarks(kind):
    gram = make_gram(random_samples(80), kind)
    labeled = np.random.default_rng(1).random(80) < 0.4
    for m in (None, labeled.sum(), labeled.sum() + 1, 800):
        np.testing.assert_array_equal(choose(gram, "labeled", m, labeled=labeled), np.flatnonzero(labeled))
    drawn = [choose(gram, "labeled", 12, seed, labeled) for seed in (0, 0, 1)]
    assert labeled[drawn[0]].all()
    assert len(np.unique(drawn[0])) == 12
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    np.testing.assert_array_equal(choose(gram, "labeled", None), np.arange(80))


@every_space
def test_kmeans_plus_plus_takes_one_sample_of_each_cluster(kind):
    gram = make_gram(cluster_samples(), kind)
    for seed in range(5):
        np.testing.assert_array_equal(choose(gram, "kmeans++", 6, seed) // 30, np.arange(6))


def test_kmeans_plus_plus_finds_an_outlier():
    gram = make_gram(np.vstack([cluster_samples(1, 100), [[1e3, 0.0, 0.0]]]))
    assert all(100 in choose(gram, "kmeans++", 2 + seed, seed) for seed in range(10))
    assert sum(100 in choose(gram, "random", 2, seed) for seed in range(10)) < 5


def test_leverage_prefers_samples_that_others_cannot_represent():
    gram = make_gram(np.vstack([cluster_samples(1, 190), 50.0 * random_samples(10, 3, seed=9)]))  # and ten outliers
    share = {
        method: np.mean([choose(gram, method, 12, seed) >= 190 for seed in range(20)])
        for method in ("leverage", "random")
    }
    assert share["leverage"] > 0.7
    assert share["random"] < 0.15


@pytest.mark.parametrize("method", ["kmeans++", "leverage"])
def test_few_landmarks_are_chosen_from_some_of_the_samples(method):
    sizes = []

    def recorded(A, B):
        sizes.append(max(len(A), len(B)))
        return A @ B.T + 1.0

    support = choose(Gram(Kernel(recorded), random_samples(500)), method, 4)
    assert max(sizes) == 20 * 4
    assert support[-1] >= 80  # drawn from all samples, not the first ones


def test_random_landmarks_are_drawn_uniformly():
    counts, gram = np.zeros(20), make_gram(random_samples(20))
    for seed in range(400):
        counts[choose(gram, "random", 5, seed)] += 1
    assert (np.abs(counts - 100.0) < 40.0).all()  # more than four standard deviations
