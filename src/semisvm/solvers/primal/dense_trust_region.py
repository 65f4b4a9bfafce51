"""Steps of a quadratic model in a trust region, for matrices small enough to be factored.

minimize  g's + 1/2 s'B s   subject to  s'M s <= radius^2

with M positive definite and B of any sign. In the generalized eigenvectors V of B, V'MV = 1 and V'BV = diag(lambda),
the step is -V diag(1 / (lambda + shift)) V'g for the shift at which it is as long as it may be [1]_.

References
----------
.. [1] J. J. More and D. C. Sorensen, "Computing a trust region step", SIAM Journal on Scientific and Statistical
   Computing 4(3), 1983. https://doi.org/10.1137/0904038
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy import linalg, optimize


class Step(NamedTuple):
    """A step.

    Attributes
    ----------
    change : array of shape (d,)
        s.
    predicted : float
        By how much it decreases the model.
    length : float
        Root of s'M s.
    """

    change: np.ndarray
    predicted: float
    length: float


class QuadraticModel(NamedTuple):
    """A quadratic model in the eigenvectors of its Hessian B.

    Attributes
    ----------
    vectors, values : arrays of shape (d, d), (d,)
        V and lambda, in increasing order.
    slopes : array of shape (d,)
        V'g.
    """

    vectors: np.ndarray
    values: np.ndarray
    slopes: np.ndarray

    def decrease(self, smallest: float) -> float:
        """What a step without a limit decreases, with eigenvalues of at least ``smallest``."""
        return 0.5 * float(np.sum(self.slopes**2 / np.maximum(self.values, smallest)))

    def step(self, radius: float) -> Step:
        """The step of at most this length."""
        z = self._coordinates(radius)
        predicted = -float(self.slopes @ z + 0.5 * (self.values * z) @ z)
        return Step(self.vectors @ z, predicted, float(np.linalg.norm(z)))

    def _coordinates(self, radius: float) -> np.ndarray:
        """V^-1 s."""
        least, size = float(self.values[0]), float(np.linalg.norm(self.slopes))

        def at(shift: float) -> np.ndarray:
            return -self.slopes / (self.values + shift)

        if least > 0.0 and np.linalg.norm(at(0.0)) <= radius:
            return at(0.0)
        floor = max(-least, 0.0)
        longest = floor + (1.0 + 1e-6) * size / radius  # a shift at which the step is short enough
        nearest = floor + 1e-10 * (longest - floor + float(np.abs(self.values).max()))
        z = at(nearest)
        if np.linalg.norm(z) <= radius:  # the gradient hardly has the first direction
            return self._lengthened(z, radius) if least < 0.0 else z
        excess = lambda shift: 1.0 / np.linalg.norm(at(shift)) - 1.0 / radius  # noqa: E731
        return at(float(optimize.brentq(excess, nearest, longest, rtol=1e-10)))

    def _lengthened(self, z: np.ndarray, radius: float) -> np.ndarray:
        """z with as much of the first direction, of negative curvature, as the radius allows."""
        rest = radius**2 - float(z[1:] @ z[1:])
        z = z.copy()
        z[0] = np.copysign(np.sqrt(max(rest, z[0] ** 2)), -self.slopes[0])
        return z


def quadratic_model(gradient: np.ndarray, hessian: np.ndarray, metric: np.ndarray) -> QuadraticModel:
    """The model of a gradient g, a Hessian B and a metric M."""
    values, vectors = linalg.eigh(hessian, metric)
    return QuadraticModel(vectors, values, vectors.T @ gradient)
