"""Mutation testing, outside the gate (`make mutation`): do the tests notice a small fault in the code they belong to?

A fixed sample of mutants, drawn evenly from ``TARGETS``, is written one by one into a copy of the tree. The tests of
the file run first and a wider set if those pass; a mutant that passes both has survived and needs a test, or a reason
(it is equivalent, or changes speed alone). Results are appended to a file, and a run that was ended goes on from there.

Why no library: mutmut 3 mutates functions alone, so that the table of lambdas in ``losses.py`` would go untested, and
replaces them by trampolines that numba cannot compile; cosmic-ray has one test command for all files and writes into
the tree itself. Neither draws a sample, runs other tests per file or gives a mutant of compiled code its own cache.

    python tests/mutation.py [--results FILE] [--only PART-OF-PATH] [--list]
"""

from __future__ import annotations

import argparse
import ast
import json
import multiprocessing
import os
import pathlib
import random
import shutil
import sys
import tempfile
from collections import Counter
from collections.abc import Iterator
from typing import NamedTuple

import numba
import pytest
import scipy.optimize  # noqa: F401 (like all of these imported once, for all processes that are forked from this one)
import sklearn.svm  # noqa: F401

ROOT = pathlib.Path(__file__).parents[1]
SEED, SAMPLE = 15, 200
TIME_LIMIT = 60.0, 180.0  # seconds for the tests of the file and for the wider set


class Target(NamedTuple):
    """Tests of a file, a wider set, and what numba does in each.

    "off" where tests are fast without; "on" with a cache that all mutants share, since compiled code is none of them;
    "fresh" with an empty cache for every mutant, because a compiled caller does not see that its callee changed.
    """

    tests: str
    wider: str
    numba: str = "on"
    wider_numba: str = "on"


DUAL = "tests/solvers/dual/"
PRIMAL = "tests/solvers/primal/"
LS = "tests/solvers/least_squares/"
SMO = f"{DUAL}test_smo.py {DUAL}test_dual_problem.py"
SMO_USERS = f"{DUAL}test_dual_problem.py {DUAL}test_fixed_labels.py {DUAL}test_incremental.py"
NEWTON = f"{PRIMAL}test_batch_solver.py {PRIMAL}test_gradient.py"
SEARCH_USERS = f"{LS}test_quadratic_form.py tests/estimators/test_lssvm_search.py"
TARGETS = {
    "problem.py": Target("tests/test_problem.py", f"{DUAL}test_cccp.py {LS}test_label_search.py", "off"),
    "losses.py": Target("tests/test_losses.py", f"tests/test_problem.py {DUAL}test_cccp.py", "off"),
    "balance.py": Target("tests/test_balance.py", "tests/estimators/test_shares.py", "off"),
    "solvers/dual/smo.py": Target(f"{DUAL}test_smo.py", SMO_USERS),
    "solvers/dual/iterate.py": Target(f"{DUAL}test_iterate.py", SMO),
    "solvers/dual/joint_steps.py": Target(f"{DUAL}test_joint_steps.py", SMO),
    "solvers/dual/stagnation.py": Target(f"{DUAL}test_stagnation.py", SMO),
    "solvers/dual/pair_steps.py": Target(
        f"{DUAL}test_pair_steps.py", f"{DUAL}test_pair_steps.py {SMO}", "off", "fresh"
    ),
    "solvers/primal/batch.py": Target(f"{PRIMAL}test_batch.py", NEWTON, "off"),
    "solvers/primal/operator.py": Target(f"{PRIMAL}test_operator.py", f"{PRIMAL}test_finite_newton.py {NEWTON}", "off"),
    "solvers/least_squares/label_search.py": Target(f"{LS}test_label_search.py", SEARCH_USERS),
    "solvers/least_squares/labelings.py": Target(f"{LS}test_labelings.py", f"{LS}test_label_search.py {SEARCH_USERS}"),
    "solvers/least_squares/flips.py": Target(
        f"{LS}test_flips.py", f"{LS}test_flips.py {LS}test_labelings.py {LS}test_label_search.py", "off", "fresh"
    ),
}

SWAPPED: dict[type, tuple[type, ...]] = {
    ast.Lt: (ast.LtE, ast.Gt), ast.LtE: (ast.Lt, ast.GtE), ast.Gt: (ast.GtE, ast.Lt), ast.GtE: (ast.Gt, ast.LtE),
    ast.Eq: (ast.NotEq,), ast.NotEq: (ast.Eq,), ast.Is: (ast.IsNot,), ast.IsNot: (ast.Is,), ast.In: (ast.NotIn,),
    ast.Add: (ast.Sub,), ast.Sub: (ast.Add,), ast.Mult: (ast.Div,), ast.Div: (ast.Mult,), ast.FloorDiv: (ast.Mult,),
    ast.Pow: (ast.Mult,), ast.BitAnd: (ast.BitOr,), ast.BitOr: (ast.BitAnd,), ast.And: (ast.Or,), ast.Or: (ast.And,),
}  # fmt: skip
PAIRS = [("min", "max"), ("minimum", "maximum"), ("argmin", "argmax"), ("floor", "ceil"), ("any", "all")]
OTHER_NAME = {**dict(PAIRS), **{b: a for a, b in PAIRS}}
OTHER_VALUE = {"0": 1, "1": 0, "0.0": 1.0, "1.0": 0.0, "True": False, "False": True}
REMOVED = (ast.AugAssign, ast.Break, ast.Continue)


class Mutant(NamedTuple):
    """One replacement of bytes ``start`` to ``end`` of a file."""

    file: str
    line: int
    start: int
    end: int
    old: str
    new: str

    def __str__(self) -> str:
        return f"{self.file}:{self.line}  {self.old}  ->  {self.new}"


def variants(node: ast.AST) -> Iterator[tuple[ast.AST, str]]:
    """Pairs of a part of the node and the text that replaces it."""
    match node:
        case ast.Compare(left, ops, comparators):
            for place, op in enumerate(ops):
                for other in SWAPPED.get(type(op), ()):
                    changed = [*ops[:place], other(), *ops[place + 1 :]]
                    yield node, ast.unparse(ast.Compare(left, changed, comparators))
        case ast.BinOp(left, op, right):
            for other in SWAPPED.get(type(op), ()):
                yield node, ast.unparse(ast.BinOp(left, other(), right))
        case ast.BoolOp(op, values):
            yield node, ast.unparse(ast.BoolOp(SWAPPED[type(op)][0](), values))
        case ast.UnaryOp(ast.Not() | ast.USub() | ast.Invert(), operand):
            yield node, ast.unparse(operand)
        case ast.Constant(value) if repr(value) in OTHER_VALUE:
            yield node, repr(OTHER_VALUE[repr(value)])
        case ast.Call(ast.Name(name) as function) if name in OTHER_NAME:
            yield function, OTHER_NAME[name]
        case ast.Call(ast.Attribute(owner, name) as function) if name in OTHER_NAME:
            yield function, ast.unparse(ast.Attribute(owner, OTHER_NAME[name]))
        case ast.If(test) | ast.IfExp(test):
            yield test, f"not ({ast.unparse(test)})"
        case ast.Slice(lower, upper):
            for end in filter(None, (lower, upper)):
                yield from ((end, f"{ast.unparse(end)} {sign} 1") for sign in "+-")
        case ast.Return(ast.Tuple([first, second, *rest])):
            yield node, ast.unparse(ast.Return(ast.Tuple([second, first, *rest])))
        case ast.Return(ast.Call() | ast.Name()):
            yield node, "return None"
    if is_update(node):
        yield node, "pass"
    if isinstance(node, ast.AugAssign) and type(node.op) in SWAPPED:
        other = SWAPPED[type(node.op)][0]()
        yield node, ast.unparse(ast.AugAssign(node.target, other, node.value))


def is_update(node: ast.AST) -> bool:
    """Whether a statement changes something in place, or the flow of a loop, so that the file is valid without it."""
    if isinstance(node, ast.Assign):
        return all(isinstance(target, ast.Subscript) for target in node.targets)
    return isinstance(node, REMOVED) or (isinstance(node, ast.Expr) and isinstance(node.value, ast.Call))


def children(node: ast.AST) -> Iterator[ast.AST]:
    """The parts of a node that are executed: no annotations, docstrings, decorators or texts of messages."""
    for name, field in ast.iter_fields(node):
        if name not in ("annotation", "returns", "decorator_list") and not isinstance(node, ast.JoinedStr | ast.Raise):
            yield from (part for part in (field if isinstance(field, list) else [field]) if isinstance(part, ast.AST))


def mutants_of(file: str) -> list[Mutant]:
    """All mutants of a file, in the order of its text."""
    text = (ROOT / "src" / "semisvm" / file).read_bytes()
    offsets = [0]
    for line in text.splitlines(keepends=True):
        offsets.append(offsets[-1] + len(line))
    found, nodes = [], [ast.parse(text)]
    while nodes:
        node = nodes.pop()
        nodes.extend(children(node))
        for part, new in variants(node):
            start, end = offsets[part.lineno - 1] + part.col_offset, offsets[part.end_lineno - 1] + part.end_col_offset
            new = f"({new})" if isinstance(part, ast.expr) else new
            found.append(Mutant(file, part.lineno, start, end, " ".join(text[start:end].decode().split()), new))
    return sorted(set(found))


def draw_sample() -> list[Mutant]:
    """The same mutants in every run on the same sources, as evenly from all files as these allow."""
    rng = random.Random(SEED)
    left = {file: mutants_of(file) for file in TARGETS}
    for mutants in left.values():
        rng.shuffle(mutants)
    rounds = (mutants.pop() for _ in range(SAMPLE) for mutants in left.values() if mutants)
    return [mutant for mutant, _ in zip(rounds, range(SAMPLE))]


def run_tests(tree: pathlib.Path, tests: str, numba_mode: str, limit: float) -> str:
    """Run tests on the tree in a process of their own: "survived" if they pass, "killed" or "timed out"."""
    process = multiprocessing.get_context("fork").Process(target=run_pytest, args=(tree, tests.split(), numba_mode))
    process.start()
    process.join(limit)
    if process.is_alive():
        process.kill()
        process.join()
        return "timed out"
    return "killed" if process.exitcode else "survived"


def run_pytest(tree: pathlib.Path, tests: list[str], numba_mode: str) -> None:
    """Run pytest in this process, in which nothing of the library is imported yet."""
    cache = tree / ("numba-cache-of-the-mutant" if numba_mode == "fresh" else "numba-cache")
    if numba_mode == "fresh":
        shutil.rmtree(cache, ignore_errors=True)
    os.environ |= {"NUMBA_CACHE_DIR": str(cache), "NUMBA_DISABLE_JIT": str(int(numba_mode == "off"))}
    numba.config.reload_config()
    os.chdir(tree)
    sys.path.insert(0, str(tree / "src"))
    sys.dont_write_bytecode = True  # the text of a mutant may have the size and the second of another one
    for stream in (sys.stdout, sys.stderr):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())
    os._exit(pytest.main(["-q", "-x", "-p", "no:cacheprovider", *tests]))


def check_unchanged(tree: pathlib.Path, targets: set[Target]) -> None:
    """Refuse to start where tests fail without a mutant; fills the shared cache of compiled code."""
    runs = [(target.tests, target.numba) for target in targets] + [(target.wider, "on") for target in targets]
    for mode in ("off", "on"):
        tests = sorted({part for run, numba_mode in runs if numba_mode == mode for part in run.split()})
        if tests and run_tests(tree, " ".join(tests), mode, 900.0) != "survived":
            sys.exit(f"The tests do not pass on the sources as they are (numba {mode}): {' '.join(tests)}")


def try_mutant(tree: pathlib.Path, mutant: Mutant) -> str:
    """Write the mutant into the copy, run its tests, and restore the file."""
    path, target = tree / "src" / "semisvm" / mutant.file, TARGETS[mutant.file]
    text = path.read_bytes()
    try:
        path.write_bytes(text[: mutant.start] + mutant.new.encode() + text[mutant.end :])
        outcome = run_tests(tree, target.tests, target.numba, TIME_LIMIT[0])
        return outcome if outcome != "survived" else run_tests(tree, target.wider, target.wider_numba, TIME_LIMIT[1])
    finally:
        path.write_bytes(text)


def main() -> None:
    """Run the sample, or what is left of it, and print the survivors and a table."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / ".mutation.jsonl", help="where results go")
    parser.add_argument("--only", default="", help="only mutants of files whose path contains this")
    parser.add_argument("--list", action="store_true", help="print the sample and end")
    options = parser.parse_args()
    sample = [mutant for mutant in draw_sample() if options.only in mutant.file]
    if options.list:
        print(*sample, sep="\n")
        return
    lines = options.results.read_text().splitlines() if options.results.exists() else []
    outcomes = {Mutant(*row["mutant"]): row["outcome"] for row in map(json.loads, lines)}
    with tempfile.TemporaryDirectory() as folder:
        tree = pathlib.Path(folder)
        for part in ("src", "tests"):
            shutil.copytree(ROOT / part, tree / part, ignore=shutil.ignore_patterns("__pycache__"))
        shutil.copy(ROOT / "pyproject.toml", tree)
        check_unchanged(tree, {TARGETS[mutant.file] for mutant in sample if mutant not in outcomes})
        for mutant in sample:
            if mutant not in outcomes:
                outcomes[mutant] = try_mutant(tree, mutant)
                print(f"{outcomes[mutant]:10} {mutant}", flush=True)
                with options.results.open("a") as file:
                    file.write(json.dumps({"mutant": mutant, "outcome": outcomes[mutant]}) + "\n")
    print("Survived:", *(mutant for mutant in sample if outcomes[mutant] == "survived"), sep="\n")
    table = Counter((mutant.file, outcomes[mutant]) for mutant in sample)
    for file in TARGETS:
        print(f"{file:40}", *(f"{table[file, kind]:4} {kind}" for kind in ("killed", "survived", "timed out")))


if __name__ == "__main__":
    main()
