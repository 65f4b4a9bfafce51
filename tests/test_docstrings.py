"""Every public name documents all its parameters, cites its source and shows an example."""

import inspect

import numpydoc.docscrape
import pytest

import semisvm
from semisvm import datasets, ensemble, model_selection, plots
from semisvm.estimators import ESTIMATORS
from semisvm.self_training import WRAPPERS
from semisvm.solvers import SOLVERS

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (semisvm, datasets, model_selection, plots)
    for name in module.__all__
} | {f"semisvm.ensemble.{name}": getattr(ensemble, name) for name in ("suggest_labels", "expected_gain")}
SOLVER_CLASSES = {f"semisvm.solvers.{cls.__name__}": cls for cls in SOLVERS.values()}
METHODS = {f"semisvm.{name}": cls for name, cls in (ESTIMATORS | WRAPPERS).items()}


def sections(thing):
    return numpydoc.docscrape.NumpyDocString(inspect.getdoc(thing))


def documented(thing):
    return [name.lstrip("*") for entry in sections(thing)["Parameters"] for name in entry.name.split(", ")]


def arguments(function):
    return [name for name in inspect.signature(function).parameters if name != "self"]


@pytest.mark.parametrize("name", PUBLIC | SOLVER_CLASSES)
def test_all_parameters_are_documented_once(name):
    thing = (PUBLIC | SOLVER_CLASSES)[name]
    assert sorted(documented(thing)) == sorted(arguments(thing))


@pytest.mark.parametrize("name", METHODS)
def test_documented_order_and_defaults_are_those_of_the_signature(name):
    signature = inspect.signature(METHODS[name])
    assert documented(METHODS[name]) == list(signature.parameters)
    for entry in sections(METHODS[name])["Parameters"]:
        default = signature.parameters[entry.name].default
        text = f'"{default}"' if isinstance(default, str) else repr(default)
        assert entry.type.endswith(f"default={text}")


@pytest.mark.parametrize("name", METHODS | SOLVER_CLASSES)
def test_the_source_is_cited(name):
    assert "19" in (text := " ".join(sections((METHODS | SOLVER_CLASSES)[name])["References"])) or "20" in text


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_is_shown(name):
    assert any(">>>" in line for line in sections(PUBLIC[name])["Examples"])


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_document_their_parameters(name):
    for method, function in inspect.getmembers(PUBLIC[name], inspect.isfunction):
        if not method.startswith("_") and function.__module__.startswith("semisvm"):
            assert documented(function) == arguments(function), method


def test_the_registries_are_public():
    assert {*ESTIMATORS, *WRAPPERS} <= set(semisvm.__all__)
