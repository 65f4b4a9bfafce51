"""One class per published method; ``ESTIMATORS`` lists them by name."""

from .bayesian import BayesianLSSVM
from .combinatorial import GeneticTSVM, SwitchingTSVM
from .exact import SDPTSVM, BranchBoundTSVM
from .generic import S3VM
from .label_search import LocalSearchRLSC, SwitchingLSSVM
from .least_squares import LSSVM, SparseLSSVM
from .programs import ConcaveLPTSVM, MixedIntegerTSVM
from .self_labeling import DCLSSVM, ProgressiveLSSVM
from .smooth import ContinuationTSVM, GradientTSVM
from .supervised import SVM, RampSVM
from .svmlin import AnnealingTSVM, MultiSwitchTSVM
from .transductive import CCCPTSVM

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
