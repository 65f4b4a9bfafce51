"""Where f lives: behind a kernel (``Gram``), or in features (``Features``), which may stand for a kernel."""

from .base import FLOAT64_SAMPLES, Space, format_bytes, largest_block, memory_limit, require_memory
from .cache import KernelCache, SampleResults
from .cholesky import cholesky_features, has_cholesky_factor
from .design_matrix import DesignMatrix
from .features import Features, MappedFeatures, is_far_from_origin, linear_features, offset_and_range
from .gram import Gram, is_definite
from .kernel_pca import kernel_pca
from .kernel_rows import RowCache, submatrix
from .kernels import KERNELS, Kernel
from .landmarks import LANDMARKS, N_COMPONENTS
from .leading_directions import LeadingDirections
from .nystroem import nystroem

__all__ = [
    "FLOAT64_SAMPLES",
    "KERNELS",
    "LANDMARKS",
    "N_COMPONENTS",
    "DesignMatrix",
    "Features",
    "Gram",
    "Kernel",
    "KernelCache",
    "LeadingDirections",
    "MappedFeatures",
    "RowCache",
    "SampleResults",
    "Space",
    "cholesky_features",
    "format_bytes",
    "has_cholesky_factor",
    "is_definite",
    "is_far_from_origin",
    "kernel_pca",
    "largest_block",
    "linear_features",
    "memory_limit",
    "nystroem",
    "offset_and_range",
    "require_memory",
    "submatrix",
]
