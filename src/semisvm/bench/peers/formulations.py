"""The problems that several programs solve, each with our estimator."""

from __future__ import annotations

from ...losses import Gaussian, Hinge, SquaredHinge, SymmetricRamp, SymmetricSquaredHinge
from .base import ALL_LABELS, BY_SHARE, LINEAR, RBF, Formulation

RAMP = -0.3

HINGE_SVM = Formulation(
    "SVM, hinge, rbf",
    "1/2 |w|^2 + C sum (1 - y f)_+, b free, all labels given",
    RBF,
    ALL_LABELS,
    Hinge(),
)
SQUARED_HINGE_SVM = Formulation(
    "SVM, squared hinge, linear",
    "1/2 |w|^2 + 1/2 b^2 + C sum (1 - y f)_+^2, all labels given",
    LINEAR,
    ALL_LABELS,
    SquaredHinge(),
    intercept="regularized",
)
RAMP_TSVM = Formulation(
    "TSVM, ramp, rbf",
    f"1/2 |w|^2 + C sum (1 - y f)_+ + C* sum min({1 + RAMP:g}, (1 - |f|)_+), C* = C l/u, b free, mean of f given",
    RBF,
    labeled=Hinge(),
    unlabeled=SymmetricRamp(RAMP),
)
GAUSSIAN_TSVM = Formulation(
    "TSVM, Gaussian, rbf",
    "1/2 |w|^2 + C sum (1 - y f)_+ + C* sum exp(-3 f^2), C* = C l/u, b free, mean of f given",
    RBF,
    labeled=Hinge(),
    unlabeled=Gaussian(),
)
HINGE_TSVM = Formulation(
    "TSVM, hinge, rbf",
    "1/2 |w|^2 + C sum (1 - y f)_+ over labeled and unlabeled samples, b free, share of positive labels given",
    RBF,
    labeled=Hinge(),
    labeling=BY_SHARE,
    equal_cost=True,
)
SWITCHED_TSVM = Formulation(
    "TSVM, squared hinge, linear, switching",
    "1/2 |w|^2 + 1/2 b^2 + C sum (1 - y f)_+^2 + C* the same over unlabeled samples, C* = C l/u, share given",
    LINEAR,
    labeled=SquaredHinge(),
    intercept="regularized",
    labeling=BY_SHARE,
)
ANNEALED_TSVM = Formulation(
    "TSVM, squared hinge, linear, annealing",
    "1/2 |w|^2 + 1/2 b^2 + C sum (1 - y f)_+^2 + C* sum (1 - |f|)_+^2, C* = C l/u, share given on the way",
    LINEAR,
    labeled=SquaredHinge(),
    unlabeled=SymmetricSquaredHinge(),
    intercept="regularized",
)
NO_OBJECTIVE = Formulation("no common objective", "compared by error and time alone", RBF)
FORMULATIONS = (
    HINGE_SVM,
    SQUARED_HINGE_SVM,
    RAMP_TSVM,
    GAUSSIAN_TSVM,
    HINGE_TSVM,
    SWITCHED_TSVM,
    ANNEALED_TSVM,
    NO_OBJECTIVE,
)
