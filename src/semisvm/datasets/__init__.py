"""Generators of the papers' data, and hiding labels."""

from .generators import make_two_gaussians
from .hiding import hide_labels

__all__ = ["hide_labels", "make_two_gaussians"]
