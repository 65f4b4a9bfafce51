"""The process that fits one estimator: ``python -m semisvm.bench.peers.worker NAME`` in a folder with the case."""

from __future__ import annotations

import pickle
import sys
import time
import warnings
from pathlib import Path

import numpy as np

from .base import Cost, Run
from .estimators import ESTIMATORS, POSITIVE
from .program import peak_mib


def main(name: str) -> None:
    """Fit twice, time the second fit, and write the run."""
    case = pickle.loads(Path("case.pickle").read_bytes())
    peer = ESTIMATORS[name]
    targets = peer.targets(case)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        peer.estimator(case).fit(case.X, targets)
        wall, cpu = time.perf_counter(), time.process_time()
        fitted = peer.estimator(case).fit(case.X, targets)
        cost = Cost(time.perf_counter() - wall, time.process_time() - cpu, peak_mib("self"))
    predictions = np.where(fitted.predict(case.X_test) == POSITIVE, 1.0, -1.0)
    Path("run.pickle").write_bytes(pickle.dumps(Run(cost, predictions, peer.model(fitted, case))))


if __name__ == "__main__":
    main(sys.argv[1])
