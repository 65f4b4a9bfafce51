"""Which rule should choose the parameters of S2RLSC if nothing but the given labels may?

The "realistic" columns of Table 1 of Gieseke et al., as ``semisvm bench papers --table gieseke-1-realistic`` runs them.
Many cells of the grid have the same number of held-out errors; here several choices among them are compared: the most
stable labels, as that protocol has it, the first of those cells, the smallest squared held-out error of all cells, and
the best on the test samples, which no rule can beat. The rule of the protocol was chosen on draws 100 to 103
(``--first 100 --draws 4``).

Measured: test error in percent, mean over draws, beside the published figure.
"""

from __future__ import annotations

import argparse
import time
import warnings

import numpy as np

from data import folder
from semisvm.bench import DataFolder, Setup
from semisvm.bench.tables.gieseke_1 import ROWS, Row, partition
from semisvm.bench.tables.gieseke_1_realistic import BALANCES, HeldOut, evaluate
from timing import show, write

SETUP = Setup(DataFolder(folder()))
RULES = {
    "": lambda found: found.rank,
    ", first": lambda found: found.error,
    ", squared": lambda found: found.squared,
}


def choices(found: list[HeldOut], errors: list[float], name: str) -> dict[str, float]:
    """Test errors of the cells that the rules choose."""
    chosen = {name + rule: min(range(len(found)), key=lambda i: key(found[i])) for rule, key in RULES.items()}
    return {rule: errors[cell] for rule, cell in chosen.items()} | {f"{name}, best": min(errors)}


def measure(row: Row, draw: int, columns: list[str]) -> dict[str, float]:
    """Test errors of every model and rule."""
    data, out = partition(row, SETUP, draw), {}
    for column in columns:
        _, found, models = evaluate(column, data, SETUP, draw)
        errors = [100.0 * float(np.mean(model.predict(data.X_test) != data.y_test)) for model in models]
        out |= choices(found, errors, column)
    return out


def main() -> None:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--draws", type=int, default=10)
    options.add_argument("--first", type=int, default=0, help="the first draw")
    names = list(dict.fromkeys(row.name for row in ROWS))
    options.add_argument("--sets", nargs="+", choices=names, default=names)
    options.add_argument("--columns", nargs="+", choices=["RLSC", *BALANCES], default=["RLSC", *BALANCES])
    args = options.parse_args()
    warnings.filterwarnings("ignore", message="LocalSearchRLSC: the model puts all")  # bad cells of the grid do
    rows = []
    for row in (row for row in ROWS if row.name in args.sets):
        start = time.perf_counter()
        draws = range(args.first, args.first + args.draws)
        found = [measure(row, draw, args.columns) for draw in draws]
        out = {"row": row.title, "its RLSC": row.realistic_rlsc[0], "its S2RLSC": row.realistic_s2rlsc[0]}
        out |= {key: float(np.mean([one[key] for one in found])) for key in found[0]}
        rows.append(out | {"seconds": time.perf_counter() - start})
        print({key: round(value, 2) if isinstance(value, float) else value for key, value in out.items()}, flush=True)
    rows.append({"row": "mean"} | {key: float(np.mean([row[key] for row in rows])) for key in rows[0] if key != "row"})
    print()
    show(rows)
    write("label_search_selection", rows, draws=args.draws, first=args.first)


if __name__ == "__main__":
    main()
