# Everything runs in a virtual environment of the project's own; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
VERSIONS ?= lowest newest

.PHONY: demo test slow doctest types lint format package versions clean

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

# Wheel and sdist: built, checked, and used in environments with nothing else in them.
package: $(READY)
	$(BIN)/python -m pytest -m package tests/test_package.py

# The tests with the lowest versions that pyproject.toml declares, then with the newest ones; both environments are new.
versions:
	rm -rf .versions && mkdir .versions
	grep -oE '"[A-Za-z0-9-]+>=[0-9.]+"' pyproject.toml | tr -d '"' | sed 's/>=/==/' | sort -u > .versions/lowest.txt
	touch .versions/newest.txt
	for set in $(VERSIONS); do \
		$(PYTHON) -m venv .versions/$$set && \
		.versions/$$set/bin/python -m pip install --quiet --disable-pip-version-check \
			--constraint .versions/$$set.txt --editable ".[test,cli]" && \
		.versions/$$set/bin/python -m pytest --numprocesses auto || exit 1; \
	done

clean:
	rm -rf $(VENV) .versions .pytest_cache .ruff_cache .mypy_cache .import_linter_cache

$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable ".[test,cli]"
	touch $(READY)
