"""Semi-supervised support vector machines behind one scikit-learn API."""

from .estimators import (
    CCCPTSVM,
    DCLSSVM,
    LSSVM,
    S3VM,
    SVM,
    AnnealingTSVM,
    BayesianLSSVM,
    ContinuationTSVM,
    GradientTSVM,
    LocalSearchRLSC,
    MultiSwitchTSVM,
    ProgressiveLSSVM,
    RampSVM,
    SparseLSSVM,
    SwitchingLSSVM,
)

__version__ = "0.1.0.dev0"

__all__ = [
    "CCCPTSVM",
    "DCLSSVM",
    "LSSVM",
    "S3VM",
    "SVM",
    "AnnealingTSVM",
    "BayesianLSSVM",
    "ContinuationTSVM",
    "GradientTSVM",
    "LocalSearchRLSC",
    "MultiSwitchTSVM",
    "ProgressiveLSSVM",
    "RampSVM",
    "SparseLSSVM",
    "SwitchingLSSVM",
]
