"""Least squares on samples in blocks against dense inverses, all labelings, and the searches in memory."""

from dataclasses import replace

import numpy as np
import pytest
from scipy import sparse

from factories import INTERCEPTS, random_costs, random_labels, random_samples
from references import assert_close, label_form, labeling_values
from semisvm import DCLSSVM, LSSVM, LocalSearchRLSC, ProgressiveLSSVM, SwitchingLSSVM, parallel
from semisvm.balance import Count, Free
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Squared, SymmetricSquared
from semisvm.parallel.design_matrix import BlockedDesign
from semisvm.parallel.execution import Threads
from semisvm.parallel.fitting import blocked_samples
from semisvm.problem import Problem, objective
from semisvm.solvers import LabelSearch
from semisvm.solvers.least_squares import label_search, streamed_labelings
from semisvm.solvers.least_squares.low_rank_form import LowRankForm
from semisvm.spaces import DesignMatrix, Features

FREE = Free()
N, BLOCK = 240, 30
every_intercept = pytest.mark.parametrize("intercept", INTERCEPTS, ids=str)


def gaussians(n=N, d=6, labeled=40, seed=0):
    X, y = make_two_gaussians(n, d, random_state=seed)
    return X, hide_labels(y, labeled, random_state=seed)


def three_classes(n=N, seed=0):
    rng = np.random.default_rng(seed)
    y = rng.integers(0, 3, n)
    partial = np.full(n, -1)
    partial[:45] = y[:45]
    return rng.normal(size=(n, 4)) + 1.5 * np.eye(4)[y], partial


def sparse_samples():
    X, y = gaussians()
    return sparse.csr_array(np.where(np.abs(X) > 0.7, X, 0.0)), y


def mapped(folder, X):
    """The samples as a file that is mapped into memory."""
    np.save(folder / "X.npy", X)
    return np.load(folder / "X.npy", mmap_mode="r")


def some_weights(y):
    weights = np.random.default_rng(1).integers(0, 3, len(y)).astype(float)
    return np.where(y >= 0, 1.0 + weights, weights)


def assert_same_model(found, expected, rtol=1e-9):
    assert pytest.approx(expected.C_, rel=1e-12) == found.C_
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=rtol)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    np.testing.assert_allclose(found.intercept_, expected.intercept_, rtol=1e-6, atol=1e-8)
    np.testing.assert_allclose(found.dual_coef_, expected.dual_coef_, rtol=1e-6, atol=1e-8)
    np.testing.assert_array_equal(found.support_, expected.support_)
    assert found.converged_ == expected.converged_


@every_intercept
@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array], ids=["dense", "csr"])
@pytest.mark.parametrize("part", [False, True], ids=["all", "part"])
def test_form_of_blocks_is_the_dense_inverse(contain, part, intercept, monkeypatch):
    monkeypatch.setattr("semisvm.parallel.tasks.TILE_ROWS", 7)
    Z = random_samples(80)
    chosen = np.flatnonzero(np.arange(80) % 4 != 1) if part else np.arange(80)
    cost, y = random_costs(len(chosen)), random_labels((len(chosen), 2))
    S = label_form(Z[chosen] @ Z[chosen].T, cost, intercept)
    with blocked_samples(contain(Z)) as samples:
        form = LowRankForm(BlockedDesign(samples).take(chosen), cost, intercept)
        plain = LowRankForm(DesignMatrix(Z[chosen]), cost, intercept)
        assert not form.Z.in_memory
        assert_close(form.product(y), S @ y)
        assert_close(form.product(y[:, 0]), S @ y[:, 0])
        assert_close(form.diagonal(), S.diagonal())
        some, others = np.array([31, 2, 17]), np.array([3, 17])
        assert_close(form.block(some), S[np.ix_(some, some)])
        assert_close(form.block(some, others), S[np.ix_(some, others)])
        assert form.log_det == pytest.approx(plain.log_det, rel=1e-12)
        few = np.array([5])
        assert_close(form.Z.take(few).product(np.ones(form.rank)), Z[chosen][few].sum(axis=1))


@every_intercept
@pytest.mark.parametrize("cls", [LSSVM, DCLSSVM])
def test_closed_form_and_fits_to_signs_are_those_of_memory(cls, intercept, tmp_path):
    X, y = gaussians()
    for weights in (None, some_weights(y)):
        model = cls(kernel="linear", fit_intercept=intercept)
        expected = cls(**model.get_params()).fit(X, y, weights)
        found = parallel.fit(model, mapped(tmp_path, X), y, weights)
        assert_same_model(found, expected)
        np.testing.assert_allclose(found.predict_proba(X), expected.predict_proba(X), rtol=1e-6)


@pytest.mark.parametrize("cls", [LSSVM, DCLSSVM])
@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
def test_several_classes_and_sparse_samples(cls, multiclass):
    for X, y in (three_classes(), sparse_samples()):
        model = cls(kernel="linear", multiclass=multiclass)
        assert_same_model(parallel.fit(model, X, y), cls(**model.get_params()).fit(X, y))


@pytest.mark.parametrize("cls", [LSSVM, DCLSSVM, LocalSearchRLSC])
def test_nystroem_features_with_the_landmarks_of_memory(cls, tmp_path):
    X, y = gaussians()
    model = cls(approximation="nystroem", n_components=20, random_state=3)
    expected = cls(**model.get_params()).fit(X, y)
    found = parallel.fit(model, mapped(tmp_path, X), y)
    np.testing.assert_array_equal(found.support_, expected.support_)
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=1e-2 if cls is LocalSearchRLSC else 1e-9)
    if cls is not LocalSearchRLSC:
        np.testing.assert_array_equal(found.transduction_, expected.transduction_)


def test_all_samples_labeled_take_sums_alone(monkeypatch):
    """All but those that show the scale of the features, and those of the calibration."""
    X, y = make_two_gaussians(1500, 6, random_state=0)
    monkeypatch.setattr("semisvm.parallel.fitting.KEPT_BYTES", 0)
    monkeypatch.setattr("semisvm.parallel.fitting.N_CALIBRATION", 30)
    taken, take = [], parallel.samples.BlockedSamples._take

    def counted(samples, positions):
        taken.append(len(positions))
        return take(samples, positions)

    monkeypatch.setattr(parallel.samples.BlockedSamples, "_take", counted)
    assert_same_model(parallel.fit(LSSVM(kernel="linear"), X, y), LSSVM(kernel="linear").fit(X, y))
    assert sorted(taken)[-2:] == [30, 1000]


def problem_in(space, y, balance=FREE, intercept=True, weights=None, C_unlabeled=0.8):
    cost = np.where(y != 0, 1.0, C_unlabeled) * (1.0 if weights is None else weights)
    return Problem(space, y, cost, Squared(), SymmetricSquared(), balance, intercept, weights)


def blockwise(f):
    """The order of a sweep by blocks, each the least certain samples first, where whole blocks are searched."""
    return np.concatenate([start + np.argsort(np.abs(f[start : start + BLOCK])) for start in range(0, len(f), BLOCK)])


@every_intercept
@pytest.mark.parametrize("balance", [Free(), Count(0.5, 0.05), Count(0.45)], ids=["free", "slack", "count"])
@pytest.mark.parametrize("uneven", [False, True], ids=["equal", "uneven"])
def test_search_by_blocks_is_the_search_in_memory_in_that_order(balance, intercept, uneven, monkeypatch):
    """The unlabeled samples are 8 blocks, the labeled ones a block of their own."""
    X, y = make_two_gaussians(N + BLOCK, 6, random_state=2)
    signs = np.r_[np.where(y[:BLOCK] == 2, 1.0, -1.0), np.zeros(N)]
    weights = np.random.default_rng(0).uniform(0.5, 2.0, len(y)) if uneven else None
    monkeypatch.setattr("semisvm.parallel.reading.BLOCK_BYTES", BLOCK * 6 * 8)
    monkeypatch.setattr(label_search, "_least_certain_first", blockwise)
    solver, in_memory = LabelSearch(n_init=4), problem_in(Features(X), signs, balance, intercept, weights)
    expected = solver.solve(in_memory, rng=0)
    with blocked_samples(X) as samples:
        assert [block.load().shape[0] for block in samples.blocks] == [BLOCK] * 9
        problem = replace(in_memory, space=Features(samples, None, BlockedDesign(samples)))
        found = solver.solve(problem, rng=0)
    np.testing.assert_array_equal(found.labels, expected.labels)
    assert found.objective == pytest.approx(expected.objective, rel=1e-11)
    assert [row["flips"] for row in found.trace] == [row["flips"] for row in expected.trace]
    assert found.certificate == expected.certificate
    assert found.certificate.kind == "no_flip"
    assert objective(in_memory, found.coef, found.intercept, found.labels) == pytest.approx(found.objective, rel=1e-11)
    alpha = label_form(X @ X.T, in_memory.cost, intercept) @ found.labels
    assert_close(found.dual, alpha)
    assert_close(found.scores, found.labels - alpha / in_memory.cost)


@every_intercept
@pytest.mark.parametrize("balance", [Free(), Count(0.5)], ids=["free", "count"])
def test_no_change_of_a_label_gains_and_the_best_of_all_labelings_is_a_bound(balance, intercept, monkeypatch):
    monkeypatch.setattr(streamed_labelings, "BLOCK_ROWS", 2)
    reached = []
    for seed in range(4):
        X, y = make_two_gaussians(30, 3, random_state=seed)
        signs = np.where(np.arange(30) % 4 == 1, 0.0, np.where(y == 2, 1.0, -1.0))
        U = np.flatnonzero(signs == 0)
        assert len(U) == 8
        cost = np.where(signs != 0, 1.0, 0.8)
        Y = np.tile(signs, (2**8, 1))
        Y[:, U] = 2.0 * ((np.arange(2**8)[:, None] >> np.arange(8)) & 1) - 1.0
        if isinstance(balance, Count):
            Y = Y[(Y[:, U] > 0).sum(axis=1) == 4]
        values = labeling_values(label_form(X @ X.T, cost, intercept), Y)
        with blocked_samples(X) as samples:
            space = Features(samples, None, BlockedDesign(samples))
            found = LabelSearch(n_init=3).solve(problem_in(space, signs, balance, intercept), rng=0)
        n_changed = (found.labels != Y).sum(axis=1)
        near = n_changed == (2 if isinstance(balance, Count) else 1)
        assert found.objective == pytest.approx(values[n_changed == 0][0], rel=1e-10)
        assert near.sum() == (16 if isinstance(balance, Count) else 8)
        assert values[near].min() >= found.objective * (1.0 - 1e-12)
        reached.append(found.objective <= values.min() * (1.0 + 1e-9))
    assert np.mean(reached) >= 0.5


@pytest.mark.parametrize(
    "data, intercept", [(gaussians, True), (gaussians, False), (sparse_samples, "regularized"), (three_classes, True)]
)
@pytest.mark.parametrize("weighted", [False, True], ids=["equal", "weighted"])
def test_local_search_reaches_what_it_reaches_in_memory(data, intercept, weighted):
    X, y = data()
    weights = some_weights(y) if weighted else None
    model = LocalSearchRLSC(kernel="linear", n_init=3, fit_intercept=intercept, random_state=0)
    expected = LocalSearchRLSC(**model.get_params()).fit(X, y, weights)
    found = parallel.fit(model, X, y, weights)
    certificates = found.certificate_ if isinstance(found.certificate_, list) else [found.certificate_]
    assert {one.kind for one in certificates} == {"no_flip"}
    np.testing.assert_allclose(found.objective_, expected.objective_, rtol=5e-3)
    np.testing.assert_array_equal(found.transduction_[y >= 0], y[y >= 0])


def test_band_of_the_balance_is_kept_where_the_scores_break_it(tmp_path):
    X, y = gaussians(labeled=60)
    for tol in (0.0, 0.02):
        model = LocalSearchRLSC(kernel="linear", balance=0.25, balance_tol=tol, n_init=2, random_state=0)
        found = parallel.fit(model, mapped(tmp_path, X), y)
        share = np.mean(found.transduction_[y < 0] == found.classes_[1])
        assert abs(share - 0.25) <= tol + 0.5 / (y < 0).sum()
        assert np.mean(found.decision_function(X[y < 0]) > 0) > 0.3  # of a labeling by signs
        expected = LocalSearchRLSC(**model.get_params()).fit(X, y)
        assert found.objective_ == pytest.approx(expected.objective_, rel=5e-3)


class Breakdown(Exception):
    pass


@pytest.mark.parametrize("cls", [DCLSSVM, LocalSearchRLSC])
def test_resumed_search_equals_the_uninterrupted_one(cls, monkeypatch, tmp_path):
    X, y = gaussians()
    params = {"kernel": "linear", "C_unlabeled": 3.0}
    if cls is LocalSearchRLSC:
        params |= {"n_init": 3, "random_state": 0}
    expected = parallel.fit(cls(**params), X, y)
    runs, ordinary = [], Threads.run

    def run(self, *arguments):
        runs.append(1)
        if len(runs) > 12:
            raise Breakdown
        return ordinary(self, *arguments)

    with monkeypatch.context() as patch:
        patch.setattr(Threads, "run", run)
        with pytest.raises(Breakdown):
            parallel.fit(cls(**params), X, y, checkpoint=tmp_path)
    assert len(list(tmp_path.glob("*.npz"))) > 5
    found = parallel.fit(cls(**params), X, y, checkpoint=tmp_path)
    np.testing.assert_array_equal(found.coef_, expected.coef_)
    np.testing.assert_array_equal(found.transduction_, expected.transduction_)
    assert found.objective_ == expected.objective_
    assert not list(tmp_path.glob("*"))


@pytest.mark.parametrize(
    "model, what",
    [
        (SwitchingLSSVM(kernel="linear"), "the search 'steepest' for the next flip"),
        (SwitchingLSSVM(kernel="linear", rule="paper"), "the search 'largest' for the next flip"),
        (LocalSearchRLSC(kernel="linear", search="steepest"), "the search 'steepest' for the next flip"),
        (DCLSSVM(kernel="linear", safe=True), r"the safe projection \(safe=True\)"),
        (ProgressiveLSSVM(kernel="linear"), "the solver Progressive"),
    ],
)
def test_what_needs_all_samples_is_refused_by_name(model, what):
    with pytest.raises(TypeError, match=f"{type(model).__name__}: {what} needs all samples in memory.*LocalSearchRLSC"):
        parallel.fit(model, *gaussians())
