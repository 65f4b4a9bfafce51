"""The separators that are averaged: two methods in every space and a third one in all but one, at robust costs.

Costs are those of samples of total variance one, and C* = C l/u. No separator is chosen; see :mod:`.weighting`.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from ..balance import AskedShares, Mean
from ..losses import Gaussian, Hinge, Loss, SquaredHinge, SymmetricRamp
from ..problem import Problem
from ..solvers import CCCP, Continuation, GradientPath, Solver
from .feature_spaces import FeatureSpace

TOL = 1e-4
CCCP_TOL = 1e-2
CONTINUATION_CLASSES = 4  # with more of them every class is rare, and continuation is of no use
CCCP_CLASSES = 20  # with more of them CCCP takes four fifths of the time, for 0 and 1.5 points on two sets


class Separator(NamedTuple):
    """A method in a space.

    Attributes
    ----------
    method : str
        Its name in reports.
    space : str
        The name of the space.
    C : float
        Cost at a labeled sample, in a space of total variance one.
    labeled, unlabeled : loss
        The losses.
    solver : Solver
        The search.
    """

    method: str
    space: str
    C: float
    labeled: Loss
    unlabeled: Loss
    solver: Solver

    @property
    def name(self) -> str:
        """Method, cost and space."""
        return f"{self.method} C={self.C:g}, {self.space}"


def _separators() -> list[Separator]:
    gradient, continuation, cccp = GradientPath(TOL), Continuation(TOL), CCCP(tol=CCCP_TOL)
    separators = []
    for space in ("rbf 0.5", "linear", "graph", "rbf 2", "rbf 8"):
        separators += [
            Separator("CCCPTSVM", space, 10.0, Hinge(), SymmetricRamp(), cccp),
            Separator("ContinuationTSVM", space, 100.0, Hinge(), Gaussian(), continuation),
        ]
        if space != "rbf 8":
            separators.append(Separator("GradientTSVM", space, 1.0, SquaredHinge(), Gaussian(), gradient))
    return separators


SEPARATORS = _separators()  # the most useful spaces first, should the time not be enough for all


def separators_for(n_classes: int) -> list[Separator]:
    """The separators of so many classes."""
    most = {Continuation: CONTINUATION_CLASSES, CCCP: CCCP_CLASSES}
    return [one for one in SEPARATORS if n_classes <= most.get(type(one.solver), n_classes)]


def binary_problems(
    separator: Separator, space: FeatureSpace, codes: np.ndarray, weights: np.ndarray, asked: AskedShares
) -> list[Problem]:
    """The binary problems of a separator: one for two classes, else one per class against the rest."""
    known = codes >= 0
    C = separator.C / space.variance
    ratio = weights[known].sum() / weights[~known].sum()
    cost = C * weights * np.where(known, 1.0, ratio)
    k = len(asked.shares)
    return [
        Problem(
            space.features,
            np.where(known, np.where(codes == c, 1.0, -1.0), 0.0),
            cost,
            separator.labeled,
            separator.unlabeled,
            Mean(2.0 * float(asked.shares[c]) - 1.0),
            True,
            weights,
        )
        for c in ([1] if k == 2 else range(k))
    ]
