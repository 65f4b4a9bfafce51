"""One class per published method; ``ESTIMATORS`` lists them by name."""

from .generic import S3VM
from .supervised import SVM, RampSVM
from .transductive import CCCPTSVM

ESTIMATORS: dict[str, type] = {cls.__name__: cls for cls in (SVM, RampSVM, CCCPTSVM, S3VM)}

__all__ = [*ESTIMATORS, "ESTIMATORS"]
