"""Samples that do not fit in memory: on the disks of this computer, or on a Dask cluster.

Importing this package imports neither dask nor distributed.
"""

from .fitting import fit
from .prediction import decision_function, predict, predict_proba

__all__ = ["decision_function", "fit", "predict", "predict_proba"]
