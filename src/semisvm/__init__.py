"""Semi-supervised support vector machines behind one scikit-learn API.

Names are imported when they are first used: the command line's ``--help`` does not wait for numba and scikit-learn.
"""

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
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

__version__ = "0.1.0"

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

_MODULES = (
    "balance",
    "datasets",
    "ensemble",
    "estimators",
    "losses",
    "model_selection",
    "multiclass",
    "plots",
    "problem",
    "self_training",
    "solution",
    "solvers",
    "spaces",
)
_OTHERS = {
    "SemiSVM": "ensemble",
    "HelpTraining": "self_training",
    "SelfTraining": "self_training",
    "KernelCache": "spaces",
}


def __getattr__(name: str) -> Any:
    """A public class or module; kept from its first use on."""
    if name in __all__:
        value = getattr(import_module(f".{_OTHERS.get(name, 'estimators')}", __name__), name)
    elif name in _MODULES:
        value = import_module(f".{name}", __name__)
    else:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*globals(), *__all__, *_MODULES})
