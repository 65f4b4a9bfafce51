"""Other programs and libraries beside ours: time, memory and error at an objective that one function computes.

A program is a file that makes ``Peer`` objects of the executable that the user names, and a line in ``PROGRAMS``. Its
adapter writes the samples in the program's own format, runs it, and reads the weights or multipliers back; the
objective is computed from these by ``semisvm.problem``, for the peer as for ours.
"""

from collections.abc import Callable
from pathlib import Path

from . import qns3vm, svm_light, svmlin, universvm
from .base import Case, Formulation, KernelModel, LinearModel, Peer, PeerFailure
from .comparison import Row, cases, compare_peers, run_peer, table_lines
from .estimators import ESTIMATORS

PROGRAMS: dict[str, Callable[[Path], list[Peer]]] = {
    "svmlin": svmlin.peers,
    "universvm": universvm.peers,
    "svmlight": svm_light.peers,
    "qns3vm": qns3vm.peers,
}

__all__ = [
    "ESTIMATORS",
    "PROGRAMS",
    "Case",
    "Formulation",
    "KernelModel",
    "LinearModel",
    "Peer",
    "PeerFailure",
    "Row",
    "cases",
    "compare_peers",
    "run_peer",
    "table_lines",
]
