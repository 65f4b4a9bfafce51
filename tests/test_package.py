"""Wheel and sdist: what is in them, and that each works in an empty environment; run with ``make package``."""

import subprocess
import sys
import tarfile
import venv
import zipfile
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SOURCES = [*(ROOT / "src" / "semisvm").rglob("*.py"), ROOT / "src" / "semisvm" / "py.typed"]
FIT = """
import numpy as np, semisvm
from importlib.metadata import version
assert "site-packages" in semisvm.__file__
assert version("semisvm") == semisvm.__version__
X = np.random.default_rng(0).standard_normal((60, 4)) + 2.0 * (np.arange(60) % 2)[:, None]
y = np.where(np.arange(60) < 20, np.arange(60) % 2, -1)
for name in ("SVM", "CCCPTSVM", "GradientTSVM", "SwitchingLSSVM", "ConcaveLPTSVM", "SelfTraining"):
    model = getattr(semisvm, name)().fit(X, y)
    assert np.mean(model.predict(X) == np.arange(60) % 2) > 0.8, name
print("fitted")
"""

pytestmark = pytest.mark.package


def run(*command, folder, code=0):
    """Output of a command that ends with this exit code; the folder is outside of the sources."""
    done = subprocess.run([str(part) for part in command], cwd=folder, capture_output=True, text=True)
    assert done.returncode == code, done.stdout + done.stderr
    return done.stdout, done.stderr


def empty_environment(folder):
    """The folder of the programs of a new virtual environment."""
    venv.create(folder, with_pip=True)
    return folder / ("Scripts" if sys.platform == "win32" else "bin")


def install(programs, *packages):
    run(programs / "python", "-m", "pip", "install", "--quiet", *packages, folder=programs)


@pytest.fixture(scope="module")
def distributions(tmp_path_factory):
    """The sdist, and the wheel that is built from it; their metadata is as an index wants it."""
    folder = tmp_path_factory.mktemp("build")
    programs = empty_environment(folder / "environment")
    install(programs, "build", "twine")
    run(programs / "python", "-m", "build", ROOT, "--outdir", folder / "dist", folder=folder)
    found = {"wheel": next((folder / "dist").glob("*.whl")), "sdist": next((folder / "dist").glob("*.tar.gz"))}
    run(programs / "python", "-m", "twine", "check", "--strict", *found.values(), folder=folder)
    return found


def test_the_wheel_holds_the_sources_and_nothing_else(distributions):
    names = set(zipfile.ZipFile(distributions["wheel"]).namelist())
    sources = {f"semisvm/{path.relative_to(ROOT / 'src' / 'semisvm').as_posix()}" for path in SOURCES}
    assert {name for name in names if ".dist-info/" not in name} == sources
    assert "semisvm/py.typed" in names
    assert any(name.endswith("licenses/LICENSE") for name in names)


def test_the_sdist_holds_sources_and_tests(distributions):
    with tarfile.open(distributions["sdist"]) as archive:
        paths = [Path(name) for name in archive.getnames()]
    assert {path.parts[1] for path in paths} >= {"src", "tests", "pyproject.toml", "README.md", "LICENSE"}
    assert {path.parts[1] for path in paths}.isdisjoint({"benchmarks", "docs", "changes"})
    assert not [path for path in paths if path.suffix in (".pyc", ".nbc", ".nbi")]


@pytest.mark.parametrize("kind", ["wheel", "sdist"])
def test_it_works_in_an_empty_environment(kind, distributions, tmp_path):
    programs = empty_environment(tmp_path / "environment")
    install(programs, distributions[kind])
    assert run(programs / "python", "-W", "error::UserWarning:semisvm", "-c", FIT, folder=tmp_path)[0] == "fitted\n"
    for arguments in (["--help"], ["demo"]):
        _, refused = run(programs / "semisvm", *arguments, folder=tmp_path, code=2)
        assert refused == ('the command line needs typer, which is not installed; run: pip install "semisvm[cli]"\n')
    install(programs, f"{distributions[kind]}[cli]")
    assert "label" in run(programs / "semisvm", "--help", folder=tmp_path)[0]
    assert "SemiSVM" in run(programs / "semisvm", "demo", folder=tmp_path)[0]
