"""Semi-supervised support vector machines behind one scikit-learn API."""

from .estimators import CCCPTSVM, S3VM, SVM, RampSVM

__version__ = "0.1.0.dev0"

__all__ = ["CCCPTSVM", "S3VM", "SVM", "RampSVM"]
