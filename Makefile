# Everything runs in a virtual environment of the project's own; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

.PHONY: demo test slow doctest types lint format clean

demo: $(READY)
	$(BIN)/semisvm demo

test: $(READY)
	$(BIN)/python -m pytest --numprocesses auto

slow: $(READY)
	$(BIN)/python -m pytest -m slow

doctest: $(READY)
	$(BIN)/python -m pytest --doctest-modules src

types: $(READY)
	$(BIN)/mypy

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

clean:
	rm -rf $(VENV) .pytest_cache .ruff_cache .mypy_cache .import_linter_cache

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,cli]"
	touch $(READY)
