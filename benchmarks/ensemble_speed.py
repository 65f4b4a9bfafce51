"""How long ``SemiSVM`` takes: two classes, dense samples, 50 labels, after a first fit that compiles.

Beside it, in the same run: 100 fits of scikit-learn's SVC to the same samples fully labeled.

    python benchmarks/ensemble_speed.py [--samples 600 2000] [--repeats 3]
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np
from sklearn.svm import SVC

from semisvm import SemiSVM
from semisvm.datasets import hide_labels, make_two_gaussians


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--samples", nargs="*", type=int, default=(600, 2000, 10_000, 100_000))
    parser.add_argument("--repeats", type=int, default=3)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    X, y = make_two_gaussians(200, random_state=1)
    SemiSVM(random_state=0).fit(X, hide_labels(y, 50, random_state=0))
    print("samples  seconds  CPU seconds  100 fits of SVC, s  error, %  supervised, %")
    for n in options.samples:
        X, y = make_two_gaussians(n, random_state=0)
        partly = hide_labels(y, 50, random_state=0)
        rest = partly == -1
        times = []
        for _ in range(options.repeats if n <= 10_000 else 1):
            start, cpu = time.perf_counter(), time.process_time()
            model = SemiSVM(random_state=0).fit(X, partly)
            times.append((time.perf_counter() - start, time.process_time() - cpu))
        seconds, cpu = min(times)
        svc = "-"
        if n <= 10_000:
            n_fits = 100 if n <= 2000 else 1
            start = time.perf_counter()
            for _ in range(n_fits):
                SVC(C=10.0).fit(X, y)
            svc = f"{(time.perf_counter() - start) * 100 / n_fits:.2f}"
        error = 100 * np.mean(model.transduction_[rest] != y[rest])
        supervised = 100 * np.mean(model.supervised_.predict(X[rest]) != y[rest])
        print(f"{n:7d}  {seconds:7.2f}  {cpu:11.2f}  {svc:>18s}  {error:8.1f}  {supervised:13.1f}", flush=True)


if __name__ == "__main__":
    main()
