r"""Learning curves as power laws, from errors on held-out samples.

The error with m labels is modeled as :math:`e\,(m/l)^{-b}`, l being the number of labels at hand and e the error with
all of them. The number of held-out samples that are wrong is taken for a Poisson variable, and the parameters log e and
b have normal priors: a handful of labels says little about a slope. This is a Poisson regression with a logarithmic
link, a convex problem for Newton's method.

References
----------
.. [1] T. Viering and M. Loog, "The shape of learning curves: a review", IEEE Transactions on Pattern Analysis and
   Machine Intelligence 45(6), 2023. https://arxiv.org/abs/2103.10948
.. [2] P. McCullagh and J. A. Nelder, "Generalized linear models", 2nd edition, Chapman and Hall, 1989, chapter 6.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

MAX_ITER = 200
TOL = 1e-12
LONGEST = 1.0  # step, a factor of e in the error


class Prior(NamedTuple):
    """Normal priors: means and standard deviations of the logarithm of the error and of the exponent."""

    log_error: float
    log_error_deviation: float
    exponent: float
    exponent_deviation: float


class PowerLaw(NamedTuple):
    """A learning curve.

    Attributes
    ----------
    n_labels : float
        l, where the curve has the height ``error``.
    error, exponent : float
        e and b.
    covariance : array of shape (2, 2)
        Of log e and b.
    """

    n_labels: float
    error: float
    exponent: float
    covariance: np.ndarray

    def error_at(self, m: float) -> float:
        """The error with m labels."""
        return self.error * (m / self.n_labels) ** -self.exponent

    def gain(self, n: float) -> tuple[float, float]:
        """By how much n more labels lower the error, and the standard deviation of that."""
        ratio = (self.n_labels + n) / self.n_labels
        later = self.error_at(self.n_labels + n)
        gradient = np.array([self.error - later, later * np.log(ratio)])
        return self.error - later, float(np.sqrt(gradient @ self.covariance @ gradient))


def fit_power_law(
    sizes: np.ndarray, errors: np.ndarray, counts: np.ndarray, n_labels: float, prior: Prior | None = None
) -> PowerLaw:
    """Fit a power law to errors.

    Parameters
    ----------
    sizes, errors : arrays of shape (k,)
        Numbers of labels, and errors with them.
    counts : array of shape (k,)
        Numbers of independent held-out samples that each error is an average of.
    n_labels : float
        l, where the error is to be known.
    prior : Prior or None
        What is known before; without it two sizes and errors above zero are needed.

    Examples
    --------
    >>> import numpy as np
    >>> from semisvm.ensemble.power_law import fit_power_law
    >>> sizes = np.array([20, 30, 40])
    >>> curve = fit_power_law(sizes, 0.2 * (sizes / 50) ** -0.5, np.full(3, 50), 50)
    >>> round(curve.error_at(200), 6)
    0.1
    """
    design = np.column_stack([np.ones(len(sizes)), -np.log(np.asarray(sizes) / n_labels)])
    precision, mean = np.zeros(2), np.zeros(2)
    if prior is not None:
        mean = np.array([prior.log_error, prior.exponent])
        precision = 1.0 / np.square([prior.log_error_deviation, prior.exponent_deviation])
    start = max(float(np.average(errors, weights=counts)), 1e-3)
    parameters = np.array([np.log(start), 0.0 if prior is None else prior.exponent])
    for _ in range(MAX_ITER):
        expected = counts * np.exp(design @ parameters)
        information = (design * expected[:, None]).T @ design + np.diag(precision)
        score = design.T @ (counts * errors - expected) - precision * (parameters - mean)
        step = np.linalg.solve(information, score)
        longest = float(np.abs(step).max())
        parameters = parameters + step * min(1.0, LONGEST / max(longest, TOL))
        if longest < TOL:
            break
    return PowerLaw(float(n_labels), float(np.exp(parameters[0])), float(parameters[1]), np.linalg.inv(information))
