"""One class per published method; ``ESTIMATORS`` lists them by name."""

from .bayesian import BayesianLSSVM
from .cccp import CCCPTSVM
from .exact import SDPTSVM, BranchBoundTSVM
from .lssvm import LSSVM, SparseLSSVM
from .lssvm_labeling import DCLSSVM, ProgressiveLSSVM
from .lssvm_search import LocalSearchRLSC, SwitchingLSSVM
from .programs import ConcaveLPTSVM, MixedIntegerTSVM
from .s3vm import S3VM
from .smooth import ContinuationTSVM, GradientTSVM
from .svm import SVM, RampSVM
from .svmlin import AnnealingTSVM, MultiSwitchTSVM
from .switching import GeneticTSVM, SwitchingTSVM

ESTIMATORS: dict[str, type] = {
    cls.__name__: cls
    for cls in (
        SVM,
        RampSVM,
        LSSVM,
        SparseLSSVM,
        CCCPTSVM,
        SwitchingTSVM,
        MultiSwitchTSVM,
        AnnealingTSVM,
        GradientTSVM,
        ContinuationTSVM,
        GeneticTSVM,
        BranchBoundTSVM,
        MixedIntegerTSVM,
        SDPTSVM,
        ConcaveLPTSVM,
        SwitchingLSSVM,
        ProgressiveLSSVM,
        BayesianLSSVM,
        DCLSSVM,
        LocalSearchRLSC,
        S3VM,
    )
}

__all__ = [*ESTIMATORS, "ESTIMATORS"]
