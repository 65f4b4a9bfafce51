"""Kernels as tables of features against dense algebra; the choice of landmarks; things made once."""

import threading

import numpy as np
import pytest
from scipy import sparse

from semisvm import decision, spaces
from semisvm.featuremaps import kernel_pca, nystroem
from semisvm.kernels import Kernel
from semisvm.landmarks import LANDMARKS, choose
from semisvm.spaces import Features, Gram, Shared

N, M = 80, 12
RBF = Kernel("rbf", 0.3)


def as_array(rows):
    return rows.toarray() if sparse.issparse(rows) else np.asarray(rows)


def affine(A, B):
    """A kernel of the user's own, for dense and sparse tables."""
    product = A @ B.T
    return (product.toarray() if sparse.issparse(product) else product) + 1.0


KERNELS = [RBF, Kernel("linear"), Kernel("poly", 0.5, 1.0, 2), Kernel("laplacian", 0.4), Kernel(affine)]
DRAWN = ("kmeans++", "leverage", "random")

every_kernel = pytest.mark.parametrize("kernel", KERNELS, ids=["rbf", "linear", "poly", "laplacian", "function"])
every_choice = pytest.mark.parametrize("how", LANDMARKS)
every_draw = pytest.mark.parametrize("how", DRAWN)
every_input = pytest.mark.parametrize("kind", ["dense", "csr_matrix", "csr_array", "thin", "precomputed", "single"])


def random_rows(n=N, columns=4, seed=0):
    return np.random.default_rng(seed).standard_normal((n, columns))


def some_labeled(n=N):
    return np.random.default_rng(1).random(n) < 0.4


def true_kernel(kernel, A, B):
    A, B = (T.toarray() if sparse.issparse(T) else T for T in (A, B))
    squares = ((A[:, None] - B) ** 2).sum(axis=2)
    return {
        "rbf": lambda: np.exp(-kernel.gamma * squares),
        "laplacian": lambda: np.exp(-kernel.gamma * np.sqrt(squares)),
        "linear": lambda: A @ B.T,
        "poly": lambda: (kernel.gamma * A @ B.T + kernel.coef0) ** kernel.degree,
    }.get(kernel.name, lambda: A @ B.T + 1)()


def given_as(kind, X, kernel=RBF):
    """The same rows as another kind of input: kernel, table and the true kernel matrix."""
    if kind == "thin":  # so few numbers that the table stays sparse
        X = sparse.random_array((len(X), 100), density=0.03, format="csr", rng=np.random.default_rng(2))
        return kernel, X, true_kernel(kernel, X, X)
    K = true_kernel(kernel, X, X)
    if kind in ("precomputed", "single"):
        return Kernel("precomputed"), K.astype(np.float32) if kind == "single" else K, K
    return kernel, {"dense": np.asarray, "csr_matrix": sparse.csr_matrix, "csr_array": sparse.csr_array}[kind](X), K


def assert_close(found, expected, tolerance=1e-9):
    np.testing.assert_allclose(found, expected, rtol=0, atol=tolerance * max(1.0, np.abs(expected).max()))


# ---- features ----


@every_kernel
@every_choice
def test_with_all_rows_as_landmarks_the_features_give_the_kernel_back(kernel, how):
    X = random_rows()
    table = nystroem(kernel, X, N, how, rng=0)
    np.testing.assert_array_equal(table.support, np.arange(N))
    assert_close(table.X @ table.X.T, true_kernel(kernel, X, X))


@every_kernel
@every_choice
def test_features_are_what_the_landmarks_see_of_the_kernel(kernel, how):
    X = random_rows()
    K, table = true_kernel(kernel, X, X), nystroem(kernel, X, M, how, some_labeled(), rng=0)
    support = table.support
    assert len(support) == M
    expected = K[:, support] @ np.linalg.pinv(K[np.ix_(support, support)], rcond=1e-11, hermitian=True) @ K[support]
    assert_close(table.X @ table.X.T, expected)
    assert_close((table.X @ table.X.T)[support], K[support])  # exact where a landmark stands
    assert isinstance(table, Features)
    assert table.X.dtype == np.float64


@every_input
def test_features_do_not_depend_on_how_the_rows_come(kind):
    kernel, X, K = given_as(kind, random_rows())
    table = nystroem(kernel, X, M, rng=0)
    support = table.support
    expected = K[:, support] @ np.linalg.pinv(K[np.ix_(support, support)], hermitian=True) @ K[support]
    assert_close(table.X @ table.X.T, expected, tolerance=1e-4 if kind == "single" else 1e-9)
    if kind in ("precomputed", "single"):
        assert table.landmarks is None
    else:
        assert type(table.landmarks) is type(X)
        assert_close(true_kernel(RBF, table.landmarks, X), K[support])


@every_kernel
@pytest.mark.parametrize("given", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
def test_new_rows_get_the_features_of_the_map(kernel, given):
    X, new = random_rows() + 3.0, random_rows(15, seed=3) + 3.0
    for table in (nystroem(kernel, given(X), M, rng=0), kernel_pca(kernel, given(X), 3)):
        everyone, own = given(np.vstack([X, new])), table.landmarks
        assert_close(true_kernel(kernel, X, own) @ table.map, table.X, tolerance=1e-7)
        w = random_rows(1, table.X.shape[1], seed=4)
        scores = decision.kernel_scores(kernel, everyone, own, (table.kernel_coef(w.T)).T, np.array([0.3]))[:, 0]
        assert_close(scores[:N], table.X @ w[0] + 0.3, tolerance=1e-7)
        assert_close(scores[N:], true_kernel(kernel, new, own) @ table.map @ w[0] + 0.3, tolerance=1e-7)


@every_kernel
def test_landmarks_may_be_given_as_rows(kernel):
    X, own = random_rows() + 2.0, random_rows(M, seed=5) + 2.0
    table = nystroem(kernel, X, landmarks=own)
    cross, corner = true_kernel(kernel, X, own), true_kernel(kernel, own, own)
    assert_close(table.X @ table.X.T, cross @ np.linalg.pinv(corner, rcond=1e-11, hermitian=True) @ cross.T)
    assert_close(cross @ table.map, table.X)
    assert table.support is None
    assert table.landmarks is own
    whole = nystroem(kernel, X, landmarks=X)
    assert_close(whole.X @ whole.X.T, true_kernel(kernel, X, X))


@pytest.mark.parametrize("kernel", KERNELS[:4], ids=["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("rows", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
@pytest.mark.parametrize("own", [np.asarray, sparse.csr_array, sparse.csr_matrix], ids=["dense", "array", "matrix"])
def test_given_landmarks_may_be_sparse_or_dense_whatever_the_rows_are(kernel, rows, own):
    X = random_rows(30)
    table = nystroem(kernel, rows(X), landmarks=own(X[:M]))
    expected = nystroem(kernel, X, landmarks=X[:M])
    assert type(table.X) is np.ndarray
    assert_close(table.X @ table.X.T, expected.X @ expected.X.T)


def test_given_landmarks_are_refused_with_a_precomputed_kernel():
    K = true_kernel(RBF, random_rows(), random_rows())
    with pytest.raises(ValueError, match="precomputed kernel cannot place"):
        nystroem(Kernel("precomputed"), K, landmarks=K[:3])


def test_rows_far_from_the_origin_keep_their_features():
    near, far = random_rows(), random_rows() + 1e6
    one, other = nystroem(RBF, near, M, rng=0), nystroem(RBF, far, M, rng=0)
    np.testing.assert_array_equal(one.support, other.support)
    assert_close(other.X @ other.X.T, one.X @ one.X.T, tolerance=1e-6)
    given = nystroem(RBF, far, landmarks=far[one.support])
    assert_close(given.X @ given.X.T, one.X @ one.X.T, tolerance=1e-6)


def test_many_rows_are_mapped_block_by_block(monkeypatch):
    X = random_rows()
    expected = nystroem(RBF, X, M, rng=0)
    monkeypatch.setattr(spaces, "TILE", 11)
    found = nystroem(RBF, X, M, rng=0)
    np.testing.assert_array_equal(found.support, expected.support)
    assert_close(found.X @ found.X.T, expected.X @ expected.X.T)


def test_kernels_in_float32_give_features_close_to_those_in_float64(monkeypatch):
    X = random_rows()
    expected = nystroem(RBF, X, M, rng=0).X, kernel_pca(RBF, X, M).X
    monkeypatch.setattr(spaces, "EXACT_ROWS", 10)
    found = nystroem(RBF, X, M, rng=0), kernel_pca(RBF, X, M)
    for table, Z in zip(found, expected):
        assert table.X.dtype == np.float64
        assert_close(table.X @ table.X.T, Z @ Z.T, tolerance=1e-4)


@every_kernel
@pytest.mark.parametrize("r", [1, 3, 20, N, N + 5])
def test_kernel_pca_is_the_best_table_of_its_width(kernel, r):
    X = random_rows()
    K, table = true_kernel(kernel, X, X), kernel_pca(kernel, X, r)
    d, U = np.linalg.eigh(K)
    best = (U[:, -r:] * d[-r:]) @ U[:, -r:].T if r < N else K
    assert_close(table.X @ table.X.T, best)
    assert table.X.shape[1] == min(r, np.linalg.matrix_rank(K, tol=1e-10))
    sizes = np.square(table.X).sum(axis=0)
    assert_close(sizes, d[::-1][: len(sizes)])
    assert (np.diff(sizes) <= 1e-9 * sizes[0]).all()
    assert_close(table.X.T @ table.X, np.diag(sizes))


@every_input
def test_kernel_pca_takes_every_kind_of_rows(kind):
    kernel, X, K = given_as(kind, random_rows())
    table = kernel_pca(kernel, X, M)
    d, U = np.linalg.eigh(K)
    close = 1e-5 if kind == "single" else 1e-9
    assert_close(table.X @ table.X.T, (U[:, -M:] * d[-M:]) @ U[:, -M:].T, tolerance=close)
    assert_close(K @ table.map, table.X, tolerance=close)
    np.testing.assert_array_equal(table.support, np.arange(N))
    if kind in ("precomputed", "single"):
        assert table.landmarks is None
    else:  # a copy: a table that changes later does not change the machine
        assert table.landmarks is not X
        np.testing.assert_array_equal(as_array(table.landmarks), as_array(X))


def test_the_signs_of_components_do_not_depend_on_the_order_of_rows():
    X, order = random_rows(), np.random.default_rng(6).permutation(N)
    one, other = kernel_pca(RBF, X, 5), kernel_pca(RBF, X[order], 5)
    assert_close(other.X, one.X[order], tolerance=1e-7)
    assert (one.X[np.abs(one.X).argmax(axis=0), np.arange(5)] > 0).all()


@every_choice
def test_a_kernel_of_zeros_is_refused(how):
    with pytest.raises(ValueError, match="every kernel value is zero"):
        nystroem(Kernel("linear"), np.zeros((N, 3)), M, how, rng=0)
    with pytest.raises(ValueError, match="every kernel value is zero"):
        kernel_pca(Kernel("linear"), np.zeros((N, 3)), M)


# ---- landmarks ----


@every_draw
@every_input
def test_landmarks_are_as_many_distinct_rows_as_asked_for(how, kind):
    kernel, X, _ = given_as(kind, random_rows(300))
    for m in (1, 2, M, 299, 300, 1000, None):  # 1 and 2 see a part of the rows only
        support = choose(Gram(kernel, X), how, m, None, np.random.default_rng(0))
        assert len(support) == min(m or 1000, 300)
        assert (np.diff(support) > 0).all()
        assert support[0] >= 0
        assert support[-1] < 300


@every_draw
@every_input
def test_the_same_seed_chooses_the_same_landmarks(how, kind):
    kernel, X, _ = given_as(kind, random_rows())
    one, same, other = (nystroem(kernel, X, M, how, rng=seed) for seed in (0, 0, 1))
    np.testing.assert_array_equal(one.support, same.support)
    np.testing.assert_array_equal(one.X, same.X)
    assert (one.support != other.support).any()


@every_draw
def test_sparse_dense_and_precomputed_rows_choose_alike(how):
    supports = []
    for kind in ("dense", "csr_array", "precomputed"):
        kernel, X, _ = given_as(kind, random_rows(300))
        supports.append(nystroem(kernel, X, M, how, rng=0).support)
    np.testing.assert_array_equal(supports[0], supports[1])
    np.testing.assert_array_equal(supports[0], supports[2])


@pytest.mark.parametrize("kind", ["dense", "csr_array", "precomputed"])
def test_labeled_rows_are_the_landmarks(kind):
    kernel, X, _ = given_as(kind, random_rows())
    labeled = some_labeled()
    for m in (None, labeled.sum(), labeled.sum() + 1, 10 * N):
        table = nystroem(kernel, X, m, "labeled", labeled, rng=0)
        np.testing.assert_array_equal(table.support, np.flatnonzero(labeled))
    drawn = [nystroem(kernel, X, M, "labeled", labeled, rng=seed).support for seed in (0, 0, 1)]
    assert labeled[drawn[0]].all()
    assert len(drawn[0]) == len(np.unique(drawn[0])) == M
    np.testing.assert_array_equal(drawn[0], drawn[1])
    assert (drawn[0] != drawn[2]).any()
    np.testing.assert_array_equal(nystroem(kernel, X, None, "labeled", rng=0).support, np.arange(N))


@every_draw
@pytest.mark.parametrize("kernel", KERNELS[:4], ids=["rbf", "linear", "poly", "laplacian"])
@pytest.mark.parametrize("kind", ["dense", "csr_array", "precomputed"])
def test_equal_rows_make_no_harm(how, kernel, kind):
    rows = np.repeat(random_rows(7), 20, axis=0)  # 140 rows, 7 of them different
    kernel, X, K = given_as(kind, rows, kernel)
    for m in (7, 30):
        table = nystroem(kernel, X, m, how, rng=0)
        support = table.support
        assert len(np.unique(support)) == m
        seen = np.unique(support // 20)
        assert table.X.shape[1] == np.linalg.matrix_rank(K[np.ix_(20 * seen, 20 * seen)], tol=1e-9)
        assert_close((table.X @ table.X.T)[support], K[support])
        if how == "kmeans++":
            np.testing.assert_array_equal(seen, np.arange(7))
            assert_close(table.X @ table.X.T, K)


def clustered(clusters=6, each=30, spread=0.01):
    centres = 100.0 * np.random.default_rng(7).standard_normal((clusters, 3))
    return np.repeat(centres, each, axis=0) + spread * random_rows(clusters * each, 3, seed=8)


@pytest.mark.parametrize("kind", ["dense", "csr_array", "precomputed"])
def test_kmeans_plus_plus_takes_one_row_of_each_cluster(kind):
    kernel, X, _ = given_as(kind, clustered())
    for seed in range(5):
        support = nystroem(kernel, X, 6, "kmeans++", rng=seed).support
        np.testing.assert_array_equal(support // 30, np.arange(6))


def test_kmeans_plus_plus_sees_a_row_that_stands_alone():
    X = np.vstack([clustered(1, 100), [[1e3, 0.0, 0.0]]])
    assert all(100 in nystroem(RBF, X, 2 + seed, "kmeans++", rng=seed).support for seed in range(10))
    assert sum(100 in nystroem(RBF, X, 2, "random", rng=seed).support for seed in range(10)) < 5


def test_leverage_prefers_rows_that_others_cannot_stand_for():
    X = np.vstack([clustered(1, 190), 50.0 * random_rows(10, 3, seed=9)])  # a heap and ten loners
    drawn = [np.mean(nystroem(RBF, X, 12, "leverage", rng=seed).support >= 190) for seed in range(20)]
    alike = [np.mean(nystroem(RBF, X, 12, "random", rng=seed).support >= 190) for seed in range(20)]
    assert np.mean(drawn) > 0.7
    assert np.mean(alike) < 0.15


@pytest.mark.parametrize("how", ["kmeans++", "leverage"])
def test_few_landmarks_are_chosen_from_a_part_of_the_rows(how):
    sizes = []

    def recorded(A, B):
        sizes.append(max(len(A), len(B)))
        return affine(A, B)

    support = choose(Gram(Kernel(recorded), random_rows(500)), how, 4, None, np.random.default_rng(0))
    assert max(sizes) == 20 * 4
    assert support[-1] >= 80  # a part drawn from all rows, not the first ones


def test_random_landmarks_are_drawn_alike():
    counts = np.zeros(20)
    for seed in range(400):
        counts[choose(Gram(RBF, random_rows(20)), "random", 5, None, np.random.default_rng(seed))] += 1
    assert (np.abs(counts - 100.0) < 40.0).all()  # more than four standard deviations


# ---- made once ----


def test_what_is_shared_is_made_once():
    shared, made = Shared(), []
    for _ in range(3):
        assert shared.once(("a", 1), lambda: made.append("a") or "first") == "first"
    assert shared.once(("b", 1), lambda: made.append("b") or "second") == "second"
    assert shared.once(("a", 1), lambda: made.append("again")) == "first"
    assert made == ["a", "b"]


def test_the_one_asked_for_longest_ago_is_forgotten():
    shared, made = Shared(), []

    def ask(name):
        shared.once((name,), lambda: made.append(name) or name)

    for name in "abacab":  # c pushes out b, which was asked for before a; then b pushes out c
        ask(name)
    assert made == ["a", "b", "c", "b"]
    ask("a")
    assert made == ["a", "b", "c", "b"]
    ask("c")
    assert made == ["a", "b", "c", "b", "c"]


def test_threads_that_ask_together_share_one_making():
    shared, made, got = Shared(), [], []
    started, go = threading.Event(), threading.Event()

    def slow():
        started.set()
        assert go.wait(10)
        made.append(1)
        return object()

    def ask():
        got.append(shared.once(("slow",), slow))

    asking = [threading.Thread(target=ask) for _ in range(4)]
    for thread in asking:
        thread.start()
    assert started.wait(10)
    assert shared.once(("other",), lambda: "at once") == "at once"  # another key does not wait
    go.set()
    for thread in asking:
        thread.join(10)
    assert len(got) == 4
    assert made == [1]
    assert all(one is got[0] for one in got)


def test_a_making_that_fails_is_tried_again():
    shared = Shared()
    with pytest.raises(ZeroDivisionError):
        shared.once(("a",), lambda: 1 / 0)
    assert shared.once(("a",), lambda: 7) == 7


def test_every_space_shares():
    for space in (Gram(RBF, random_rows(5)), Features(random_rows(5)), nystroem(RBF, random_rows(5), 3, rng=0)):
        first = space.once(("a",), object)
        assert space.once(("a",), object) is first
