"""Artificial data of the papers, and hiding labels for experiments."""

from .generators import make_two_gaussians
from .hiding import hide_labels

__all__ = ["hide_labels", "make_two_gaussians"]
