"""Every public name documents all its parameters and shows an example."""

import inspect

import numpydoc.docscrape
import pytest

import semisvm
from semisvm import datasets, model_selection
from semisvm.estimators import ESTIMATORS, WRAPPERS
from semisvm.solvers import SOLVERS

PUBLIC = {
    f"{module.__name__}.{name}": getattr(module, name)
    for module in (semisvm, datasets, model_selection)
    for name in module.__all__
}
KNOBS = {f"semisvm.solvers.{cls.__name__}": cls for cls in SOLVERS.values()}


def documented(thing):
    doc = numpydoc.docscrape.NumpyDocString(inspect.getdoc(thing))
    return [name.lstrip("*") for parameter in doc["Parameters"] for name in parameter.name.split(", ")], doc


@pytest.mark.parametrize("name", PUBLIC | KNOBS)
def test_parameters_are_documented_in_their_order(name):
    thing = (PUBLIC | KNOBS)[name]
    expected = [p for p in inspect.signature(thing).parameters if p != "self"]
    assert documented(thing)[0] == expected


@pytest.mark.parametrize("name", PUBLIC)
def test_an_example_is_shown(name):
    assert any(">>>" in line for line in documented(PUBLIC[name])[1]["Examples"])


@pytest.mark.parametrize("name", PUBLIC)
def test_public_methods_document_their_parameters(name):
    thing = PUBLIC[name]
    for method, function in inspect.getmembers(thing, inspect.isfunction):
        if method.startswith("_") or not function.__module__.startswith("semisvm"):
            continue
        expected = [p for p in inspect.signature(function).parameters if p != "self"]
        assert documented(function)[0] == expected, method


def test_the_registry_is_public():
    assert {*ESTIMATORS, *WRAPPERS} <= set(semisvm.__all__)
