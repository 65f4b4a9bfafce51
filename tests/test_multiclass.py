"""Three classes: every estimator and scheme against binary fits made by hand."""

import warnings

import numpy as np
import pytest
from sklearn.exceptions import ConvergenceWarning
from sklearn.metrics.pairwise import rbf_kernel

from semisvm import LSSVM, SVM, SparseLSSVM
from semisvm.datasets import hide_labels
from semisvm.estimators import ESTIMATORS, _base
from semisvm.estimators._label_machine import LabelMachine
from semisvm.estimators._primal_machine import PrimalMachine
from semisvm.estimators.combinatorial import LabelingMachine
from semisvm.estimators.exact import ExactMachine
from semisvm.estimators.programs import ProgramMachine
from semisvm.estimators.svmlin import NewtonMachine
from semisvm.multiclass import COUPLINGS, SCHEMES, votes
from semisvm.spaces import Gram

GAMMA = 0.3
SHARES = {1: 0.5, 2: 0.3, 3: 0.2}
PAIRS = [(1, 2), (1, 3), (2, 3)]  # in the order of the tasks
LONG = [
    "AnnealingTSVM",
    "GeneticTSVM",
]  # many machines a fit; MultiSwitchTSVM and SwitchingTSVM take the same ways here
EACH = {name: pytest.param(name, marks=pytest.mark.slow) if name in LONG else name for name in ESTIMATORS}
ALL = pytest.mark.parametrize("name", EACH.values())
SEMI = pytest.mark.parametrize("name", [EACH[name] for name, cls in ESTIMATORS.items() if cls._semi_supervised])
SEARCH = [name for name, cls in ESTIMATORS.items() if issubclass(cls, LabelMachine)]
HINGE = [name for name, cls in ESTIMATORS.items() if issubclass(cls, (LabelingMachine, ExactMachine))]
COUNTS = [*SEARCH, *(name for name, cls in ESTIMATORS.items() if issubclass(cls, NewtonMachine))]
COUNTS += ["MixedIntegerTSVM", *HINGE]
ONE_NORM = [name for name, cls in ESTIMATORS.items() if issubclass(cls, ProgramMachine)]  # of columns, by default
LEAST_SQUARES = [*SEARCH, "LSSVM", "SparseLSSVM"]
ON_FEATURES = (SparseLSSVM, PrimalMachine, ProgramMachine)  # they put features in the place of the kernel
FEATURES = [name for name, cls in ESTIMATORS.items() if issubclass(cls, ON_FEATURES)]
LEAST = pytest.mark.parametrize("name", LEAST_SQUARES)
BOTH = pytest.mark.parametrize("scheme", SCHEMES)


def data(n=72, n_labeled=24, seed=0):
    """Three Gaussians that overlap; classes 1, 2 and 3."""
    rng = np.random.default_rng(seed)
    y = rng.permutation(np.arange(n) % 3)
    X = rng.standard_normal((n, 3)) + 1.5 * np.eye(3)[y]
    return X, hide_labels(y + 1, n_labeled, random_state=seed)


def machine(name, scheme="ovr", **params):
    known = ESTIMATORS[name]().get_params()
    params = {"C": 1.0, "gamma": GAMMA, "tol": 1e-7, "random_state": 0, "multiclass": scheme, "exact": False} | params
    params = {"population": 4} | params
    if name == "SDPTSVM":  # its tolerance is that of the relaxation
        params["tol"] = 1e-3
    if name == "MixedIntegerTSVM":  # else rows are held out for the slope of the coupling, and searched as well
        params = {"coupling": "pwc1"} | params
    return ESTIMATORS[name](**{key: value for key, value in params.items() if key in known})


def task_scores(fitted, X, rows):
    """F of every task at ``rows``, from the public attributes."""
    if hasattr(fitted, "coef_"):
        return rows @ fitted.coef_.T + fitted.intercept_
    return rbf_kernel(rows, X[fitted.support_], gamma=GAMMA) @ fitted.dual_coef_.T + fitted.intercept_


def clear_winner(scores):
    """Rows whose two largest scores differ: hinges put some at the margins of two classes at once."""
    top = np.sort(scores, axis=1)
    return top[:, -1] - top[:, -2] > 1e-9


def supervised_vote(name, X, y):
    """The class that pairwise machines on labeled rows alone vote for."""
    fits = [machine(name).fit(X[rows], y[rows]) for rows in (np.isin(y, pair) for pair in PAIRS)]
    return 1 + votes(np.column_stack([fit.decision_function(X) for fit in fits]), 3)


def rest_by_hand(name, X, y, **params):
    for c in SHARES:
        yield machine(name, balance=SHARES[c], **params).fit(X, np.where(y == -1, -1, np.where(y == c, 2, 1)))


def pairs_by_hand(name, X, y, **params):
    guess = supervised_vote(name, X, y)
    for i, j in PAIRS:
        near = (y == -1) & np.isin(guess, [i, j])
        rows = np.isin(y, [i, j]) | (near & ESTIMATORS[name]._semi_supervised)
        yield machine(name, balance=SHARES[j] / (SHARES[i] + SHARES[j]), **params).fit(X[rows], y[rows])


BY_HAND = {"ovr": rest_by_hand, "ovo": pairs_by_hand}


@ALL
@BOTH
@pytest.mark.parametrize("star", [0.2, None])
def test_a_fit_is_its_binary_fits(name, scheme, star):
    (X, y), new = data(), data(seed=1)[0]
    fitted = machine(name, scheme, C_unlabeled=star, balance=SHARES).fit(X, y)
    parts = list(BY_HAND[scheme](name, X, y, C_unlabeled=star))
    expected = np.column_stack([part.decision_function(new) for part in parts])
    np.testing.assert_allclose(task_scores(fitted, X, new), expected, atol=1e-6)
    np.testing.assert_allclose(fitted.objective_, [part.objective_ for part in parts], rtol=1e-9)
    if scheme == "ovr":
        np.testing.assert_allclose(fitted.decision_function(new), expected, atol=1e-6)


@BOTH
def test_a_fit_with_another_loss_is_its_binary_fits(scheme):
    X, y = data()
    parts = list(BY_HAND[scheme]("SVM", X, y, loss="squared_hinge"))
    fitted = machine("SVM", scheme, loss="squared_hinge").fit(X, y)
    expected = np.column_stack([part.decision_function(X) for part in parts])
    np.testing.assert_allclose(task_scores(fitted, X, X), expected, atol=1e-6)
    gaps = [certificate.gap for certificate in fitted.certificate_]
    np.testing.assert_allclose(gaps, [part.certificate_.gap for part in parts], atol=1e-6)


@ALL
@BOTH
@pytest.mark.parametrize("coupling", COUPLINGS)
def test_the_largest_score_is_predicted_and_fills_the_labels(name, scheme, coupling):
    X, y = data()
    fitted = machine(name, scheme, coupling=coupling).fit(X, y)
    scores = fitted.decision_function(X)
    assert scores.shape == (72, 3)
    np.testing.assert_array_equal(fitted.predict(X), fitted.classes_[scores.argmax(axis=1)])
    clear = clear_winner(scores)
    np.testing.assert_array_equal(fitted.transduction_[clear], np.where(y == -1, fitted.predict(X), y)[clear])


@ALL
@BOTH
@pytest.mark.parametrize("kernel", ["rbf", "linear"])
def test_shapes(name, scheme, kernel):
    X, y = data()
    fitted = machine(name, scheme, kernel=kernel).fit(X, y)
    sums = not (name in ONE_NORM and kernel == "linear")  # in the 1-norm w is no sum over rows
    if sums:
        assert fitted.dual_coef_.shape == (3, len(fitted.support_))
        assert fitted.dual_coef_.any(axis=0).all()
    assert fitted.intercept_.shape == fitted.objective_.shape == fitted.n_iter_.shape == fitted.n_active_.shape == (3,)
    assert len(fitted.certificate_) == len(fitted.objective_path_) == len(fitted.trace_) == 3
    assert all(certificate.kind == "gap" or certificate.value < 1e-5 for certificate in fitted.certificate_)
    assert [path[-1] for path in fitted.objective_path_] == pytest.approx(fitted.objective_.tolist(), rel=1e-9)
    assert fitted.converged_ is True
    if kernel == "linear" and name != "SparseLSSVM":  # whose machine is one of landmarks
        assert fitted.coef_.shape == (3, 3)
        if sums:
            np.testing.assert_allclose(fitted.coef_, fitted.dual_coef_ @ X[fitted.support_], atol=1e-6)
    else:
        np.testing.assert_array_equal(fitted.support_vectors_, X[fitted.support_])


@pytest.mark.parametrize("name", [EACH[name] for name in ESTIMATORS if name not in FEATURES])
@BOTH
def test_the_kernel_matrix_is_computed_once_for_all_tasks(name, scheme, monkeypatch):
    made, symmetric = [], Gram._symmetric
    monkeypatch.setattr(Gram, "_symmetric", lambda gram, rows: made.append(rows.X.shape[0]) or symmetric(gram, rows))
    X, y = data()
    fitted = machine(name, scheme).fit(X, y)
    fitted.predict(X)
    assert made == [72 if fitted._semi_supervised else 24]


@ALL
@pytest.mark.parametrize(("scheme", "kernel"), [("ovr", "rbf"), ("ovo", "rbf"), ("ovr", "linear")])
def test_threads_change_nothing(name, scheme, kernel):
    X, y = data()
    one, two = (machine(name, scheme, kernel=kernel, n_jobs=jobs).fit(X, y) for jobs in (None, 2))
    np.testing.assert_array_equal(two.intercept_, one.intercept_)
    np.testing.assert_array_equal(two.decision_function(X), one.decision_function(X))


@ALL
@BOTH
def test_names_of_classes_and_order_of_rows_do_not_matter(name, scheme):
    X, y = data()
    scores = machine(name, scheme).fit(X, y).decision_function(X)
    order = np.random.default_rng(0).permutation(72)
    names = np.array(["", "c", "a", "b"])[np.maximum(y, 0)]
    fitted = machine(name, scheme).fit(X[order], names[order])
    assert fitted.classes_.tolist() == ["a", "b", "c"]
    np.testing.assert_allclose(fitted.decision_function(X), scores[:, [1, 2, 0]], atol=1e-6)
    clear = clear_winner(scores)[order]
    expected = np.where(y == -1, fitted.predict(X), names)[order]
    np.testing.assert_array_equal(fitted.transduction_[clear], expected[clear])


@SEMI
@BOTH
def test_shares_of_three_classes_are_held(name, scheme):
    X, y = data()
    fitted = machine(name, scheme, balance={1: 5, 2: 3, 3: 2}, balance_tol=0.0, C_unlabeled=0.5).fit(X, y)
    f, hidden, guess = task_scores(fitted, X, X), y == -1, supervised_vote(name, X, y)
    if name in SEARCH:
        alpha = np.zeros((72, 3))
        alpha[fitted.support_] = fitted.dual_coef_.T
        labels = f + alpha / 0.5  # least squares: alpha = c (y - f)
        for column, (pair, wanted) in enumerate(zip(PAIRS, [3 / 8, 2 / 7, 2 / 5])):
            rows, share = (hidden, SHARES[1 + column])
            if scheme == "ovo":
                rows, share = hidden & np.isin(guess, pair), wanted
            np.testing.assert_allclose(np.abs(labels[rows, column]), 1.0, atol=1e-6)
            assert abs(np.count_nonzero(labels[rows, column] > 0) - share * rows.sum()) <= 0.5
        return
    if name in COUNTS:
        codes, weight, method = np.where(hidden, -1, y - 1), np.ones(72), fitted._method()
        tasks = fitted._tasks(codes, weight, guess - 1)
        space = fitted._space(fitted._kernel_of(GAMMA), X, codes)
        found = fitted._solve(method, [fitted._problem(method, space, task, weight) for task in tasks])
        for solution, task in zip(found, tasks):
            rows = hidden & task.present
            assert abs(np.count_nonzero(solution.labels[rows] > 0) - task.share * rows.sum()) <= 0.5 + 1e-9
        np.testing.assert_allclose(np.column_stack([s.scores for s in found]), f, atol=1e-6)
        return
    if scheme == "ovr":
        np.testing.assert_allclose(f[hidden].mean(axis=0), [0.0, -0.4, -0.6], atol=1e-8)
        return
    for column, (pair, wanted) in enumerate(zip(PAIRS, [3 / 8, 2 / 7, 2 / 5])):
        assert f[hidden & np.isin(guess, pair), column].mean() == pytest.approx(2.0 * wanted - 1.0, abs=1e-8)


@SEMI
@BOTH
@pytest.mark.parametrize(
    ("balance", "said"),
    [
        (0.3, r"balance=0.3 is one share and y holds 3 classes; pass a mapping"),
        ({1: 0.5, 2: 0.5}, r"balance names the classes \[1, 2\] and y holds \[1, 2, 3\]"),
        ({1: 0.5, 2: 0.7, 3: -0.2}, r"balance\[3\]=-0.2 is not allowed"),
    ],
)
def test_shares_that_do_not_fit_three_classes_are_refused(name, scheme, balance, said):
    with pytest.raises(ValueError, match=said):
        machine(name, scheme, balance=balance).fit(*data())


@SEMI
@pytest.mark.parametrize("forced", [None, 1, 3])
def test_an_unlabeled_row_takes_part_in_the_pairs_of_its_vote_alone(name, forced, monkeypatch):
    X, y = data()
    guess = supervised_vote(name, X, y) if forced is None else np.full(72, forced)
    if name in ONE_NORM:
        pytest.skip("in the 1-norm w is no sum over rows; test_a_fit_is_its_binary_fits sees who takes part")
    monkeypatch.setattr(_base, "votes", votes if forced is None else lambda scores, k: guess - 1)
    fitted = machine(name, "ovo", coupling="pwc1").fit(X, y)
    coef = np.zeros((3, 72))
    coef[:, fitted.support_] = np.where(np.abs(fitted.dual_coef_) > 1e-9, fitted.dual_coef_, 0.0)
    for row, pair in zip(coef, PAIRS):
        assert not row[(y == -1) & ~np.isin(guess, pair)].any()
        assert not row[(y != -1) & ~np.isin(y, pair)].any()
        if name not in HINGE and not issubclass(ESTIMATORS[name], NewtonMachine):  # rows beyond their margin have none
            assert row[(y == -1) & np.isin(guess, pair)].all()  # a balance gives every row that takes part one


@ALL
@BOTH
def test_a_class_with_a_single_label(name, scheme):
    X, y = data()
    y[np.flatnonzero(y == 2)[1:]] = -1
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        fitted = machine(name, scheme, coupling="pwc1").fit(X, y)
    assert fitted.classes_.tolist() == [1, 2, 3]
    assert np.isfinite(fitted.decision_function(X)).all()
    np.testing.assert_array_equal(fitted.transduction_[y != -1], y[y != -1])


@SEMI
@BOTH
def test_the_supervised_machine_beside_it(name, scheme):
    X, y = data()
    beside, known = machine(name, scheme, coupling="pwc3").fit(X, y).supervised_, y != -1
    loss = "hinge" if type(machine(name)._method().labeled).__name__ == "Hinge" else "squared_hinge"
    expected = SVM(1.0, loss=loss, gamma=GAMMA, tol=1e-7, multiclass=scheme, coupling="pwc3")
    if name in HINGE:
        expected.set_params(fit_intercept=machine(name).fit_intercept)
    if name in SEARCH:
        intercept = ESTIMATORS[name]().fit_intercept
        expected = LSSVM(1.0, gamma=GAMMA, fit_intercept=intercept, multiclass=scheme, coupling="pwc3")
    if name in ONE_NORM:
        expected = machine(name, scheme, coupling="pwc3")
    expected.fit(X[known], y[known])
    np.testing.assert_allclose(beside.decision_function(X), expected.decision_function(X), atol=1e-6)
    np.testing.assert_allclose(beside.predict_proba(X), expected.predict_proba(X), atol=1e-6)
    if name not in ONE_NORM:
        np.testing.assert_array_equal(beside.support_, np.flatnonzero(known)[expected.support_])


@ALL
@BOTH
def test_whole_weights_are_repeated_rows_and_a_class_without_weight_is_none(name, scheme):
    X, y = data()
    times = 1 + np.arange(72) % 3
    if name in COUNTS:
        times[y == -1] = 1  # copies of a row may get different labels, a row of twice the weight has one
    repeated = np.repeat(np.arange(72), times)
    coupling = "pwc1" if name in COUNTS else "pwc2"  # nor do copies that calibration holds out
    alike = {"coupling": coupling, "beta": 1.0}  # copies of a support vector are several ones
    weighted = machine(name, scheme, **alike).fit(X, y, sample_weight=times).decision_function(X)
    longer = machine(name, scheme, **alike).fit(X[repeated], y[repeated])
    np.testing.assert_allclose(weighted, longer.decision_function(X), atol=1e-6)
    fewer = machine(name, scheme).fit(X, y, sample_weight=(y != 2) * 1.0)
    assert fewer.classes_.tolist() == [1, 3]
    expected = machine(name).fit(X[y != 2], y[y != 2])  # two classes are the same task in both schemes
    np.testing.assert_allclose(fewer.decision_function(X), expected.decision_function(X), atol=1e-8)


@LEAST
@BOTH
def test_least_squares_over_the_memory_limit(name, scheme, monkeypatch):
    X, y = data()
    exact = machine(name, scheme).fit(X, y)
    monkeypatch.setenv("SEMISVM_MEMORY", "40000")
    fitted = machine(name, scheme, n_jobs=2).fit(X, y)
    rows = 72 if fitted._semi_supervised else 24
    if name != "SparseLSSVM" and rows == 72:
        assert fitted.dual_coef_.shape[1] == 40000 // (24 * 72)  # landmarks that leave room for the rest
        assert np.mean(fitted.predict(X) == exact.predict(X)) > 0.8
    monkeypatch.setenv("SEMISVM_MEMORY", "100")
    with pytest.raises(MemoryError, match=r"the limit is .*approximation='nystroem' or raise SEMISVM_MEMORY"):
        machine(name, scheme).fit(X, y)
    if name in SEARCH:
        monkeypatch.setenv("SEMISVM_MEMORY", "10000")
        with pytest.raises(MemoryError, match="approximation='nystroem'"):
            machine(name, scheme, approximation=None).fit(X, y)


@pytest.mark.parametrize("name", [EACH[name] for name in ESTIMATORS if name not in LEAST_SQUARES])
@BOTH
def test_over_the_memory_limit(name, scheme, monkeypatch):
    X, y = data()
    expected = machine(name, scheme).fit(X, y).decision_function(X)
    monkeypatch.setenv("SEMISVM_MEMORY", "1000")
    if name == "SDPTSVM":
        with pytest.raises(MemoryError, match="raise the environment variable SEMISVM_MEMORY"):
            machine(name, scheme).fit(X, y)
        return
    if name == "BranchBoundTSVM":  # there is no room for a tree
        with pytest.warns(ConvergenceWarning, match="max_nodes"):
            fitted = machine(name, scheme, coupling="pwc1").fit(X, y)
        assert all(0 < certificate.gap < np.inf for certificate in fitted.certificate_)
        return
    fitted = machine(name, scheme, n_jobs=2).fit(X, y)
    np.testing.assert_allclose(fitted.decision_function(X), expected, atol=1e-6)


@ALL
@BOTH
def test_a_precomputed_kernel_is_the_kernel(name, scheme):
    X, y = data()
    K, expected = rbf_kernel(X, gamma=GAMMA), machine(name, scheme, kernel="rbf").fit(X, y)
    fitted = machine(name, scheme, kernel="precomputed").fit(K, y)
    scores = K[:, fitted.support_] @ fitted.dual_coef_.T + fitted.intercept_
    np.testing.assert_array_equal(fitted.support_, expected.support_)
    np.testing.assert_allclose(scores, task_scores(expected, X, X), atol=1e-6)
    best = np.sort(fitted.decision_function(K), axis=1)
    clear = (y == -1) & (best[:, -1] - best[:, -2] > 1e-9)  # in the 1-norm a row may be at the margin of two classes
    np.testing.assert_array_equal(fitted.predict(K)[clear], fitted.transduction_[clear])
