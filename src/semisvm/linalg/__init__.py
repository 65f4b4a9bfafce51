"""Least squares: for fixed labels the best objective is a quadratic form of them, 1/2 y'Sy.

M = K + diag(1/c), and S is the top-left block of the inverse of the bordered matrix [[M, 1], [1', 0]] where the
intercept is free, and M^-1 where there is none. With alpha = S y,

    min over (w, b) of 1/2 ||w||^2 + 1/2 sum c_i (y_i - f_i)^2 = 1/2 y'Sy
    f = y - alpha / c,     w = sum alpha_i phi(x_i)

S does not depend on the labels. The forms: ``Dense`` holds S, ``LowRank`` a factor of it, ``Spectrum`` the
eigenvectors that serve every C at once.
"""

from .boxqp import box_qp, lower_bound
from .dense import Dense
from .form import Form
from .growth import Growing, shrink
from .labelings import Labelings, labelings
from .lowrank import LowRank
from .spectrum import Spectrum

__all__ = [
    "Dense",
    "Form",
    "Growing",
    "Labelings",
    "LowRank",
    "Spectrum",
    "box_qp",
    "labelings",
    "lower_bound",
    "shrink",
]
