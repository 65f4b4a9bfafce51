"""Nystroem features against dense algebra."""

import numpy as np
import pytest
from scipy import sparse

from factories import CONTAINERS, random_samples
from references import assert_close, kernel_matrix
from semisvm import _threads
from semisvm.spaces import LANDMARKS, Features, Kernel, gram, kernel_pca, nystroem
from semisvm.spaces.prediction import kernel_scores

N, M = 80, 12
RBF = Kernel("rbf", 0.3)
PRECOMPUTED = Kernel("precomputed")


def affine(A, B):
    """A kernel that a user may pass, for dense and sparse samples."""
    product = A @ B.T
    return (product.toarray() if sparse.issparse(product) else product) + 1.0


NAMED = [Kernel("linear"), RBF, Kernel("poly", 0.5, 1.0, 2), Kernel("laplacian", 0.4)]
every_kernel = pytest.mark.parametrize("kernel", [*NAMED, Kernel(affine)], ids=[*(k.name for k in NAMED), "function"])
every_choice = pytest.mark.parametrize("landmarks", LANDMARKS)
every_container = pytest.mark.parametrize("container", CONTAINERS)


def from_landmarks(cross, corner):
    """K_nm K_mm^+ K_mn."""
    return cross @ np.linalg.pinv(corner, rcond=1e-11, hermitian=True) @ cross.T


@every_kernel
@every_choice
def test_features_are_what_the_landmarks_represent_of_the_kernel(kernel, landmarks):
    X, labeled = random_samples(N), np.random.default_rng(1).random(N) < 0.4
    K, space = kernel_matrix(kernel, X), nystroem(kernel, X, M, landmarks, labeled, rng=0)
    support = space.support
    assert len(support) == M
    assert isinstance(space, Features)
    assert space.X.dtype == np.float64
    assert_close(space.X @ space.X.T, from_landmarks(K[:, support], K[np.ix_(support, support)]))
    assert_close((space.X @ space.X.T)[support], K[support])  # exact at a landmark
    whole = nystroem(kernel, X, N, landmarks, rng=0)
    np.testing.assert_array_equal(whole.support, np.arange(N))
    assert_close(whole.X @ whole.X.T, K)


@pytest.mark.parametrize("features", [nystroem, kernel_pca])
@pytest.mark.parametrize("kind", [*CONTAINERS, "few entries", "precomputed", "float32"])
def test_features_do_not_depend_on_the_container(features, kind):
    X = random_samples(N)
    if kind == "few entries":  # so few that the samples stay sparse
        X = sparse.random_array((N, 100), density=0.03, format="csr", random_state=np.random.default_rng(2))
    K = kernel_matrix(RBF, X)
    given = {"few entries": X, "precomputed": K, "float32": K.astype(np.float32)}
    given = given[kind] if kind in given else CONTAINERS[kind](X)
    precomputed, tolerance = kind in ("precomputed", "float32"), 1e-4 if kind == "float32" else 1e-9
    random = {"rng": 0} if features is nystroem else {}
    space, same = (features(PRECOMPUTED if precomputed else RBF, given, M, **random) for _ in range(2))
    np.testing.assert_array_equal(same.X, space.X)
    assert_close(K[:, space.support] @ space.transform, space.X, tolerance)
    if features is nystroem:
        expected = from_landmarks(K[:, space.support], K[np.ix_(space.support, space.support)])
    else:
        d, U = np.linalg.eigh(K)
        expected = (U[:, -M:] * d[-M:]) @ U[:, -M:].T
        np.testing.assert_array_equal(space.support, np.arange(N))
    assert_close(space.X @ space.X.T, expected, tolerance)
    if precomputed:
        assert space.landmarks is None
    else:  # copies: an array that changes later does not change the model
        assert type(space.landmarks) is type(given)
        assert space.landmarks is not given
        assert_close(kernel_matrix(RBF, space.landmarks, X), K[space.support])


@every_kernel
@every_container
def test_new_samples_are_mapped_as_the_training_samples_are(kernel, container):
    X, new, to = random_samples(N) + 3.0, random_samples(15, seed=3) + 3.0, CONTAINERS[container]
    for space in (nystroem(kernel, to(X), M, rng=0), kernel_pca(kernel, to(X), 3)):
        Z = kernel_matrix(kernel, np.vstack([X, new]), space.landmarks) @ space.transform
        assert_close(Z[:N], space.X, 1e-7)
        w = np.random.default_rng(4).standard_normal(Z.shape[1])
        coef = space.landmark_coef(w)[None]
        found = kernel_scores(kernel, to(np.vstack([X, new])), space.landmarks, coef, np.array([0.3]))
        assert_close(found[:, 0], Z @ w + 0.3, 1e-7)


@every_kernel
def test_landmarks_may_be_given_as_samples_in_any_container(kernel):
    X, landmarks = random_samples(N) + 2.0, random_samples(M, seed=5) + 2.0
    space = nystroem(kernel, X, landmarks=landmarks)
    cross = kernel_matrix(kernel, X, landmarks)
    assert_close(space.X @ space.X.T, from_landmarks(cross, kernel_matrix(kernel, landmarks)))
    assert_close(cross @ space.transform, space.X)
    assert space.support is None
    assert space.landmarks is landmarks
    for to in CONTAINERS.values() if kernel in NAMED else ():
        for to_other in CONTAINERS.values():
            mixed = nystroem(kernel, to(X), landmarks=to_other(landmarks))
            assert type(mixed.X) is np.ndarray
            assert_close(mixed.X @ mixed.X.T, space.X @ space.X.T)


def test_samples_far_from_the_origin_keep_their_features():
    near, far = random_samples(N), random_samples(N) + 1e6
    one, other = nystroem(RBF, near, M, rng=0), nystroem(RBF, far, M, rng=0)
    np.testing.assert_array_equal(one.support, other.support)
    for space in (other, nystroem(RBF, far, landmarks=far[one.support])):
        assert_close(space.X @ space.X.T, one.X @ one.X.T, 1e-6)


def test_blocks_of_samples_and_kernel_values_in_float32_give_the_same_features(monkeypatch):
    X = random_samples(N)
    expected = [nystroem(RBF, X, M, rng=0).X, kernel_pca(RBF, X, M).X]
    monkeypatch.setattr(_threads, "TILE", 11)
    tiled = nystroem(RBF, X, M, rng=0).X
    assert_close(tiled @ tiled.T, expected[0] @ expected[0].T)  # eigenvectors have no sign of their own
    monkeypatch.setattr(gram, "FLOAT64_SAMPLES", 10)
    for space, Z in zip((nystroem(RBF, X, M, rng=0), kernel_pca(RBF, X, M)), expected):
        assert space.X.dtype == np.float64
        assert_close(space.X @ space.X.T, Z @ Z.T, 1e-4)


@pytest.mark.parametrize("landmarks", ["kmeans++", "leverage", "random"])
@pytest.mark.parametrize("kernel", NAMED, ids=[kernel.name for kernel in NAMED])
def test_equal_samples_add_no_features(landmarks, kernel):
    X = np.repeat(random_samples(7), 20, axis=0)  # 140 samples, 7 of them distinct
    K = kernel_matrix(kernel, X)
    for given in (X, sparse.csr_array(X), K):
        space = nystroem(PRECOMPUTED if given is K else kernel, given, 30, landmarks, rng=0)
        distinct = 20 * np.unique(space.support // 20)
        assert space.X.shape[1] == np.linalg.matrix_rank(K[np.ix_(distinct, distinct)], tol=1e-9)
        assert_close((space.X @ space.X.T)[space.support], K[space.support])
        if landmarks == "kmeans++":
            assert_close(space.X @ space.X.T, K)


def test_kernels_without_features_are_refused():
    for features in (nystroem, kernel_pca):
        with pytest.raises(ValueError, match="every kernel value is zero"):
            features(Kernel("linear"), np.zeros((N, 3)), M)
        with pytest.raises(ValueError, match=r"'multiquadric'.*no features of its own. Use approximation=None or an"):
            features(Kernel("multiquadric", coef0=1.0), random_samples(N))
    with pytest.raises(ValueError, match="landmarks were given as samples and a precomputed kernel has none"):
        nystroem(PRECOMPUTED, np.eye(N), landmarks=np.eye(N)[:3])
