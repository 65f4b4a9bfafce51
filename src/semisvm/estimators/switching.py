"""Transductive SVMs that search over labels, each labeling with its own SVM."""

from __future__ import annotations

from abc import abstractmethod
from typing import Any

from .._validation import Options, Real
from ..losses import Hinge, SquaredHinge, SymmetricHinge, SymmetricSquaredHinge
from ..solvers import Genetic, PairSwitching, Solver
from ._hinge import HingeLabelsTSVM
from .parameters import limit_parameter, parameter, random_state_parameter, tol_parameter
from .problems import Formulation


class HingeLabelSearch(HingeLabelsTSVM):
    """Hinges or squared hinges on all samples."""

    loss: str = parameter(
        "hinge", Options(["hinge", "squared_hinge"]), doc=":math:`(1-t)_+` as in the article, or its square."
    )

    @abstractmethod
    def _solver(self) -> Solver:
        """The search of the subclass."""

    def _formulation(self) -> Formulation:
        if self.loss == "hinge":
            return Formulation(Hinge(), SymmetricHinge(), self._solver())
        return Formulation(SquaredHinge(), SymmetricSquaredHinge(), self._solver())


class SwitchingTSVM(HingeLabelSearch):
    r"""Transductive SVM by switching pairs of labels, as in SVM-light.

    Minimizes over f and the labels of the unlabeled samples

    .. math:: \tfrac12\|w\|^2 + C \sum_{i \in L} (1 - y_i f(x_i))_+ + C^* \sum_{j \in U} (1 - y_j f(x_j))_+

    with a share of positive labels that is fixed by ``balance``. The samples that the supervised SVM scores highest
    start as positive; C* increases from 1e-5 of its value, and at each level the two samples of opposite labels whose
    swap gains most are swapped and the SVM is trained again from the last point, until no swap gains. It works on the
    kernel matrix; :class:`MultiSwitchTSVM` is for many samples and sparse data.

    {parameters}

    {attributes}
    trace_ : list of dict
        Per SVM: objective, level (the share of C* that counts) and the objective there, labels changed, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels up to a violation of ``value``, and no swap helps at that f.

    References
    ----------
    T. Joachims, "Transductive inference for text classification using support vector machines", ICML, 1999.

    Examples
    --------
    >>> from semisvm import SwitchingTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = SwitchingTSVM(C=1.0).fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    44
    """

    tol: float = tol_parameter("Largest violation of the optimality conditions of the last SVM, in units of f.")
    max_iter: int = limit_parameter(100_000, "Largest number of SVMs trained.")

    def _solver(self) -> PairSwitching:
        return PairSwitching(self.tol, self.max_iter, max_time=self.max_time)


class GeneticTSVM(HingeLabelSearch):
    r"""Transductive SVM by a genetic algorithm: S3VM-GA.

    Minimizes the objective of :class:`SwitchingTSVM`. A population of labelings of the unlabeled samples is crossed and
    mutated; the fitness of an individual is :math:`\beta L + (1-\beta) N_{SV}`, where L is the objective of the SVM
    trained on it and :math:`N_{SV}` the number of its support vectors, and the smallest is best. Labels of samples with
    a large slack mutate most. The unlabeled samples join a few at a time, those nearest to the working set first. At
    the end the best labeling is improved by switching. It finds low objectives where descent gets stuck, at the price
    of some thousand SVMs: a matter of seconds for hundreds of unlabeled samples, of minutes for thousands. Where no
    more than ``population * generations`` labelings keep the balance (eleven unlabeled samples, say), the SVM of each
    is trained and the best one returned.

    {parameters}

    {attributes}
    objective_, objective_path_ : float, array
        The objective at ``transduction_`` at the end, and before that of the best individual on the working set.
    trace_ : list of dict
        Per generation: objective and fitness of the best individual, samples in the working set, violation.
    certificate_ : Certificate
        Of kind "stationary": f is best for the labels up to a violation of ``value``, and no swap helps at that f.

    References
    ----------
    M. M. Adankon and M. Cheriet, "Genetic algorithm-based training for semi-supervised SVM", Neural Computing and
    Applications 19, 2010. https://doi.org/10.1007/s00521-010-0358-8

    Examples
    --------
    >>> from semisvm import GeneticTSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(150, random_state=0)
    >>> model = GeneticTSVM(C=1.0, population=10, random_state=0).fit(X, hide_labels(y, 20, random_state=0))
    >>> bool((model.transduction_ != y).sum() <= 13)  # of 130 samples without a label; the last digits decide a search
    True
    """

    population: int = limit_parameter(30, "Number of individuals, at least 2.", low=2)
    generations: int = limit_parameter(100, "Largest number of generations each time that samples have joined.")
    beta: float = parameter(
        0.65,
        Real(0.0, 1.0, "both"),
        doc="Weight of the objective in the fitness; the rest is that of the number of support vectors.",
    )
    stall: int = limit_parameter(
        12, "Generations without a better fitness after which the search ends; a third of it before more samples join."
    )
    tol: float = tol_parameter("Largest violation of the optimality conditions of an SVM, in units of f.")
    random_state: Any = random_state_parameter("For the first labels, crossovers and mutations.")

    def _solver(self) -> Genetic:
        return Genetic(self.population, self.generations, self.beta, self.stall, self.tol, max_time=self.max_time)
