"""Class shares of the unlabeled samples: what is asked for by default, what is reached, and what is said of it."""

import warnings

import numpy as np
import pytest

from factories import (
    SEMI_SUPERVISED,
    blobs,
    few_unlabeled,
    keeps_counts,
    make_estimator,
    two_gaussians,
)
from semisvm import CCCPTSVM, S3VM, ContinuationTSVM, GradientTSVM, ProgressiveLSSVM, SwitchingLSSVM, SwitchingTSVM
from semisvm.balance import ClassShares
from semisvm.estimators.base import settings_of
from semisvm.estimators.problems import prepare
from semisvm.model_selection.shares import ShareEstimator
from semisvm.self_training import WRAPPERS, SelfTraining

every_semi_supervised = pytest.mark.parametrize("name", SEMI_SUPERVISED)
MEAN_FORMS = [name for name in SEMI_SUPERVISED if not keeps_counts(name)]


def share_of(labels, c, weights=None):
    return np.average(labels == c, weights=weights)


def uneven(n=120, share=0.3, seed=0):
    """Two classes, 1 and 2, of which 2 has this share, with 20 labels in proportion."""
    rng = np.random.default_rng(seed)
    y = np.where(np.arange(n) < share * n, 2, 1)
    X = rng.standard_normal((n, 3)) + 1.6 * (y[:, None] == 2)
    known = np.r_[np.flatnonzero(y == 2)[: round(20 * share)], np.flatnonzero(y == 1)[: 20 - round(20 * share)]]
    partly = np.full(n, -1)
    partly[known] = y[known]
    return X, y, partly


# ------------------------------------------------------------------------------------------- what is asked for


@pytest.mark.parametrize("multiclass", ["ovr", "ovo"])
@pytest.mark.parametrize("cls", [CCCPTSVM, SelfTraining])
def test_shares_are_estimated_once_per_fit(cls, multiclass, monkeypatch):
    estimated, estimate = [], ShareEstimator._estimate
    monkeypatch.setattr(ShareEstimator, "_estimate", lambda *args: estimated.append(args) or estimate(*args))
    options = {"multiclass": multiclass} if cls is CCCPTSVM else {}
    fitted = cls(balance="auto", **options).fit(*blobs())
    seen = [codes.tobytes() for _, codes, _ in estimated]  # of all samples first; pairs of classes are calibrated, too
    assert len(seen) == len(set(seen)) == (6 if options.get("multiclass") == "ovo" else 1)
    _, codes, k = estimated[0]
    assert list(fitted.share_.asked.values()) == estimate(*estimated[0]).shares.tolist()
    assert (len(codes), k) == (72, 3)


@every_semi_supervised
def test_the_default_is_an_estimated_share_up_to_its_standard_error(name):
    X, y = few_unlabeled(name, *two_gaussians(60, 20))
    fitted = make_estimator(name, population=4, random_state=0).fit(X, y)
    estimated = ShareEstimator(X, y != -1, np.ones(len(y))).estimate(np.where(y == -1, -1, y - 1), 2)
    assert fitted.balance == "auto"
    assert fitted.share_.asked == pytest.approx(dict(zip([1, 2], estimated.shares)))
    if hasattr(fitted, "balance_tol"):
        assert fitted.balance_tol == "auto"
        error = np.sqrt(np.prod(estimated.shares) / estimated.n_labels)
        assert abs(fitted.share_.reached[2] - estimated.shares[1]) <= max(error, 0.5 / np.count_nonzero(y == -1)) + 1e-9
    labeled = make_estimator(name, population=4, random_state=0, balance="labeled").fit(X, y)
    share = share_of(y[y != -1], 2)
    assert labeled.share_.asked == pytest.approx({1: 1 - share, 2: share})


@pytest.mark.parametrize("name", ["SwitchingTSVM", "MultiSwitchTSVM", "LocalSearchRLSC", "DCLSSVM"])
def test_a_tolerance_of_zero_keeps_the_share_exactly_and_a_given_share_is_kept_so(name):
    X, y = two_gaussians(60, 20)
    rest = np.count_nonzero(y == -1)
    exact = make_estimator(name, balance_tol=0.0).fit(X, y)
    assert round(exact.share_.reached[2] * rest) == pytest.approx(exact.share_.asked[2] * rest, abs=0.5 + 1e-9)
    assert make_estimator(name, balance=0.3).fit(X, y).share_.reached[2] == pytest.approx(0.3)


def test_a_fold_sees_no_held_out_label_through_the_share():
    """Held-out labels may say anything: the scores of their samples stay."""
    X, y = two_gaussians(60, 20)
    codes = np.where(y == -1, -1, y - 1)
    group = np.flatnonzero(codes >= 0)[:4]
    scores = []
    for flipped in (False, True):
        labels = codes.copy()
        labels[group] = 1 - codes[group] if flipped else codes[group]
        settings = settings_of(GradientTSVM(C=1.0))
        problems = prepare(settings, np.array([1, 2]), X, labels, np.ones(len(y)))
        scores.append(problems.held_out_scores(labels, np.ones(len(y)), [group])[group])
    np.testing.assert_array_equal(*scores)


@pytest.mark.parametrize("name", WRAPPERS)
def test_self_training_has_no_balance_by_default(name):
    X, y = two_gaussians()
    fitted = make_estimator(name).fit(X, y)
    assert fitted.balance is None
    assert fitted.share_.asked is None
    assert fitted.share_.reached[2] == pytest.approx(share_of(fitted.transduction_[y == -1], 2))


def test_uneven_classes_are_not_forced_into_halves():
    X, y, partly = uneven()
    hidden = partly == -1
    fitted = ProgressiveLSSVM(balance="labeled").fit(X, partly)
    error, supervised = (
        np.mean(labels[hidden] != y[hidden]) for labels in (fitted.transduction_, fitted.supervised_.predict(X))
    )
    in_turns = ProgressiveLSSVM(balance=None).fit(X, partly)
    assert error <= supervised
    assert in_turns.share_.reached[2] == pytest.approx(0.3)  # as among the labeled samples


# ------------------------------------------------------------------------------------------- what is reached


@pytest.mark.parametrize("name", [*SEMI_SUPERVISED, *WRAPPERS])
def test_shares_reached_are_those_of_the_labels_by_weight(name):
    X, y = few_unlabeled(name, *two_gaussians(60, 20))
    weights = np.where(np.arange(len(y)) % 3 == 0, 2.0, 1.0)
    weights[np.flatnonzero(y == -1)[:2]] = 0.0
    fitted = make_estimator(name, population=4, random_state=0).fit(X, y, sample_weight=weights)
    rest = y == -1
    assert fitted.share_.reached[2] == pytest.approx(share_of(fitted.transduction_[rest], 2, weights[rest]))
    assert sum(fitted.share_.reached.values()) == pytest.approx(1.0)


def test_without_unlabeled_samples_or_an_unlabeled_loss_there_is_nothing_to_compare():
    X, y = two_gaussians(30, 30)
    assert CCCPTSVM(balance=None).fit(X, y).share_ == ClassShares(None, None)
    X, y = two_gaussians()
    assert S3VM(unlabeled_loss=None).fit(X, y).share_.asked is None


@pytest.mark.parametrize("name", MEAN_FORMS)
@pytest.mark.parametrize("balance", [0.3, {1: 7, 2: 3}, 0.0], ids=str)
def test_a_given_share_is_that_of_the_labels_and_leaves_the_model_alone(name, balance):
    X, y = two_gaussians(100, 20)
    fitted = make_estimator(name, balance=balance).fit(X, y)
    share = 0.0 if balance == 0.0 else 0.3
    rest = y == -1
    assert share_of(fitted.transduction_[rest], 2) == pytest.approx(share)
    assert fitted.share_.reached == pytest.approx({1: 1 - share, 2: share})
    f = fitted.decision_function(X)
    assert f[rest].mean() == pytest.approx(2 * share - 1, abs=1e-6)
    np.testing.assert_array_equal(fitted.predict(X) == 2, f > 0)
    highest = f[rest & (fitted.transduction_ == 2)].min(initial=np.inf)
    assert highest >= f[rest & (fitted.transduction_ == 1)].max()
    np.testing.assert_array_equal(fitted.transduction_[~rest], y[~rest])


@pytest.mark.parametrize("name", ["CCCPTSVM", "SwitchingTSVM", "GradientTSVM"])
@pytest.mark.parametrize("scheme", ["ovr", "ovo"])
def test_given_shares_of_three_classes_are_those_of_the_labels(name, scheme):
    X, y = blobs(n=90, n_labeled=30)
    shares = {0: 0.5, 1: 0.3, 2: 0.2}
    fitted = make_estimator(name, balance=shares, multiclass=scheme, balance_tol=0.0).fit(X, y)
    assert fitted.share_.reached == pytest.approx(shares)
    labeled = make_estimator(name, balance="labeled", multiclass=scheme).fit(X, y)
    np.testing.assert_array_equal(labeled.transduction_[y == -1], labeled.predict(X)[y == -1])


def test_the_safe_projection_keeps_no_share():
    X, y = two_gaussians()
    assert SwitchingLSSVM(safe=True).fit(X, y).share_.asked is None
    for balance in (0.1, {1: 0.4, 2: 0.6}, "labeled"):
        with pytest.raises(ValueError, match=r"^balance=.* is not allowed with safe=True"):
            SwitchingLSSVM(balance=balance, safe=True).fit(X, y)


# ------------------------------------------------------------------------------------------- one class alone


@pytest.mark.parametrize(
    "estimator",
    [CCCPTSVM(gamma=1.0, balance=0.7), GradientTSVM(gamma=10.0, balance=0.3)],
    ids=lambda one: type(one).__name__,
)
def test_all_samples_in_one_class_are_warned_of(estimator):
    X, y = two_gaussians(300, 20, 60, 0.25)
    with pytest.warns(UserWarning, match=r"all 280 unlabeled samples.*balance=0\.\d.*gamma.*C ") as warned:
        estimator.fit(X, y)
    assert warned[0].filename == __file__
    assert len(set(estimator.predict(X[y == -1]))) == 1
    assert share_of(estimator.transduction_[y == -1], 2) == pytest.approx(estimator.balance)


def test_one_class_alone_is_warned_of_without_a_balance_too():
    X, y = two_gaussians(300, 20, 60, 0.25)
    with pytest.warns(UserWarning, match=r"all 280 unlabeled samples.*of the labeled samples are.*balance='auto'"):
        CCCPTSVM(gamma=1.0, balance=None).fit(X, y)


@pytest.mark.parametrize("cls", [CCCPTSVM, GradientTSVM, ContinuationTSVM])
def test_a_share_that_is_missed_is_warned_of(cls):
    """A mean of f does not fix the share: of skewed samples few lie above their mean, and w is small here."""
    x = np.exp(2.0 * np.random.default_rng(0).standard_normal(200))
    y = np.where(x > np.median(x), 2, 1)
    y[np.concatenate([np.flatnonzero(y == c)[20:] for c in (1, 2)])] = -1
    X, rest, params = x[:, None], y == -1, {"C": 1e-3, "kernel": "linear", "balance": "labeled"}
    with pytest.warns(UserWarning, match=r"are in the class [12], and balance='labeled' asks for 0\.5 \+- ") as warned:
        fitted = cls(**params).fit(X, y)
    assert warned[0].filename == __file__
    assert fitted.share_.reached[2] == pytest.approx(np.mean(x[rest] > x[rest].mean()))
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert SwitchingTSVM(**params).fit(X, y).share_.reached[2] == pytest.approx(0.5, abs=0.1)


@pytest.mark.filterwarnings("error")
@pytest.mark.parametrize("balance", [1.0, 0.99], ids=str)
def test_one_class_that_was_asked_for_is_not_warned_of(balance):
    X, y = two_gaussians(40, 30, shift=3.0)
    keep = (y != -1) | (X.sum(axis=1) > 0)
    fitted = CCCPTSVM(balance=balance, gamma=0.01).fit(X[keep], y[keep])
    assert set(fitted.transduction_[y[keep] == -1]) == {2}
