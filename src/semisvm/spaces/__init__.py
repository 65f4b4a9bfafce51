"""Where f lives: behind a kernel (``Gram``), or in features (``Features``), which may stand for a kernel."""

from .base import FLOAT64_SAMPLES, Space, memory_limit
from .features import Features, MappedFeatures
from .gram import Gram
from .kernel_pca import kernel_pca
from .kernel_rows import RowCache, submatrix
from .kernels import KERNELS, Kernel
from .landmarks import LANDMARKS, N_COMPONENTS
from .nystroem import nystroem

__all__ = [
    "FLOAT64_SAMPLES",
    "KERNELS",
    "LANDMARKS",
    "N_COMPONENTS",
    "Features",
    "Gram",
    "Kernel",
    "MappedFeatures",
    "RowCache",
    "Space",
    "kernel_pca",
    "memory_limit",
    "nystroem",
    "submatrix",
]
