"""Least squares: models in closed form, and searches over labels by the quadratic form 1/2 y'Sy."""

from .bayesian import IntegerQuadratic
from .difference_convex import DifferenceConvex
from .incremental import IncrementalLSSVM
from .label_search import LabelSearch
from .least_squares import LeastSquares
from .progressive import Progressive
from .safe_projection import SafeProjection
from .sparse import Greedy, Pruning
from .system import exact_form_bytes

__all__ = [
    "DifferenceConvex",
    "Greedy",
    "IncrementalLSSVM",
    "IntegerQuadratic",
    "LabelSearch",
    "LeastSquares",
    "Progressive",
    "Pruning",
    "SafeProjection",
    "exact_form_bytes",
]
