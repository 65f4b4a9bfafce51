"""Sizes at which single precision, blocks and caches are used; run with ``make slow``."""

import numpy as np
import pytest
from sklearn.svm import SVC

from semisvm import CCCPTSVM, SVM, RampSVM
from semisvm.datasets import hide_labels, make_two_gaussians
from semisvm.losses import Hinge
from semisvm.problem import Problem, objective
from semisvm.spaces import Gram, Kernel

pytestmark = pytest.mark.slow


def noisy(n, seed=0):
    rng = np.random.default_rng(seed)
    X = rng.standard_normal((n, 50))
    y = np.where(X @ rng.standard_normal(50) > 0, 1.0, -1.0)
    return X, np.where(rng.random(n) < 0.1, -y, y)


@pytest.mark.parametrize("memory", ["4e9", "2e7"])
def test_svm_reaches_the_objective_of_svc(memory, monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", memory)
    X, y = noisy(12_000)
    ours = SVM(1.0, gamma=0.02, unlabeled=None).fit(X, y)
    peer = SVC(gamma=0.02, cache_size=2000).fit(X, y)
    monkeypatch.setenv("SEMISVM_MEMORY", "4e9")
    problem = Problem(Gram(Kernel("rbf", 0.02), X), y, np.ones(len(y)), Hinge())
    coef = np.zeros(len(y))
    coef[peer.support_] = peer.dual_coef_[0]
    assert ours.objective_ == pytest.approx(objective(problem, coef, peer.intercept_[0]), rel=1e-4)
    assert ours.certificate_.value <= 1e-3
    assert ours.certificate_.gap <= 1e-3 * ours.objective_


@pytest.mark.parametrize("memory", ["4e9", "2e7"])
def test_cccp_is_stationary_and_balanced(memory, monkeypatch):
    monkeypatch.setenv("SEMISVM_MEMORY", memory)
    X, y = make_two_gaussians(9000, random_state=0)
    partly = hide_labels(y, 50, random_state=0)
    model = CCCPTSVM(1.0, gamma=0.02, balance="labeled").fit(X, partly)
    assert model.certificate_.value < 2e-3
    assert (np.diff(model.objective_path_) <= 1e-9 * model.objective_).all()
    assert abs(model.decision_function(X[partly == -1]).mean()) < 1e-5
    assert np.mean(model.transduction_ != y) < 0.08


def test_the_subset_start_ends_where_the_svm_start_does():
    X, y = noisy(9000)
    ends = [
        RampSVM(1.0, s=0.0, init=init, gamma=0.02, unlabeled=None, random_state=0).fit(X, y)
        for init in ("svm", "subset")
    ]
    assert ends[1].objective_ == pytest.approx(ends[0].objective_, rel=0.02)
    margin = y * ends[1].decision_function(X)
    assert not np.isin(np.flatnonzero(margin < -2e-3), ends[1].support_).any()
