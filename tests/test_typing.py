"""Functions without annotations are compiled ones: mypy is told to pass over them, not over others in their modules."""

import ast
from pathlib import Path

import semisvm

SOURCES = sorted(Path(semisvm.__file__).parent.rglob("*.py"))


def is_compiled(function):
    calls = [decorator.func for decorator in function.decorator_list if isinstance(decorator, ast.Call)]
    return any(isinstance(call, ast.Name) and call.id == "jit" for call in calls)


def is_annotated(function):
    arguments = [*function.args.posonlyargs, *function.args.args, *function.args.kwonlyargs]
    named = [one for one in arguments if one.arg not in ("self", "cls")]
    has_return = function.returns is not None or function.name == "__init__"
    return has_return and all(one.annotation is not None for one in named)


def test_only_compiled_functions_have_no_annotations():
    found = []
    for path in SOURCES:
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.FunctionDef) and not is_annotated(node) and not is_compiled(node):
                found.append(f"{path.name}:{node.lineno} {node.name}")
    assert not found


def test_the_package_is_marked_as_typed():
    assert (Path(semisvm.__file__).parent / "py.typed").exists()
