"""Declarative specifications of parameters: what is allowed, how it is documented, and the message if it is not met."""

from __future__ import annotations

import math
import numbers
from collections.abc import Sequence
from typing import Any, NamedTuple, Protocol

import numpy as np


class Spec(Protocol):
    """One kind of value that a parameter may have."""

    def accepts(self, value: Any) -> bool:
        """Whether the value is of this kind."""

    def message(self) -> str:
        """The kind, in the words of an error message."""

    def document(self) -> str:
        """The kind, as the type in a numpydoc section."""


class Real(NamedTuple):
    """A number within bounds; ``closed`` says which bounds are allowed themselves ("both", "low", "high")."""

    low: float = -math.inf
    high: float = math.inf
    closed: str = "neither"

    def accepts(self, value: Any) -> bool:
        if not isinstance(value, numbers.Real) or isinstance(value, bool | np.bool_) or math.isnan(value):
            return False
        value = float(value)
        above = value > self.low or (value == self.low and self.closed in ("both", "low"))
        return above and (value < self.high or (value == self.high and self.closed in ("both", "high")))

    def message(self) -> str:
        start = "[" if self.closed in ("both", "low") else "("
        end = "]" if self.closed in ("both", "high") else ")"
        return f"a number in {start}{self.low:g}, {self.high:g}{end}"

    def document(self) -> str:
        return "float"


class Integer(NamedTuple):
    """A whole number of ``low`` or more."""

    low: int = 1

    def accepts(self, value: Any) -> bool:
        return isinstance(value, numbers.Integral) and not isinstance(value, bool) and int(value) >= self.low

    def message(self) -> str:
        return f"a whole number of {self.low} or more"

    def document(self) -> str:
        return "int"


class Options(tuple[Any, ...]):
    """One of a few values: ``Options(["a", "b", None])``."""

    def accepts(self, value: Any) -> bool:
        return any(value is one or (type(value) is type(one) and value == one) for one in self)

    def message(self) -> str:
        return repr(self[0]) if len(self) == 1 else f"one of {', '.join(map(repr, self))}"

    def document(self) -> str:
        return quoted(self[0]) if len(self) == 1 else "{" + ", ".join(quoted(value) for value in self) + "}"


class Array:
    """An array, sparse or dense; its shape and its numbers are checked where it is used."""

    def accepts(self, value: Any) -> bool:
        return not isinstance(value, str)

    def message(self) -> str:
        return "an array"

    def document(self) -> str:
        return "array"


class Instance(NamedTuple):
    """An object of a class."""

    cls: type

    def accepts(self, value: Any) -> bool:
        return isinstance(value, self.cls)

    def message(self) -> str:
        return f"a {self.cls.__name__}"

    def document(self) -> str:
        return self.cls.__name__


class Described(NamedTuple):
    """Any value; what it may be is said in words here and checked where it is used."""

    words: str

    def accepts(self, value: Any) -> bool:
        return True

    def message(self) -> str:
        return self.words

    def document(self) -> str:
        return self.words


def quoted(value: Any) -> str:
    """The value as the documentation writes it."""
    return f'"{value}"' if isinstance(value, str) else repr(value)


def check_value(name: str, value: Any, specs: Sequence[Spec]) -> Any:
    """The value, if one of the specifications accepts it; a ValueError that lists all of them if not."""
    if any(spec.accepts(value) for spec in specs):
        return value
    allowed = " or ".join(spec.message() for spec in specs)
    raise ValueError(f"{name}={value!r} is not allowed; {name} takes {allowed}.")


def check_number(name: str, value: Any, low: float = -math.inf, high: float = math.inf, closed: str = "neither") -> Any:
    """A number within bounds, as in ``Real``."""
    return check_value(name, value, [Real(low, high, closed)])


def check_integer(name: str, value: Any, low: int = 1) -> int:
    """A whole number of ``low`` or more."""
    return int(check_value(name, value, [Integer(low)]))


def check_choice(name: str, value: Any, allowed: Sequence[Any]) -> Any:
    """One of a few values."""
    return check_value(name, value, [Options(allowed)])
