"""Semi-supervised least-squares SVM by Bayesian inference."""

from __future__ import annotations

from .._validation import Options, Real
from ..solution import Solution
from ..solvers import IntegerQuadratic
from ._attributes import one_or_all
from .lssvm_search import LSSVMSearchBase
from .parameters import NONE, limit_parameter, parameter


class BayesianLSSVM(LSSVMSearchBase):
    r"""Semi-supervised LS-SVM by two levels of inference: BS2LS-SVM.

    Minimizes, over w, b and the labels :math:`y_j = \pm 1` of the unlabeled samples,

    .. math:: \tfrac12\|w\|^2 + \tfrac C2 \sum_{i \in L} (y_i - f(x_i))^2 + \tfrac{C^*}2 \sum_{j \in U} (y_j - f(x_j))^2

    subject to the share of positive labels: with a Gaussian prior of precision :math:`\mu` on w and noise of precision
    :math:`\beta`, C = :math:`\beta/\mu`, these are the most probable labels (the article has C* = C). Few unlabeled
    samples are solved to the optimum, more are searched, and the certificate bounds what is left. The article works on
    ``approximation="kernel_pca"``.

    {parameters}

    {attributes}
    certificate_ : Certificate
        Of kind "gap": no labels have an objective below ``lower_bound``.
    evidence_ : float or array
        Log evidence of the labels found, at the best overall scale: ranks kernels and costs. NaN, as the next ones,
        where ``max_time`` ended the fit before the system of all samples was factored.
    mu_, beta_ : float or array
        The precisions at that scale; beta is that of labeled samples.

    References
    ----------
    M. M. Adankon, M. Cheriet and A. Biem, "Semisupervised learning using Bayesian interpretation: application to
    LS-SVM", IEEE Transactions on Neural Networks 22, 2011. https://doi.org/10.1109/TNN.2011.2105888

    Examples
    --------
    >>> from semisvm import BayesianLSSVM
    >>> from semisvm.datasets import hide_labels, make_two_gaussians
    >>> X, y = make_two_gaussians(550, random_state=0)
    >>> model = BayesianLSSVM(random_state=0).fit(X, hide_labels(y, 50, random_state=0))
    >>> int((model.transduction_ != y).sum())  # of 500 samples without a label
    52
    """

    exact: bool | str = parameter(
        "auto",
        Options(["auto", True, False]),
        doc='Prove the optimum: "auto" by enumeration of all labels of at most 18 samples, and by SCIP (extra '
        '"exact"), if installed, of at most 30; True of any number; False never: search, and bound by a relaxation.',
    )
    confidence_threshold: float | None = parameter(
        None,
        Real(0.0, closed="low"),
        NONE,
        doc=r"Unlabeled samples near a labeled one whose supervised \|f\| is at least this get that label before the "
        "search; None: all samples are searched.",
    )
    max_distance: float | None = parameter(
        None,
        Real(0.0, closed="low"),
        NONE,
        doc="What near means: a distance in feature space; None for the median of the distances to the closest labeled "
        "sample.",
    )
    n_init: int = limit_parameter(10, "Labelings to start from: the supervised one, then random ones.")
    max_iter: int = limit_parameter(1000, "Largest number of rounds over the samples.")

    def _solver(self) -> IntegerQuadratic:
        return IntegerQuadratic(
            self.exact,
            self.confidence_threshold,
            self.max_distance,
            self.n_init,
            self.max_iter,
            max_time=self.max_time,
        )

    def _copy_details(self, solutions: list[Solution]) -> None:
        for name in ("evidence_", "mu_", "beta_"):
            self.__dict__.pop(name, None)
        if self.safe:  # soft labels have no evidence
            return
        self.evidence_ = one_or_all([float(s.details["evidence"]) for s in solutions])
        self.mu_ = one_or_all([float(s.details["mu"]) for s in solutions])
        self.beta_ = self.C_ * self.mu_
