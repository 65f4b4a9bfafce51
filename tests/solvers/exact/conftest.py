"""Ctrl-C in the middle of a search."""

import itertools

import pytest


@pytest.fixture
def interrupt_at(monkeypatch):
    """A function that lets the call of a given number, from 1 on, of a function of a module end by Ctrl-C."""

    def interrupt(module, name, call):
        function, n_calls = getattr(module, name), itertools.count(1)

        def interrupted(*args, **kwargs):
            if next(n_calls) == call:
                raise KeyboardInterrupt
            return function(*args, **kwargs)

        monkeypatch.setattr(module, name, interrupted)

    return interrupt
