"""A second process does not compile, and importing loads nothing that is not needed."""

import os
import pathlib
import subprocess
import sys

import pytest

import semisvm

LOOP = """
import numpy as np
from semisvm.solvers.least_squares import flips
flips.add_changes(np.ones((1, 2)), np.ones((1, 1)), np.ones((2, 1)))
stats = flips.add_changes.stats
print(sum(stats.cache_hits.values()), sum(stats.cache_misses.values()))
"""
FIT = """
import numpy as np, semisvm
from semisvm.solvers.dual import pair_steps
from semisvm.spaces import kernel_rows
X = np.random.default_rng(0).standard_normal((60, 4))
y = np.where(np.arange(60) < 20, np.arange(60) % 2 + 1, -1)
semisvm.CCCPTSVM().fit(X, y)
loops = [value for module in (pair_steps, kernel_rows) for value in vars(module).values() if hasattr(value, "stats")]
called = [loop.stats for loop in loops if loop.signatures]
print(sum(sum(s.cache_hits.values()) for s in called), sum(sum(s.cache_misses.values()) for s in called))
"""


def run(code, **environment):
    done = subprocess.run(
        [sys.executable, "-c", code], env=os.environ | environment, capture_output=True, text=True, check=True
    )
    return done.stdout


def test_the_disk_cache_hits_in_a_new_process():
    run(FIT)  # compiles into the folder of all tests what is not there yet
    hits, misses = map(int, run(FIT).split())
    assert hits > 0
    assert misses == 0


@pytest.mark.parametrize("cache", ["0", pytest.param("1", marks=pytest.mark.slow)])
def test_the_cache_can_be_switched_off(cache, tmp_path):
    hits, misses = map(int, run(LOOP, NUMBA_CACHE_DIR=str(tmp_path), SEMISVM_NUMBA_CACHE=cache).split())
    assert hits == 0
    assert misses > 0
    assert bool(list(tmp_path.rglob("*.nbi"))) == (cache == "1")


def test_import_loads_nothing_before_a_name_is_used():
    loaded = "{name.partition('.')[0] for name in sys.modules}"
    code = f"import sys; before = {loaded}; import semisvm; print(*{loaded} - before); assert 'SVM' in dir(semisvm)"
    estimators = f"import sklearn.svm, numba; known = {loaded}; semisvm.SVM, semisvm.SemiSVM; print(*{loaded} - known)"
    first, then = run(f"{code}; {estimators}; assert 'semisvm.bench' not in sys.modules").splitlines()
    assert not {"numpy", "sklearn", "numba", "scipy"} & set(first.split())
    assert then.split() == []


def test_names_are_those_of_their_modules():
    for name in semisvm.__all__:
        assert getattr(semisvm, name).__module__.startswith("semisvm.")
    for name in semisvm._MODULES:
        assert getattr(semisvm, name) is sys.modules[f"semisvm.{name}"]
    with pytest.raises(AttributeError, match="'semisvm' has no attribute 'Svm'"):
        semisvm.Svm  # noqa: B018


OLDER = """
import sys
import sklearn.model_selection, sklearn.utils.multiclass  # these import it themselves
sys.modules["sklearn.callback"] = None  # as before scikit-learn 1.9
import numpy as np, semisvm
X = np.random.default_rng(0).standard_normal((30, 2))
model = semisvm.SVM().fit(X, np.arange(30) % 2 + 1)
print(model.converged_)
try:
    model.set_callbacks()
except ImportError as refused:
    print(refused)
"""


def test_scikit_learn_without_callbacks_is_enough():
    fitted, refused = run(OLDER).splitlines()
    assert fitted == "True"
    assert "scikit-learn 1.9 or newer" in refused


def test_compiled_loops_stand_where_the_tests_look_for_changes():
    package = pathlib.Path(semisvm.__file__).parent
    compiled = {path.relative_to(package) for path in package.rglob("*.py") if "import jit" in path.read_text()}
    assert compiled
    assert {path.parts[0] for path in compiled} <= {"losses.py", "spaces", "solvers", "tables"}
