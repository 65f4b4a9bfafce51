"""The estimator that chooses: an average of separators over several spaces, blended with the supervised model.

Beside it: which samples to label next, and what more labels would bring.
"""

from .estimator import SemiSVM
from .learning_curve import ExpectedGain, expected_gain
from .suggestions import Suggestion, suggest_labels

ENSEMBLES: dict[str, type] = {"SemiSVM": SemiSVM}

__all__ = ["ENSEMBLES", "ExpectedGain", "SemiSVM", "Suggestion", "expected_gain", "suggest_labels"]
