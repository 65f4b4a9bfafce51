"""What peers are compared on: samples with parameters, the objective that both minimize, and a run with its cost."""

from __future__ import annotations

from abc import ABC, abstractmethod
from pathlib import Path
from typing import Any, ClassVar, NamedTuple

import numpy as np
from sklearn.metrics.pairwise import rbf_kernel

from ...balance import Count, labels_in_band
from ...losses import Loss
from ...problem import Problem, objective_of_scores
from ...spaces import Features

RBF, LINEAR = "rbf", "linear"
ALL_LABELS, GIVEN_LABELS = "all labels", "given labels"
BY_SCORE, BY_SHARE = "sign", "share"


class PeerFailure(RuntimeError):
    """One sentence on why a peer gave no result."""


class Case(NamedTuple):
    """Samples and parameters.

    Parameters
    ----------
    name : str
        What the rows of the case are called.
    X : array or CSR of shape (n, d)
        Training samples.
    signs : float array of shape (n,)
        +1, -1, and 0 for unlabeled samples.
    y : float array of shape (n,)
        The signs of all.
    X_test, y_test : array or CSR, float array
        Test samples and their signs.
    C, gamma : float
        Cost at a labeled sample, and width of the rbf kernel exp(-gamma |x - z|^2).
    kernels : tuple of str
        Kernels of the formulations that are run.
    """

    name: str
    X: Any
    signs: np.ndarray
    y: np.ndarray
    X_test: Any
    y_test: np.ndarray
    C: float = 1.0
    gamma: float = 0.02
    kernels: tuple[str, ...] = (RBF, LINEAR)

    @property
    def unlabeled(self) -> np.ndarray:
        """Mask of the unlabeled samples."""
        return self.signs == 0

    @property
    def share(self) -> float:
        """True share of positive samples among the unlabeled ones, which every method is given."""
        return float(np.mean(self.y[self.unlabeled] > 0))


class LinearModel(NamedTuple):
    """f = x'w + b."""

    w: np.ndarray
    b: float

    def scores(self, X: Any) -> np.ndarray:
        """f at samples."""
        return np.asarray(X @ self.w, dtype=float) + self.b

    @property
    def norm2(self) -> float:
        """||w||^2."""
        return float(self.w @ self.w)


class KernelModel(NamedTuple):
    """f = sum of coef_i exp(-gamma |x - x_i|^2) + b."""

    points: Any
    coef: np.ndarray
    gamma: float
    b: float

    def scores(self, X: Any) -> np.ndarray:
        """f at samples."""
        return rbf_kernel(X, self.points, gamma=self.gamma) @ self.coef + self.b

    @property
    def norm2(self) -> float:
        """||w||^2."""
        return float(self.coef @ (self.scores(self.points) - self.b))


Model = LinearModel | KernelModel


class Formulation(NamedTuple):
    """What is minimized; the objective of every method of a formulation is computed by the same function.

    Parameters
    ----------
    name, minimizes : str
        A short name, and the objective in words and symbols.
    kernel : {"rbf", "linear"}
        The kernel.
    labels : {"all labels", "given labels"}
        Whether all labels are known or only the given ones.
    labeled, unlabeled : loss or None
        Losses; a formulation without any has no objective, its methods are compared by error and time.
    intercept : {True, "regularized"}
        Whether b is free or part of the norm.
    labeling : {"sign", "share"}
        The label at which an unlabeled sample pays its loss: the sign of f, or +1 at the largest scores until the
        share of positive samples is reached, which is the best labeling of that share.
    equal_cost : bool
        Whether C* is C; otherwise it is C l/u.
    """

    name: str
    minimizes: str
    kernel: str
    labels: str = GIVEN_LABELS
    labeled: Loss | None = None
    unlabeled: Loss | None = None
    intercept: bool | str = True
    labeling: str = BY_SCORE
    equal_cost: bool = False

    def signs(self, case: Case) -> np.ndarray:
        """The signs that a method is given."""
        return case.y if self.labels == ALL_LABELS else case.signs

    def unlabeled_cost(self, case: Case) -> float:
        """C*."""
        n_unlabeled = int(case.unlabeled.sum())
        return case.C if self.equal_cost else case.C * (len(case.y) - n_unlabeled) / n_unlabeled

    def objective(self, case: Case, model: Model) -> float | None:
        """The objective of a model, by ``semisvm.problem``; None where methods have none in common."""
        if self.labeled is None:
            return None
        signs = self.signs(case)
        cost = np.where(signs != 0, case.C, self.unlabeled_cost(case))
        problem = Problem(Features(case.X), signs, cost, self.labeled, self.unlabeled, intercept=self.intercept)
        f, labels = model.scores(case.X), None
        if self.labeling == BY_SHARE:
            labels, rest = signs.copy(), signs == 0
            labels[rest] = labels_in_band(f[rest], np.ones(rest.sum()), Count(case.share))
        return objective_of_scores(problem, model.norm2, f, model.b, labels)


class Cost(NamedTuple):
    """Seconds, CPU seconds, and the largest memory of the process in MiB, None where the system does not tell."""

    seconds: float
    cpu_seconds: float
    peak_mib: float | None


class Run(NamedTuple):
    """What a method gave: its cost, its scores or labels at the test samples, and its model if it has an objective."""

    cost: Cost
    predictions: np.ndarray
    model: Model | None = None


class Peer(ABC):
    """A method of a program or library.

    Attributes
    ----------
    name : str
        What the row is called.
    program : str
        The program or library.
    formulation : Formulation
        What it minimizes.
    """

    program: ClassVar[str] = ""
    name: str
    formulation: Formulation

    @abstractmethod
    def run(self, case: Case, folder: Path) -> Run:
        """Fit a case; files go to the folder. Raises PeerFailure with one sentence."""
