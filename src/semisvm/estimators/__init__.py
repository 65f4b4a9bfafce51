"""One class per published method: ``ESTIMATORS`` lists the machines by name, ``WRAPPERS`` those around another one."""

from .bayesian import BayesianLSSVM
from .combinatorial import GeneticTSVM, SwitchingTSVM
from .exact import SDPTSVM, BranchBoundTSVM
from .generic import S3VM
from .label_search import LocalSearchRLSC, SwitchingLSSVM
from .least_squares import LSSVM, SparseLSSVM
from .programs import ConcaveLPTSVM, MixedIntegerTSVM
from .self_labeling import DCLSSVM, ProgressiveLSSVM
from .self_training import HelpTraining, SelfTraining
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

WRAPPERS: dict[str, type] = {cls.__name__: cls for cls in (SelfTraining, HelpTraining)}

__all__ = [*ESTIMATORS, *WRAPPERS, "ESTIMATORS", "WRAPPERS"]
