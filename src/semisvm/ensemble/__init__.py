"""The estimator that chooses: an average of separators over several spaces, blended with the supervised model."""

from .estimator import SemiSVM

ENSEMBLES: dict[str, type] = {"SemiSVM": SemiSVM}

__all__ = ["ENSEMBLES", "SemiSVM"]
