"""Samples that do not fit in memory: on the disks of this computer, or on a Dask cluster.

Importing this package imports neither dask nor distributed.
"""

from .clusters import connect, local_client
from .fitting import fit
from .independent import fit_each
from .prediction import decision_function, predict, predict_proba, transduce
from .text import hash_text

__all__ = [
    "connect",
    "decision_function",
    "fit",
    "fit_each",
    "hash_text",
    "local_client",
    "predict",
    "predict_proba",
    "transduce",
]
