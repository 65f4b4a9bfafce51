"""Semi-supervised support vector machines behind one scikit-learn API."""

from .ensemble import SemiSVM
from .estimators import (
    CCCPTSVM,
    DCLSSVM,
    LSSVM,
    S3VM,
    SDPTSVM,
    SVM,
    AnnealingTSVM,
    BayesianLSSVM,
    BranchBoundTSVM,
    ConcaveLPTSVM,
    ContinuationTSVM,
    GeneticTSVM,
    GradientTSVM,
    LocalSearchRLSC,
    MixedIntegerTSVM,
    MultiSwitchTSVM,
    ProgressiveLSSVM,
    RampSVM,
    SparseLSSVM,
    SwitchingLSSVM,
    SwitchingTSVM,
)
from .self_training import HelpTraining, SelfTraining
from .spaces import KernelCache

__version__ = "0.1.0.dev0"

__all__ = [
    "CCCPTSVM",
    "DCLSSVM",
    "LSSVM",
    "S3VM",
    "SDPTSVM",
    "SVM",
    "AnnealingTSVM",
    "BayesianLSSVM",
    "BranchBoundTSVM",
    "ConcaveLPTSVM",
    "ContinuationTSVM",
    "GeneticTSVM",
    "GradientTSVM",
    "HelpTraining",
    "KernelCache",
    "LocalSearchRLSC",
    "MixedIntegerTSVM",
    "MultiSwitchTSVM",
    "ProgressiveLSSVM",
    "RampSVM",
    "SelfTraining",
    "SemiSVM",
    "SparseLSSVM",
    "SwitchingLSSVM",
    "SwitchingTSVM",
]
