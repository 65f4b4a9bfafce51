"""Three classes: every scheme against binary fits made by hand."""

import dataclasses
import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from factories import PATHS, SEMI_SUPERVISED, SOME, blobs, keeps_counts, make_estimator, slow_unless
from semisvm import LSSVM, SVM
from semisvm.estimators import ESTIMATORS, problems
from semisvm.estimators._primal import FeaturesTSVM
from semisvm.estimators.lssvm_search import LSSVMSearchBase
from semisvm.estimators.programs import ProgramTSVM
from semisvm.multiclass import COUPLINGS, SCHEMES, votes
from semisvm.problem import balance_residual
from semisvm.solvers import SupervisedSVM
from semisvm.spaces import Gram

GAMMA = 0.3
SHARES = {0: 0.5, 1: 0.3, 2: 0.2}
PAIRS = [(0, 1), (0, 2), (1, 2)]  # in the order of the binary tasks
ONE_NORM = [name for name, cls in ESTIMATORS.items() if issubclass(cls, ProgramTSVM)]
SEARCHES = [name for name, cls in ESTIMATORS.items() if issubclass(cls, LSSVMSearchBase)]
ON_FEATURES = [name for name, cls in ESTIMATORS.items() if issubclass(cls, FeaturesTSVM)] + ["SparseLSSVM"]
SEMI_PATHS = [name for name in PATHS if name in SEMI_SUPERVISED]

every_semi_path = pytest.mark.parametrize("name", SEMI_PATHS)
both_schemes = pytest.mark.parametrize("scheme", SCHEMES)


def is_fast(name, scheme, *_):
    """One-vs-rest of every code path; the pairs of one-vs-one are made in one place for all of them."""
    return scheme == "ovr" or name in SOME


both_schemes_of_paths = pytest.mark.parametrize("name, scheme", slow_unless(is_fast, PATHS, SCHEMES))
both_schemes_of_semi_paths = pytest.mark.parametrize("name, scheme", slow_unless(is_fast, SEMI_PATHS, SCHEMES))


def three_classes(seed=0):
    return blobs(3, 72, 24, 3, distance=1.5, seed=seed)


def model(name, scheme="ovr", **params):
    """An estimator; couplings other than pwc1 calibrate in every fit (test_probability.py has them)."""
    params = {
        "C": 1.0,
        "gamma": GAMMA,
        "tol": 1e-7,
        "random_state": 0,
        "multiclass": scheme,
        "coupling": "pwc1",
    } | params
    return make_estimator(name, **params)


def task_scores(fitted, X, new):
    """f of every binary task at new samples, from the public attributes."""
    if hasattr(fitted, "coef_"):
        return new @ fitted.coef_.T + fitted.intercept_
    return rbf_kernel(new, X[fitted.support_], gamma=GAMMA) @ fitted.dual_coef_.T + fitted.intercept_


def has_clear_winner(scores):
    """Samples whose two largest scores differ: hinges put some at the margins of two classes at once."""
    top = np.sort(scores, axis=1)
    return top[:, -1] - top[:, -2] > 1e-9


def supervised_vote(name, X, y):
    """The class that pairwise models of labeled samples alone vote for."""
    fits = [model(name).fit(X[part], y[part]) for part in (np.isin(y, pair) for pair in PAIRS)]
    return votes(np.column_stack([fit.decision_function(X) for fit in fits]), 3)


def one_vs_rest_by_hand(name, X, y, **params):
    for c in SHARES:
        yield model(name, balance=SHARES[c], **params).fit(X, np.where(y == -1, -1, np.where(y == c, 2, 1)))


def one_vs_one_by_hand(name, X, y, **params):
    guess = supervised_vote(name, X, y)
    for i, j in PAIRS:
        unlabeled = (y == -1) & np.isin(guess, [i, j]) & (name in SEMI_SUPERVISED)
        part = np.isin(y, [i, j]) | unlabeled
        share = SHARES[j] / (SHARES[i] + SHARES[j])
        yield model(name, balance=share, **params).fit(
            X[part], np.where(y[part] == -1, -1, np.where(y[part] == j, 2, 1))
        )


BY_HAND = {"ovr": one_vs_rest_by_hand, "ovo": one_vs_one_by_hand}


def check_fit_is_its_binary_fits(name, scheme, **params):
    (X, y), new = three_classes(), three_classes(1)[0]
    fitted = model(name, scheme, balance=SHARES, **params).fit(X, y)
    parts = list(BY_HAND[scheme](name, X, y, **params))
    expected = np.column_stack([part.decision_function(new) for part in parts])
    np.testing.assert_allclose(task_scores(fitted, X, new), expected, atol=1e-6)
    np.testing.assert_allclose(fitted.objective_, [part.objective_ for part in parts], rtol=1e-9)
    if scheme == "ovr":
        np.testing.assert_allclose(fitted.decision_function(new), expected, atol=1e-6)


@pytest.mark.parametrize(
    "name, scheme, C_unlabeled",
    slow_unless(lambda name, scheme, C_unlabeled: C_unlabeled is None or name in SOME, PATHS, SCHEMES, [0.2, None]),
)
def test_a_fit_is_its_binary_fits(name, scheme, C_unlabeled):
    check_fit_is_its_binary_fits(name, scheme, C_unlabeled=C_unlabeled)


@pytest.mark.slow
@pytest.mark.parametrize("name", [n for n in ESTIMATORS if n not in (*PATHS, "MixedIntegerTSVM", "SDPTSVM")])
@both_schemes
def test_a_fit_of_the_other_estimators_is_its_binary_fits(name, scheme):
    """The code path is that of another estimator, the solver is not; exact searches of 48 labels take long."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        check_fit_is_its_binary_fits(name, scheme, max_nodes=200, population=4, exact=False)


@both_schemes
def test_a_fit_with_another_loss_is_its_binary_fits(scheme):
    X, y = three_classes()
    parts = list(BY_HAND[scheme]("SVM", X, y, loss="squared_hinge"))
    fitted = model("SVM", scheme, loss="squared_hinge").fit(X, y)
    expected = np.column_stack([part.decision_function(X) for part in parts])
    np.testing.assert_allclose(task_scores(fitted, X, X), expected, atol=1e-6)
    gaps = [certificate.gap for certificate in fitted.certificate_]
    np.testing.assert_allclose(gaps, [part.certificate_.gap for part in parts], atol=1e-6)


@pytest.mark.parametrize("name", ["SVM", "CCCPTSVM", "LocalSearchRLSC"])
@pytest.mark.parametrize("scheme, coupling", [("ovr", "pwc2"), *(("ovo", coupling) for coupling in COUPLINGS)])
def test_the_largest_score_is_predicted_and_fills_the_labels(name, scheme, coupling):
    X, y = three_classes()
    fitted = model(name, scheme, coupling=coupling).fit(X, y)
    scores = fitted.decision_function(X)
    assert scores.shape == (72, 3)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[scores.argmax(axis=1)])
    clear = has_clear_winner(scores)
    np.testing.assert_array_equal(fitted.transduction_[clear], np.where(y == -1, fitted.predict(X), y)[clear])


@pytest.mark.parametrize("name, scheme, kernel", slow_unless(is_fast, PATHS, SCHEMES, ["rbf", "linear"]))
def test_shapes_of_attributes(name, scheme, kernel):
    X, y = three_classes()
    fitted = model(name, scheme, kernel=kernel).fit(X, y)
    has_dual = not (name in ONE_NORM and kernel == "linear")  # with the 1-norm w is not a combination of samples
    if has_dual:
        assert fitted.dual_coef_.shape == (3, len(fitted.support_))
        assert fitted.dual_coef_.any(axis=0).all()
    assert fitted.intercept_.shape == fitted.objective_.shape == fitted.n_iter_.shape == fitted.n_active_.shape == (3,)
    assert len(fitted.certificate_) == len(fitted.objective_path_) == len(fitted.trace_) == 3
    assert all(certificate.within_tol for certificate in fitted.certificate_)
    assert [path[-1] for path in fitted.objective_path_] == pytest.approx(fitted.objective_.tolist(), rel=1e-9)
    assert fitted.converged_ is True
    if kernel == "linear" and name != "SparseLSSVM":  # which has landmarks
        assert fitted.coef_.shape == (3, 3)
        if has_dual:
            np.testing.assert_allclose(fitted.coef_, fitted.dual_coef_ @ X[fitted.support_], atol=1e-6)
    else:
        np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])


@pytest.mark.parametrize("name", [name for name in PATHS if name not in ON_FEATURES])
@both_schemes
def test_the_kernel_matrix_is_computed_once_for_all_tasks(name, scheme, monkeypatch):
    sizes, symmetric = [], Gram._symmetric
    monkeypatch.setattr(Gram, "_symmetric", lambda gram, s: sizes.append(s.X.shape[0]) or symmetric(gram, s))
    X, y = three_classes()
    fitted = model(name, scheme).fit(X, y)
    fitted.predict(X)
    assert sizes == [72 if name in SEMI_SUPERVISED else 24]


@pytest.mark.parametrize(
    "name, scheme, kernel",
    slow_unless(
        lambda name, scheme, kernel: (kernel == "rbf" and is_fast(name, scheme)) or name in ("SVM", "MultiSwitchTSVM"),
        PATHS,
        [("ovr", "rbf"), ("ovo", "rbf"), ("ovr", "linear")],
    ),
)
def test_threads_do_not_change_the_answer(name, scheme, kernel):
    X, y = three_classes()
    one, two = (model(name, scheme, kernel=kernel, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(two.intercept_, one.intercept_)
    np.testing.assert_array_equal(two.decision_function(X), one.decision_function(X))


@both_schemes_of_paths
def test_names_of_classes_and_order_of_samples_do_not_matter(name, scheme):
    X, y = three_classes()
    scores = model(name, scheme).fit(X, y).decision_function(X)
    order = np.random.default_rng(0).permutation(72)
    names = np.array(["c", "a", "b", ""])[y]
    fitted = model(name, scheme).fit(X[order], names[order])
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(fitted.decision_function(X), scores[:, [1, 2, 0]], atol=1e-6)
    clear = has_clear_winner(scores)[order]
    expected = np.where(y == -1, fitted.predict(X), names)[order]
    np.testing.assert_array_equal(fitted.transduction_[clear], expected[clear])


@both_schemes_of_semi_paths
def test_shares_of_three_classes_are_kept(name, scheme, monkeypatch):
    solved = []
    original = problems.BinaryProblems._solve

    def recording(self, stated, *rest):
        found = original(self, stated, *rest)
        solved.append(list(zip(stated, found)))
        return found

    monkeypatch.setattr(problems.BinaryProblems, "_solve", recording)
    X, y = three_classes()
    model(name, scheme, balance={0: 5, 1: 3, 2: 2}, balance_tol=0.0).fit(X, y)
    shares = [0.5, 0.3, 0.2] if scheme == "ovr" else [3 / 8, 2 / 7, 2 / 5]
    for (problem, solution), share in zip(solved[-1], shares):
        if keeps_counts(name):
            n = np.count_nonzero(problem.mean_weights)
            n_positive = np.count_nonzero((problem.mean_weights > 0) & (solution.labels > 0))
            assert abs(n_positive - share * n) <= 0.5 + 1e-9
        else:
            assert problem.balance.m == pytest.approx(2 * share - 1)
            assert balance_residual(problem, solution.scores, solution.labels) < 1e-8


BAD_SHARES = {
    "one share": (0.3, r"balance=0.3 is one share and y holds 3 classes; pass a mapping"),
    "a class missing": ({0: 0.5, 1: 0.5}, r"balance names the classes \[0, 1\] and y holds \[0, 1, 2\]"),
    "negative": ({0: 0.5, 1: 0.7, 2: -0.2}, r"balance\[2\]=-0.2 is not allowed"),
}


@every_semi_path
@pytest.mark.parametrize("case", BAD_SHARES)
def test_shares_that_do_not_fit_three_classes_are_refused(name, case):
    balance, message = BAD_SHARES[case]
    with pytest.raises(ValueError, match=message):
        model(name, balance=balance).fit(*three_classes())


@pytest.mark.parametrize("name", [name for name in SEMI_PATHS if name not in ONE_NORM])
@pytest.mark.parametrize("forced", [None, 0, 2])
def test_unlabeled_samples_are_part_of_the_pairs_of_their_vote_alone(name, forced, monkeypatch):
    X, y = three_classes()
    guess = supervised_vote(name, X, y) if forced is None else np.full(72, forced)
    if forced is not None:
        monkeypatch.setattr(problems, "votes", lambda scores, k: guess)
    fitted = model(name, "ovo").fit(X, y)
    coef = np.zeros((3, 72))
    coef[:, fitted.support_] = np.where(np.abs(fitted.dual_coef_) > 1e-9, fitted.dual_coef_, 0.0)
    for row, pair in zip(coef, PAIRS):
        assert not row[(y == -1) & ~np.isin(guess, pair)].any()
        assert not row[(y != -1) & ~np.isin(y, pair)].any()
        if name not in ("SwitchingTSVM", "MultiSwitchTSVM"):  # there samples beyond their margin have no coefficient
            assert row[(y == -1) & np.isin(guess, pair)].all()


@both_schemes_of_paths
def test_a_class_with_a_single_label(name, scheme):
    X, y = three_classes()
    y[np.flatnonzero(y == 1)[1:]] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = model(name, scheme).fit(X, y)
    assert fitted.classes_.tolist() == [0, 1, 2]
    assert np.isfinite(fitted.decision_function(X)).all()
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])


@both_schemes_of_semi_paths
def test_supervised_counterpart_of_three_classes(name, scheme):
    X, y = three_classes()
    fitted, known = model(name, scheme, coupling="pwc3").fit(X, y), y != -1
    if name in SEARCHES:
        expected = LSSVM(1.0, gamma=GAMMA, fit_intercept=fitted.fit_intercept, multiclass=scheme, coupling="pwc3")
    elif name in ONE_NORM:
        expected = model(name, scheme, coupling="pwc3")
    else:
        loss = "squared_hinge" if name in ("MultiSwitchTSVM", "GradientTSVM") else "hinge"
        expected = SVM(1.0, loss=loss, gamma=GAMMA, tol=1e-7, multiclass=scheme, coupling="pwc3")
    expected.fit(X[known], y[known])
    counterpart = fitted.supervised_
    np.testing.assert_allclose(counterpart.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(counterpart.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    if name not in ONE_NORM:
        np.testing.assert_array_equal(counterpart.support_, np.flatnonzero(known)[expected.support_])


@both_schemes_of_paths
def test_integer_weights_are_repeated_samples_and_a_class_of_weight_zero_is_left_out(name, scheme):
    X, y = three_classes()
    times = 1 + np.arange(72) % 3
    searches_labels = name in SEMI_SUPERVISED and keeps_counts(name)
    if searches_labels:
        times[y == -1] = 1  # copies of a sample may get different labels, a sample of twice the weight has one
    repeated = np.repeat(np.arange(72), times)
    coupling = "pwc1" if searches_labels else "pwc2"  # nor do copies that calibration holds out
    weighted = model(name, scheme, coupling=coupling).fit(X, y, sample_weight=times).decision_function(X)
    expected = model(name, scheme, coupling=coupling).fit(X[repeated], y[repeated]).decision_function(X)
    np.testing.assert_allclose(weighted, expected, atol=1e-6)
    fewer = model(name, scheme).fit(X, y, sample_weight=(y != 1) * 1.0)
    assert fewer.classes_.tolist() == [0, 2]
    expected = model(name).fit(X[y != 1], y[y != 1])  # two classes are the same task in both schemes
    np.testing.assert_allclose(fewer.decision_function(X), expected.decision_function(X), atol=1e-8)


@pytest.mark.parametrize("name", ["LSSVM", "SparseLSSVM", *SEARCHES])
@both_schemes
def test_least_squares_over_the_memory_limit(name, scheme, monkeypatch):
    X, y = three_classes()
    exact = model(name, scheme, exact=False).fit(X, y)
    monkeypatch.setenv("SEMISVM_MEMORY", "40000")
    fitted = model(name, scheme, n_jobs=2, exact=False).fit(X, y)
    if name in SEARCHES:
        assert fitted.dual_coef_.shape[1] == 40000 // (24 * 72)  # landmarks whose features and factor fit
        assert np.mean(fitted.predict(X) == exact.predict(X)) > 0.7
    monkeypatch.setenv("SEMISVM_MEMORY", "100")
    with pytest.raises(MemoryError, match=r"the limit is 100 bytes.* or raise SEMISVM_MEMORY"):
        model(name, scheme).fit(X, y)
    if name in SEARCHES:
        monkeypatch.setenv("SEMISVM_MEMORY", "10000")
        with pytest.raises(MemoryError, match="approximation='nystroem'"):
            model(name, scheme, approximation=None).fit(X, y)


@pytest.mark.parametrize("name, scheme", slow_unless(is_fast, [name for name in PATHS if "LS" not in name], SCHEMES))
def test_over_the_memory_limit(name, scheme, monkeypatch):
    X, y = three_classes()
    expected = model(name, scheme).fit(X, y).decision_function(X)
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    fitted = model(name, scheme, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-6)


def test_exact_searches_over_the_memory_limit(monkeypatch):
    X, y = three_classes()
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    for name in ("SDPTSVM", "BranchBoundTSVM"):
        with pytest.raises(MemoryError, match="raise SEMISVM_MEMORY"):
            model(name).fit(X, y)


@both_schemes_of_paths
def test_a_precomputed_kernel_is_the_kernel(name, scheme):
    X, y = three_classes()
    params = {"balance": "labeled"}  # an estimate uses a kernel of its own for samples, and the given one for a matrix
    expected = model(name, scheme, kernel="rbf", **params).fit(X, y)
    K = rbf_kernel(X, gamma=GAMMA)
    fitted = model(name, scheme, kernel="precomputed", **params).fit(K, y)
    scores = K[:, fitted.support_] @ fitted.dual_coef_.T + fitted.intercept_
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(scores, task_scores(expected, X, X), atol=1e-6)
    clear = (y == -1) & has_clear_winner(fitted.decision_function(K))
    np.testing.assert_array_equal(fitted.predict(K)[clear], fitted.transduction_[clear])


@pytest.mark.parametrize(
    "name, scheme, coupling",
    slow_unless(
        lambda name, scheme, coupling: coupling == "pwc1" or (scheme == "ovo" and name in ("SVM", "CCCPTSVM")),
        ["SVM", "CCCPTSVM", "LocalSearchRLSC", "MultiSwitchTSVM", "GradientTSVM"],
        SCHEMES,
        ["pwc1", "pwc2"],  # one-vs-rest has no coupling
    ),
)
def test_max_time_is_that_of_the_whole_fit(name, scheme, coupling, clock, monkeypatch):
    """All solvers take all the time that they are given; a calibration may take the same once more.

    GradientTSVM solves the problems of a batch one by one, each with its part of the time.
    """
    X, y = three_classes()
    estimator = model(name, scheme, coupling=coupling, max_time=60.0, n_jobs=1)
    solver = type(estimator._formulation().solver)
    method, given = "solve_batch" if name == "MultiSwitchTSVM" else "solve", []
    solve = getattr(solver, method)

    def slow_solve(one, *args, **kwargs):
        given.append(one.max_time)
        clock.now += one.max_time
        return solve(dataclasses.replace(one, max_time=None), *args, **kwargs)

    monkeypatch.setattr(solver, method, slow_solve)
    estimator.fit(X, y)
    calibrates = scheme == "ovo" and coupling == "pwc2" and name != "SVM"
    assert sum(given) == pytest.approx(120.0 if calibrates else 60.0)
    assert min(given) > 1.0


def test_problems_that_need_less_leave_their_time_to_the_others(clock, monkeypatch):
    given, solve = [], SupervisedSVM.solve

    def quick_solve(solver, *args, **kwargs):
        given.append(solver.max_time)
        clock.now += 6.0
        return solve(solver, *args, **kwargs)

    monkeypatch.setattr(SupervisedSVM, "solve", quick_solve)
    model("SVM", max_time=60.0, n_jobs=1).fit(*three_classes())
    assert given == pytest.approx([20.0, 27.0, 48.0])
