"""The models of an estimator as functions of the logarithms of its hyperparameters.

A ``ModelFamily`` is made of an estimator and its data; ``at`` gives the models at one point: solved binary problems,
all samples behind one kernel matrix, and the way back from derivatives in that matrix and in the costs to the gradient

    dE / d log theta = <dE/dK, dK / d log theta> + sum of dE / d log c_i over the costs that theta scales.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from sklearn.base import clone

from ..._validation import check_sample_weight
from ...losses import Squared
from ...problem import Problem
from ...solution import Solution
from ...spaces import Kernel
from .kernel_family import KernelFamily, searchable_parameters
from .supported_models import TAKEN, check_supported, made_repeatable

if TYPE_CHECKING:
    from ...estimators.problems import BinaryProblems


class Solved(NamedTuple):
    """A binary problem and its solution."""

    problem: Problem
    solution: Solution


@dataclass(frozen=True)
class Member:
    """The models at one point of a family."""

    family: ModelFamily
    kernel: Kernel
    problems: BinaryProblems

    @property
    def K(self) -> np.ndarray:
        """The kernel matrix of all samples."""
        return self.problems.space.gram().compute()

    def solve(self, train: np.ndarray | None = None) -> list[Solved]:
        """The binary problems of all samples, or of those to train on: the others have neither label nor weight.

        Whatever the solver decides, shares of the classes included, it decides without them.
        """
        codes, weights = self.family.codes, self.family.weights
        if train is not None:
            trained = np.zeros(len(codes), dtype=bool)
            trained[train] = True
            codes, weights = np.where(trained, codes, -1), np.where(trained, weights, 0.0)
        solutions = self.problems.solve(codes, weights)
        tasks = self.problems.tasks(codes, weights)
        return [Solved(self.problems.state(task, weights), one) for task, one in zip(tasks, solutions)]

    def gradient(self, in_kernel: np.ndarray, in_labeled_cost: float, in_unlabeled_cost: float) -> np.ndarray:
        """The gradient from the derivatives in K (n x n) and in the logarithms of the two costs."""
        tied = self.problems.settings.unlabeled is None or self.problems.settings.unlabeled.C is None
        found = []
        for name in self.family.names:
            if name == "C":
                found.append(in_labeled_cost + (in_unlabeled_cost if tied else 0.0))
            elif name == "C_unlabeled":
                found.append(in_unlabeled_cost)
            else:
                found.append(float(np.vdot(in_kernel, self.family.kernels.slope(self.kernel, self.K, name))))
        return np.array(found)


class ModelFamily:
    """The models of an estimator on some data as functions of the logarithms of its hyperparameters.

    Parameters
    ----------
    estimator : SVM, LSSVM or a semi-supervised LS-SVM
        Says what is fitted; itself it is left as it is.
    X, y, sample_weight : as in ``fit``
        The data.
    params : sequence of str or None
        Hyperparameters; None for C and, where the kernel has it, gamma.
    """

    def __init__(self, estimator: Any, X: Any, y: Any, sample_weight: Any = None, params: Sequence[str] | None = None):
        if not hasattr(estimator, "_prepare"):
            raise ValueError(f"{type(estimator).__name__} is not allowed; {TAKEN}")
        data, problems = clone(estimator)._prepare(X, y, sample_weight)
        check_supported(problems)
        self.kept, self.n_samples = data.kept, len(data.weights)
        self.classes = data.labels.classes
        self.codes, self.weights = data.labels.codes[data.kept], data.weights[data.kept]
        self.criterion_weights = self.weights
        self._problems = made_repeatable(problems)
        self.kernels = KernelFamily(problems.kernel, problems.space.X)
        self.names = self._check_names(params)
        self.start = np.log([self._own_values()[name] for name in self.names])

    def weigh_criterion(self, sample_weight: Any) -> None:
        """Give the labeled samples other weights in the criterion than in the models; None for equal ones."""
        self.criterion_weights = check_sample_weight(sample_weight, self.n_samples)[self.kept]
        if not self.criterion_weights[self.codes >= 0].any():
            raise ValueError("sample_weight is 0 at all labeled samples, which the criterion is a mean of; weigh some.")

    def _own_values(self) -> dict[str, float]:
        """The hyperparameters that can be searched, as the estimator has them."""
        kernel, unlabeled = self._problems.kernel, self._problems.settings.unlabeled
        values = {"C": self._problems.C} | {name: getattr(kernel, name) for name in searchable_parameters(kernel)}
        if unlabeled is not None and unlabeled.C:
            values["C_unlabeled"] = float(unlabeled.C)
        return values

    def _check_names(self, params: Sequence[str] | None) -> tuple[str, ...]:
        allowed = self._own_values()
        if params is None:
            return tuple(name for name in ("C", "gamma") if name in allowed)
        names = (params,) if isinstance(params, str) else tuple(params)
        wrong = [name for name in names if name not in allowed]
        if wrong or not names or len(set(names)) < len(names):
            raise ValueError(
                f"params={params!r} is not allowed; params takes different names out of {', '.join(allowed)}, the "
                f"positive hyperparameters of this {self._problems.settings.name} (C_unlabeled if it is a number)."
            )
        return names

    @cached_property
    def signs(self) -> np.ndarray:
        """Labels of +-1 of the labeled samples, a column per binary problem of one class against the rest."""
        positive = np.arange(len(self.classes)) if len(self.classes) > 2 else np.array([1])
        return np.where(self.codes[:, None] == positive, 1.0, -1.0)

    @property
    def is_least_squares(self) -> bool:
        """Whether held-out scores of single samples have a closed form."""
        return isinstance(self._problems.settings.formulation.labeled, Squared)

    @property
    def is_supervised(self) -> bool:
        """Whether the labels of all samples of the fit are given."""
        return self._problems.settings.unlabeled is None

    @property
    def intercept(self) -> bool | str:
        """Whether b is free, absent or part of the norm."""
        return self._problems.settings.intercept

    def values(self, theta: np.ndarray) -> dict[str, float]:
        """Hyperparameters from their logarithms."""
        return {name: float(value) for name, value in zip(self.names, np.exp(theta))}

    def kernel_at(self, theta: np.ndarray) -> Kernel:
        """The kernel at a point."""
        changed: dict[str, Any] = {k: v for k, v in self.values(theta).items() if k in Kernel._fields}
        return self._problems.kernel._replace(**changed)

    def cost_at(self, theta: np.ndarray) -> float:
        """C at a point."""
        return self.values(theta).get("C", self._problems.C)

    def at(self, theta: np.ndarray) -> Member:
        """The models at a point."""
        values, kernel = self.values(theta), self.kernel_at(theta)
        settings = self._problems.settings
        if settings.unlabeled is not None and "C_unlabeled" in values:
            settings = replace(settings, unlabeled=settings.unlabeled._replace(C=values["C_unlabeled"]))
        space = self.kernels.gram(kernel)
        problems = replace(self._problems, settings=settings, kernel=kernel, C=self.cost_at(theta), space=space)
        return Member(self, kernel, problems)
