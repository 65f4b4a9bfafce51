"""Writes the pages of the API reference from the public names, before Sphinx looks for pages."""

from __future__ import annotations

import inspect
import re
from importlib import import_module
from pathlib import Path
from typing import Any

import semisvm
from semisvm.ensemble import ENSEMBLES
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS
from semisvm.solvers import SOLVERS

PACKAGES = {
    "semisvm.model_selection": "Model selection",
    "semisvm.datasets": "Data sets",
    "semisvm.parallel": "Samples beyond memory",
    "semisvm.plots": "Plots",
}
NEXT_LABELS = [f"semisvm.ensemble.{name}" for name in ("suggest_labels", "expected_gain", "Suggestion", "ExpectedGain")]
RESULTS = ["semisvm.solution.Certificate", "semisvm.ensemble.report.Report"]
FORMULAS = [  # modules whose docstrings hold formulas that other docstrings refer to
    "semisvm.losses",
    "semisvm.spaces.kernels",
    "semisvm.spaces.landmarks",
    "semisvm.spaces.base",
    "semisvm.multiclass.coupling",
    "semisvm.model_selection.shares",
    "semisvm.ensemble.weighting",
    "semisvm.ensemble.hedging",
    "semisvm.ensemble.coverage",
    "semisvm.ensemble.power_law",
    "semisvm.solvers.least_squares.quadratic_form",
    "semisvm.solvers.least_squares.safe_projection",
]


def is_supervised(cls: type) -> bool:
    """Whether an estimator leaves unlabeled samples out."""
    return not hasattr(cls, "supervised_")


def estimator_groups() -> dict[str, list[str]]:
    """Names of ``semisvm`` by heading; what is in none of the registries comes last."""
    groups = {
        "The default": [*ENSEMBLES],
        "Semi-supervised estimators": [name for name, cls in ESTIMATORS.items() if not is_supervised(cls)],
        "Around another classifier": [*WRAPPERS],
        "Supervised estimators": [name for name, cls in ESTIMATORS.items() if is_supervised(cls)],
    }
    named = {name for names in groups.values() for name in names}
    return groups | {"Shared by several fits": [name for name in semisvm.__all__ if name not in named]}


def section(title: str, names: list[str]) -> list[str]:
    """A heading and a table of names, each with a page of its own."""
    table = [".. autosummary::", "   :nosignatures:", "   :toctree: reference", "", *(f"   ~{name}" for name in names)]
    return [title, "-" * len(title), "", *table, ""]


def reference() -> str:
    """The page that lists all public names."""
    lines = ["API reference", "=============", ""]
    for title, names in estimator_groups().items():
        lines += section(title, [f"semisvm.{name}" for name in names])
    for package, title in PACKAGES.items():
        lines += section(title, [f"{package}.{name}" for name in import_module(package).__all__])
    lines += section("Which samples to label next", NEXT_LABELS)
    lines += section("What a fit returns", RESULTS)
    lines += section("Solvers", sorted({f"semisvm.solvers.{cls.__name__}" for cls in SOLVERS.values()}))
    lines += ["Formulas", "--------", "", ".. toctree::", "   :maxdepth: 1", "", "   formulas", ""]
    return "\n".join(lines)


def formulas() -> str:
    """The page with the docstrings of modules that explain what parameters mean."""
    lines = ["Formulas of the modules", "=======================", ""]
    for name in FORMULAS:
        lines += [name, "-" * len(name), "", f".. automodule:: {name}", "   :no-members:", ""]
        if name == "semisvm.losses":
            lines += loss_table(import_module(name))
    return "\n".join(lines)


def loss_table(module: Any) -> list[str]:
    """The losses and their one-line formulas, which are their docstrings."""
    lines = [".. list-table::", "   :header-rows: 1", "", "   * - loss", "     - formula"]
    for cls in module.PIECES:
        formula, colon, rest = " ".join((inspect.getdoc(cls) or "").partition("\n\n")[0].split()).partition(": ")
        rest = rest.replace("|", r"\|")
        formula = formula if formula.startswith("The ") else f"``{formula}``"
        lines += [f"   * - ``{cls.__name__}``", f"     - {formula}{colon}{rest}"]
    return [*lines, ""]


def own_members(fullname: str) -> dict[str, list[str]]:
    """Public methods and properties of a class that this package wrote; what scikit-learn adds is explained there."""
    module, _, name = fullname.rpartition(".")
    cls = getattr(import_module(module), name)
    methods, properties = [], []
    for member, value in inspect.getmembers(cls):
        function = value.fget if isinstance(value, property) else value
        function = inspect.unwrap(getattr(function, "__func__", function)) if callable(function) else None
        if member.startswith("_") or not getattr(function, "__module__", "").startswith("semisvm"):
            continue
        (properties if isinstance(value, property) else methods).append(member)
    return {"methods": methods, "properties": properties}


def write(app: Any, config: Any) -> None:
    """Write both pages where they have changed, so that an unchanged page is not read again."""
    folder = Path(app.srcdir) / "api"
    folder.mkdir(exist_ok=True)
    for name, text in {"index.rst": reference(), "formulas.rst": formulas()}.items():
        path = folder / name
        if not path.exists() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")
    config.autosummary_context = {"own_members": own_members}


def escape_initials(app: Any, what: str, name: str, thing: Any, options: Any, lines: list[str]) -> None:
    """Keep a letter and a dot at the start of a line, as of an author, from becoming the number of a list."""
    lines[:] = [re.sub(r"^(\s*(?:\.\. \[\S+\] )?)([A-Za-z]\.(?: |$))", r"\1\\\2", line) for line in lines]


def setup(app: Any) -> dict[str, bool]:
    """Register the extension."""
    app.connect("config-inited", write)
    app.connect("autodoc-process-docstring", escape_initials)
    return {"parallel_read_safe": True}
