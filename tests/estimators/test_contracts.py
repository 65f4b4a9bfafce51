"""What every estimator of the registry promises."""

import itertools
import pickle

import numpy as np
import pandas as pd
import polars as pl
import pytest
from scipy import sparse
from sklearn.base import clone
from sklearn.metrics.pairwise import rbf_kernel

from factories import (
    PATHS,
    SEMI_SUPERVISED,
    binary_problems,
    few_unlabeled,
    formulation_of,
    keeps_counts,
    make_estimator,
    slow_unless,
    two_gaussians,
)
from semisvm import CCCPTSVM, LSSVM, S3VM, SVM, losses
from semisvm.balance import Count, Free, Mean
from semisvm.estimators import ESTIMATORS
from semisvm.estimators._primal import FeaturesTSVM
from semisvm.estimators.lssvm_search import LSSVMSearchBase
from semisvm.estimators.programs import ProgramTSVM
from semisvm.losses import SquaredHinge
from semisvm.problem import Problem, objective
from semisvm.solvers import SOLVERS, refusal
from semisvm.spaces import KERNELS, Features, Gram

every_estimator = pytest.mark.parametrize("name", ESTIMATORS)
every_path_and_slowly_the_rest = pytest.mark.parametrize("name", slow_unless(lambda name: name in PATHS, ESTIMATORS))
every_path = pytest.mark.parametrize("name", PATHS)
every_semi_supervised = pytest.mark.parametrize("name", SEMI_SUPERVISED)
ONE_NORM = [name for name, cls in ESTIMATORS.items() if issubclass(cls, ProgramTSVM)]
ON_FEATURES = [name for name, cls in ESTIMATORS.items() if issubclass(cls, FeaturesTSVM)] + ["SparseLSSVM"]
AT_LABELS = [name for name in SEMI_SUPERVISED if keeps_counts(name) and name != "AnnealingTSVM"]


def data(name, **options):
    return few_unlabeled(name, *two_gaussians(**options))


@every_estimator
def test_objective_is_recomputed_by_problem(name):
    X, y = data(name)
    fitted = make_estimator(name, population=4, random_state=0).fit(X, y)
    (problem,), codes = binary_problems(fitted, X, y)
    used = np.ones(len(y), dtype=bool) if name in SEMI_SUPERVISED else y != -1
    if name in ONE_NORM:
        coef = fitted.coef_[0]
    else:  # behind the kernel, whatever features the solver worked on
        problem = Problem(Gram(fitted._kernel_, X[used]), *list(vars(problem).values())[1:9])
        coef = np.zeros(len(y))
        coef[fitted.support_] = fitted.dual_coef_[0]
        coef = coef[used]
    labels = np.where(fitted.transduction_ == fitted.classes_[1], 1.0, -1.0) if name in AT_LABELS else None
    assert fitted.objective_ == pytest.approx(objective(problem, coef, fitted.intercept_[0], labels), rel=1e-11)
    assert fitted.objective_path_[-1] == pytest.approx(fitted.objective_, rel=1e-9)
    assert len(codes) == used.sum()


@every_estimator
def test_status_does_not_say_more_than_the_certificate(name):
    X, y = data(name)
    fitted = make_estimator(name, population=4, random_state=0).fit(X, y)
    assert fitted.converged_
    assert fitted.certificate_.within_tol


@every_estimator
def test_input_is_unchanged_and_the_same_seed_gives_the_same_answer(name):
    X, y = data(name)
    before = X.copy(), y.copy()
    model = make_estimator(name, population=4, random_state=0)
    first, second = (clone(model).fit(X, y).decision_function(X) for _ in range(2))
    np.testing.assert_array_equal(first, second)
    np.testing.assert_array_equal(X, before[0])
    np.testing.assert_array_equal(y, before[1])


@pytest.mark.parametrize("name", ["CCCPTSVM", "SelfTraining"])
def test_the_supervised_model_does_not_see_later_changes_of_fully_labeled_input(name):
    X, y = two_gaussians(40, 40)
    expected = make_estimator(name).fit(X, y).supervised_.decision_function(X)
    given = X.copy()
    fitted = make_estimator(name).fit(given, y)
    given *= -3.0
    np.testing.assert_array_equal(fitted.supervised_.decision_function(X), expected)


@every_path_and_slowly_the_rest
def test_order_of_samples_and_names_of_classes_do_not_matter(name):
    X, y = data(name, n=28 if name == "GeneticTSVM" else 80)  # so few that all labelings are trained, and none drawn
    estimator = make_estimator(name, tol=1e-7, random_state=0)
    scores = clone(estimator).fit(X, y).decision_function(X)
    order = np.random.default_rng(0).permutation(len(y))
    shuffled = clone(estimator).fit(X[order], y[order])
    np.testing.assert_allclose(shuffled.decision_function(X), scores, atol=1e-6)
    swapped = clone(estimator).fit(X, np.where(y == -1, -1, 3 - y))
    np.testing.assert_allclose(swapped.decision_function(X), -scores, atol=1e-6)


@every_path_and_slowly_the_rest
def test_fitted_estimators_pickle_and_clone(name):
    X, y = data(name)
    fitted = make_estimator(name, population=4).fit(X, y)
    again = pickle.loads(pickle.dumps(fitted))
    np.testing.assert_array_equal(again.decision_function(X), fitted.decision_function(X))
    assert clone(fitted).get_params() == fitted.get_params()


FREE_INTERCEPT = [name for name in ESTIMATORS if name not in ("SDPTSVM", "GeneticTSVM")]


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", slow_unless(lambda name: name in PATHS, FREE_INTERCEPT))
def test_an_offset_changes_nothing_where_the_intercept_is_free(name, contain):
    X, y = data(name, n=40, shift=1.0)
    estimator = make_estimator(name, kernel="linear", fit_intercept=True, tol=1e-7)
    fitted, shifted = clone(estimator).fit(X, y), clone(estimator).fit(contain(X + 2.0**27), y)
    assert shifted.objective_ == pytest.approx(fitted.objective_, rel=1e-5)
    np.testing.assert_array_equal(shifted.transduction_, fitted.transduction_)
    np.testing.assert_allclose(shifted.decision_function(X + 2.0**27), fitted.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("approximation", ["nystroem", "kernel_pca"])
def test_an_offset_changes_no_features_of_the_linear_kernel(approximation):
    X, y = data("LocalSearchRLSC", n=40, shift=1.0)
    params = {"kernel": "linear", "fit_intercept": True, "random_state": 0, "approximation": approximation}
    for landmarks in ("kmeans++", X[:12] + 2.0**27):
        estimator = make_estimator("LocalSearchRLSC", **params, landmarks=landmarks, n_components=12)
        shifted = estimator.fit(X + 2.0**27, y)
        fitted = clone(estimator).set_params(landmarks=landmarks if isinstance(landmarks, str) else X[:12]).fit(X, y)
        assert shifted.objective_ == pytest.approx(fitted.objective_, rel=1e-5)
        np.testing.assert_allclose(shifted.decision_function(X + 2.0**27), fitted.decision_function(X), atol=1e-4)


@pytest.mark.parametrize("contain", [np.asarray, sparse.csr_array])
@pytest.mark.parametrize("name", ["LocalSearchRLSC", "SVM"])
@pytest.mark.parametrize("params", [{"kernel": "linear", "fit_intercept": False}, {"kernel": "poly"}])
def test_an_offset_that_is_part_of_the_model_is_warned_of(name, params, contain):
    X, y = data(name)
    with pytest.warns(UserWarning, match="far from the origin") as warned:
        make_estimator(name, **params).fit(contain(X + 1e3), y)
    assert warned[0].filename == __file__


UNUSUAL = {
    "one feature": lambda X: X[:, :1],
    "constant features": lambda X: np.c_[X, np.ones(len(X)), np.zeros(len(X))],
    "duplicates": lambda X: np.r_[X[: len(X) // 2], X[: len(X) - len(X) // 2]],
    "all samples equal": lambda X: np.ones_like(X),
    "large offset": lambda X: X + 1e5,
    "small scale": lambda X: X * 1e-6,
}


@every_estimator
@pytest.mark.parametrize("case", UNUSUAL)
def test_unusual_data_gives_finite_answers(name, case):
    X, y = data(name, n=50)
    X = UNUSUAL[case](X)
    fitted = make_estimator(name, population=4).fit(X, y)
    assert np.isfinite(fitted.decision_function(X)).all()
    assert np.isfinite(fitted.objective_)
    assert set(fitted.transduction_) <= set(fitted.classes_)


@every_estimator
def test_one_label_per_class_and_all_labeled(name):
    X, y = data(name, n_labeled=2)
    assert np.isfinite(make_estimator(name, population=4).fit(X, y).objective_)
    X, y = two_gaussians(60, 60, seed=1)
    np.testing.assert_array_equal(make_estimator(name).fit(X, y).transduction_, y)


LABELS = {
    "NaN": (lambda y: np.where(y == -1, np.nan, y), {}),
    "None": (lambda y: [None if v == -1 else int(v) for v in y], {}),
    "strings": (lambda y: pl.Series([None if v == -1 else f"class {v}" for v in y]), {}),
    "Int64": (lambda y: pd.Series(pd.array([None if v == -1 else int(v) for v in y], dtype="Int64")), {}),
    "marker": (lambda y: ["?" if v == -1 else f"class {v}" for v in y], {"unlabeled": "?"}),
    "signs": (lambda y: np.where(y == -1, 0, np.where(y == 1, -1, 1)), {"unlabeled": 0}),
}


@pytest.mark.parametrize(
    "name, case", slow_unless(lambda name, case: name in ("SVM", "CCCPTSVM") or case == "strings", PATHS, LABELS)
)
def test_labels_of_every_kind(name, case):
    X, y = data(name)
    encode, params = LABELS[case]
    expected = make_estimator(name, random_state=0).fit(X, y)
    fitted = make_estimator(name, random_state=0, **params).fit(X, encode(y))
    np.testing.assert_allclose(fitted.decision_function(X), expected.decision_function(X))
    np.testing.assert_array_equal(
        fitted.transduction_ == fitted.classes_[1], expected.transduction_ == expected.classes_[1]
    )


CONTAINERS = {
    "pandas": lambda X: pd.DataFrame(X, columns=[f"c{i}" for i in range(X.shape[1])]),
    "polars": lambda X: pl.DataFrame({f"c{i}": X[:, i] for i in range(X.shape[1])}),
    "list": lambda X: X.tolist(),
    "fortran": np.asfortranarray,
    "csr_matrix": sparse.csr_matrix,
    "csr_array": sparse.csr_array,
    "csc_array": sparse.csc_array,
}


@pytest.mark.parametrize(
    "name, container, kernel",
    slow_unless(
        lambda name, container, kernel: name in ("SVM", "MultiSwitchTSVM") or container == "csr_array",
        PATHS,
        CONTAINERS,
        ["rbf", "linear"],
    ),
)
def test_samples_in_every_container(name, container, kernel):
    X, y = data(name, n=60)
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    estimator = make_estimator(name, kernel=kernel, C=1.0, random_state=0)
    expected = clone(estimator).fit(X, y).decision_function(X)
    given = CONTAINERS[container](X)
    np.testing.assert_allclose(clone(estimator).fit(given, y).decision_function(given), expected, atol=1e-8)


def test_wide_sparse_indices_and_single_precision():
    X, y = two_gaussians()
    X = np.where(np.abs(X) < 1.0, 0.0, X)
    wide = sparse.csr_array(X)
    wide.indices, wide.indptr = wide.indices.astype(np.int64), wide.indptr.astype(np.int64)
    expected = CCCPTSVM(1.0).fit(X, y).decision_function(X)
    np.testing.assert_allclose(CCCPTSVM(1.0).fit(wide, y).decision_function(wide), expected, atol=1e-8)
    single = X.astype(np.float32)
    np.testing.assert_allclose(CCCPTSVM(1.0).fit(single, y).decision_function(single), expected, atol=1e-3)


@every_path_and_slowly_the_rest
def test_precomputed_and_callable_kernels_are_the_kernel(name):
    X, y = data(name)
    options = {"C": 1.0, "tol": 1e-3 if name == "SDPTSVM" else 1e-7, "random_state": 0, "population": 4}
    options["balance"] = "labeled"  # an estimate does not use the kernel of the estimator
    fitted = make_estimator(name, kernel="rbf", gamma=0.1, **options).fit(X, y)
    K = rbf_kernel(X, gamma=0.1)
    given = make_estimator(name, kernel="precomputed", **options).fit(K, y)
    np.testing.assert_allclose(given.decision_function(K), fitted.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(given.support_, fitted.support_)
    if name in PATHS:
        called = make_estimator(name, kernel=lambda A, B: rbf_kernel(A, B, gamma=0.1), **options).fit(X, y)
        np.testing.assert_allclose(called.decision_function(X), fitted.decision_function(X), atol=1e-6)
    if name in SEMI_SUPERVISED:
        scores = given.supervised_.decision_function(K)
        np.testing.assert_allclose(scores, fitted.supervised_.decision_function(X), atol=1e-6)


@every_path
@pytest.mark.parametrize("kernel", KERNELS)
def test_every_kernel_predicts_its_own_training_scores(name, kernel):
    X, y = data(name)
    if kernel == "multiquadric" and name in ON_FEATURES:
        with pytest.raises(ValueError, match=r"no features of its own\. Use approximation=None or another kernel"):
            make_estimator(name, kernel=kernel, coef0=1.0).fit(X, y)
        return
    fitted = make_estimator(name, kernel=kernel, coef0=1.0, fit_intercept=True).fit(X, y)
    if hasattr(fitted, "coef_"):
        assert kernel == "linear"
        expected = X @ fitted.coef_[0] + fitted.intercept_[0]
    else:
        coef = np.zeros(len(y))
        coef[fitted.support_] = fitted.dual_coef_[0]
        expected = Gram(fitted._kernel_, X).scores(coef, fitted.intercept_[0])
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-8)


@every_path_and_slowly_the_rest
def test_weights_are_factors_of_costs(name):
    X, y = data(name)
    twice = np.where(y == -1, 2.0, 1.0)
    options = {"C": 1.0, "kernel": "rbf", "gamma": 0.1, "population": 4, "random_state": 0, "balance": "labeled"}
    tol = {} if name == "SDPTSVM" else {"tol": 1e-7}
    weighted = make_estimator(name, **options, **tol, C_unlabeled=0.1).fit(X, y, sample_weight=twice)
    costly = make_estimator(name, **options, **tol, C_unlabeled=0.2).fit(X, y)
    np.testing.assert_allclose(weighted.decision_function(X), costly.decision_function(X), atol=1e-6)
    left = np.arange(len(y)) % 4 > 0
    zero = make_estimator(name, **options).fit(X, y, sample_weight=left * 1.0)
    expected = make_estimator(name, **options).fit(X[left], y[left])
    np.testing.assert_allclose(zero.decision_function(X), expected.decision_function(X), atol=1e-8)
    np.testing.assert_array_equal(zero.support_, np.flatnonzero(left)[expected.support_])


@every_semi_supervised
@pytest.mark.parametrize("balance", [0.25, {1: 6.0, 2: 2.0}], ids=["share", "mapping"])
def test_a_given_share_is_kept(name, balance):
    X, y = data(name)
    fitted = make_estimator(name, balance=balance, balance_tol=0.0, population=4).fit(X, y)
    if keeps_counts(name):
        assert np.count_nonzero(fitted.transduction_[y == -1] == 2) == round(0.25 * np.count_nonzero(y == -1))
    else:
        assert fitted.decision_function(X[y == -1]).mean() == pytest.approx(2 * 0.25 - 1, abs=1e-8)


def test_s3vm_is_the_named_class():
    X, y = two_gaussians()
    named = CCCPTSVM(1.0, s=-0.2, tol=1e-6).fit(X, y)
    composed = S3VM("hinge", losses.SymmetricRamp(-0.2), C=1.0, tol=1e-6).fit(X, y)
    assert composed.objective_ == named.objective_
    np.testing.assert_array_equal(composed.transduction_, named.transduction_)
    supervised = S3VM("hinge", None, solver="smo", C=1.0).fit(X, y)
    assert supervised.gamma_ == named.gamma_
    expected = SVM(1.0, gamma=supervised.gamma_).fit(X, y).decision_function(X)
    np.testing.assert_allclose(supervised.decision_function(X), expected, atol=1e-8)


@pytest.mark.parametrize("solver", SOLVERS)
def test_every_composition_fits_or_is_refused_by_name(solver):
    for labeled, unlabeled in itertools.product(losses.LABELED, [None, *losses.UNLABELED]):
        check_composition(solver, labeled, unlabeled)


def check_composition(solver, labeled, unlabeled):
    X, y = two_gaussians(24, 14)
    accepts = SOLVERS[solver].accepts
    composed = S3VM(labeled, unlabeled, solver=solver, kernel="linear", fit_intercept=accepts.intercepts[-1])
    formulation = formulation_of(composed)
    signs = np.where(y == -1, 0.0, 2.0 * y - 3.0)
    conditions = {Count: Count(0.5), Mean: Mean(0.0), Free: Free()}
    balance = Free() if unlabeled is None else next(one for kind, one in conditions.items() if kind in accepts.balances)
    pieces = formulation.labeled, formulation.unlabeled, balance, composed.fit_intercept
    if refusal(formulation.solver, Problem(Features(X), signs, np.ones(len(y)), *pieces)):
        with pytest.raises(ValueError, match=r"does not take the .* (Solvers that do|No solver)"):
            composed.fit(X, y)
        return
    composed.fit(X, y)
    assert np.isfinite(composed.objective_), composed
    assert composed.certificate_.kind == "gap" or composed.certificate_.value < 0.1, composed


@every_semi_supervised
def test_supervised_counterpart_is_fitted_to_labeled_samples_alone(name):
    X, y = data(name)
    fitted = make_estimator(name, C=1.0, population=4).fit(X, y)
    known = y != -1
    assert fitted.supervised_ is fitted.supervised_
    if name in ONE_NORM:
        expected = make_estimator(name, C=1.0).fit(X[known], y[known])
        scores = fitted.supervised_.decision_function(X)
        np.testing.assert_allclose(scores, expected.decision_function(X), atol=1e-9)
        return
    params = {"gamma": fitted.gamma_, "fit_intercept": fitted._intercept}
    if isinstance(formulation_of(fitted).labeled, SquaredHinge):
        params["loss"] = "squared_hinge"
    cls = LSSVM if isinstance(fitted, LSSVMSearchBase) else SVM
    expected = cls(1.0, **params).fit(X[known], y[known])
    np.testing.assert_allclose(fitted.supervised_.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_array_equal(fitted.supervised_.support_, np.flatnonzero(known)[expected.support_])


def test_supervised_estimators_have_no_supervised_counterpart():
    fitted = SVM().fit(*two_gaussians())
    assert not hasattr(fitted, "supervised_")


@pytest.mark.parametrize("name", slow_unless(lambda name: name in PATHS, SEMI_SUPERVISED))
def test_auto_C_means_the_same_on_every_scale(name):
    X, y = data(name)
    options = {"random_state": 0, "population": 4}
    small, large = (make_estimator(name, **options).fit(k * X, y) for k in (1.0, 1000.0))
    np.testing.assert_allclose(small.decision_function(X), large.decision_function(1000.0 * X), atol=1e-6)
    if name == "SDPTSVM":
        options["fit_intercept"] = False  # a regularized intercept has a scale of its own
    linear = [make_estimator(name, kernel="linear", **options).fit(k * X, y) for k in (1.0, 1000.0)]
    np.testing.assert_allclose(linear[0].decision_function(X), linear[1].decision_function(1000.0 * X), atol=1e-5)


def test_verbose_prints_memory_and_iterations(capsys):
    CCCPTSVM(verbose=1).fit(*two_gaussians())
    printed = capsys.readouterr().out
    assert "kernel matrix of 80 samples" in printed
    assert "MiB" in printed
    assert "objective" in printed


@every_estimator
def test_training_scores_are_the_decision_function_at_the_samples_of_the_fit(name):
    X, y = data(name)
    weights = np.where(np.arange(len(y)) == len(y) - 1, 0.0, 1.0)
    fitted = make_estimator(name, population=4, random_state=0).fit(X, y, sample_weight=weights)
    used = (weights > 0) & ((y != -1) | (name in SEMI_SUPERVISED))
    np.testing.assert_allclose(fitted.training_scores_[used], fitted.decision_function(X)[used], rtol=1e-5, atol=1e-6)
    assert np.isnan(fitted.training_scores_[~used]).all()
