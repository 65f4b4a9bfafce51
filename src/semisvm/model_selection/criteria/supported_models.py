"""Which models have criteria with gradients."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from sklearn.utils import check_random_state

from ...losses import Hinge, Squared, SquaredHinge, SymmetricSquared
from ...solvers import LeastSquares, SafeProjection, SupervisedSVM
from ...spaces import MappedFeatures

if TYPE_CHECKING:
    from ...estimators.problems import BinaryProblems

SVM_TOL = 1e-6  # so that the free support vectors are those of the solution
TAKEN = (
    "criteria with gradients take an SVM, an LSSVM or a semi-supervised least-squares SVM without approximation and "
    "without safe=True. For others use scikit-learn's searches with LabeledKFold."
)


def check_supported(problems: BinaryProblems) -> None:
    """Refuse models whose derivatives are not known here."""
    settings = problems.settings
    labeled, unlabeled, solver, norm = settings.formulation
    least_squares = isinstance(labeled, Squared) and not isinstance(solver, SafeProjection)
    if unlabeled is None:
        known = (least_squares and isinstance(solver, LeastSquares)) or (
            isinstance(labeled, Hinge | SquaredHinge) and isinstance(solver, SupervisedSVM)
        )
    else:
        known = least_squares and isinstance(unlabeled, SymmetricSquared)
    if not known or norm != 2 or isinstance(problems.space, MappedFeatures):
        raise ValueError(f"{settings.name} as it is set is not allowed; {TAKEN}")
    if settings.multiclass == "ovo" and len(problems.classes) > 2:
        raise ValueError(
            f"multiclass='ovo' is not allowed with {len(problems.classes)} classes; criteria with gradients are those "
            "of one model per class: pass multiclass='ovr'."
        )


def made_repeatable(problems: BinaryProblems) -> BinaryProblems:
    """The problems with solutions that depend on the hyperparameters alone, to more digits than a fit needs."""
    settings = problems.settings
    solver = settings.formulation.solver
    if isinstance(solver, SupervisedSVM):
        solver = replace(solver, tol=min(solver.tol, SVM_TOL))
    seed = int(check_random_state(settings.random_state).randint(2**31))
    formulation = settings.formulation._replace(solver=solver)
    return replace(problems, settings=replace(settings, formulation=formulation, random_state=seed))
