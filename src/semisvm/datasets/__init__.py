"""Artificial data of the papers, real data from files, and hiding or flipping labels for experiments."""

from .breiman import make_ringnorm, make_twonorm, make_waveform
from .gaussians import make_gaus50, make_gaus50x, make_gaussian_clusters, make_two_gaussians
from .hiding import hide_labels
from .label_noise import flip_labels
from .loading import Dataset, load_dataset
from .messages import make_messages
from .planar import make_misleading_clusters, make_two_moons
from .splits import Split

__all__ = [
    "Dataset",
    "Split",
    "flip_labels",
    "hide_labels",
    "load_dataset",
    "make_gaus50",
    "make_gaus50x",
    "make_gaussian_clusters",
    "make_messages",
    "make_misleading_clusters",
    "make_ringnorm",
    "make_two_gaussians",
    "make_two_moons",
    "make_twonorm",
    "make_waveform",
]
