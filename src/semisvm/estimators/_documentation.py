"""Docstrings and signatures of estimators, from their declared parameters and the attributes that all of them have.

``{parameters}`` in a docstring stands for the Parameters section, ``{attributes}`` for the beginning of the Attributes
section: the attributes that the class shares with others.
"""

from __future__ import annotations

import inspect
import textwrap
from dataclasses import Field, fields

from .._validation.parameters import quoted

WIDTH = 114
LAST = [  # parameters that all classes document in this order, after their own
    *("kernel", "gamma", "coef0", "degree", "sigma", "approximation", "n_components", "landmarks", "fit_intercept"),
    *("balance", "balance_tol", "safe", "multiclass", "coupling", "tol", "max_iter", "max_nodes", "max_time"),
    *("random_state", "n_jobs", "verbose", "unlabeled"),
]

ATTRIBUTES = {
    "classes_": ("array of shape (n_classes,)", "The classes; with two of them f > 0 means the second."),
    "transduction_": (
        "array of shape (n_samples,)",
        "A label for every sample: the given one, or the one that the method found.",
    ),
    "training_scores_": (
        "array of shape (n_samples,) or (n_samples, n_classes)",
        "``decision_function`` at the samples of ``fit``; NaN at those that have no part in it.",
    ),
    "share_": (
        "ClassShares",
        "Shares of the classes among the unlabeled samples, by weight: ``asked`` for (None without a balance) and "
        "``reached`` by ``transduction_``, as mappings from class to share.",
    ),
    "objective_, objective_path_": (
        "float, array",
        "The objective at the end and after every iteration; one per binary problem where there are several, as with "
        "the attributes below.",
    ),
    "converged_, n_iter_": ("bool, int", "Whether the tolerance was reached, and after how many iterations."),
    "trace_": ("list of dict", "A row per iteration."),
    "intercept_": ("array of shape (n_problems,)", "b."),
    "coef_": ("array of shape (n_problems, n_features)", "w, with the linear kernel and no approximation."),
    "support_, dual_coef_, support_vectors_": (
        "arrays",
        "Samples with a coefficient (landmarks, with an approximation), the coefficients, the samples.",
    ),
    "n_active_": ("int", "Samples with a multiplier of their own."),
    "C_, gamma_": ("float", "The numbers used."),
    "supervised_": ("estimator", "The same model of the labeled samples alone, fitted at first use."),
}


def complete_docstring(cls: type) -> str | None:
    """The docstring of a class with its placeholders filled in."""
    doc = cls.__dict__.get("__doc__")
    if not doc or "{parameters}" not in doc:
        return doc
    doc = inspect.cleandoc(doc)
    parameters = [_parameter_entry(one) for one in ordered_parameters(cls)]
    own = doc.partition("{attributes}")[2]
    names = [name for name in ATTRIBUTES if f"\n{name} :" not in own]
    if not hasattr(cls, "supervised_"):
        names = [name for name in names if name not in ("supervised_", "share_")]
    shared = [_entry(name, *ATTRIBUTES[name]) for name in names]
    doc = doc.replace("{parameters}", "\n".join(["Parameters", "----------", *parameters]))
    return doc.replace("{attributes}", "\n".join(["Attributes", "----------", *shared]))


def ordered_parameters(cls: type) -> list[Field]:
    """The parameters in the order of the documentation: positional ones, the class's own, then those of all classes."""

    def place(one: Field) -> tuple[int, int]:
        if not one.kw_only:
            return 0, 0
        if one.name == "C_unlabeled":
            return 1, 0
        return (3, LAST.index(one.name)) if one.name in LAST else (2, 0)

    return sorted(fields(cls), key=place)


def documented_signature(cls: type) -> inspect.Signature:
    """The signature that ``help`` and editors show: the constructor's, in the order of the documentation."""
    names = [one.name for one in ordered_parameters(cls)]
    _, *own = inspect.signature(cls.__init__).parameters.values()  # type: ignore[misc]
    own.sort(key=lambda one: (one.kind, names.index(one.name) if one.name in names else len(names)))
    return inspect.Signature([one.replace(annotation=inspect.Parameter.empty) for one in own])


def _parameter_entry(one: Field) -> str:
    kinds = " or ".join(spec.document() for spec in one.metadata["specs"])
    return _entry(one.name, f"{kinds}, default={quoted(one.default)}", one.metadata["doc"])


def _entry(name: str, kind: str, text: str) -> str:
    return f"{name} : {kind}\n" + textwrap.indent(textwrap.fill(text, WIDTH), "    ")
