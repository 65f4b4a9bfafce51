# Everything runs in a virtual environment of the project's own; `make demo` and `make test` are all a newcomer needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
DOCS_READY := $(VENV)/.ready-docs
DEV_READY := $(VENV)/.ready-dev
VERSIONS ?= lowest newest

# pip compiles no module, the first import does; where that is forbidden, every process would compile all again.
export PYTHONDONTWRITEBYTECODE :=

.PHONY: demo test slow doctest types lint format package versions mutation coverage docs picture changes clean

demo: $(READY)
	$(BIN)/semisvm demo

# worksteal: each worker begins with a half of the files, so that the workers seldom compile the same loop at once.
test: $(READY)
	$(BIN)/python -m pytest --numprocesses auto --dist worksteal

slow: $(READY)
	$(BIN)/python -m pytest -m slow

# Coverage with numba off, so that compiled loops are seen: 1,000 tests in two minutes. Left out are the estimators, the other
# solvers and the command line, whose loops take hours without numba, and tests/solvers/dual/test_smo.py, whose problems of
# hundreds of samples do so, too.
coverage: $(READY)
	NUMBA_DISABLE_JIT=1 $(BIN)/python -m pytest --cov=semisvm --cov-report=term-missing:skip-covered \
		tests/spaces tests/validation tests/datasets tests/model_selection tests/test_losses.py tests/test_problem.py \
		tests/test_balance.py tests/test_solution.py tests/test_threads.py tests/solvers/dual/test_iterate.py \
		tests/solvers/dual/test_joint_steps.py tests/solvers/dual/test_stagnation.py tests/solvers/dual/test_pair_steps.py

# conftest.py names the folder of compiled loops, so that those of the tests are used.
doctest: $(READY)
	$(BIN)/python -m pytest --doctest-modules src tests/conftest.py

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

# A fixed sample of small faults in the core, and which of them the tests notice. A run that was ended goes on from there;
# `rm .mutation.jsonl` begins anew.
mutation: $(READY)
	$(BIN)/python tests/mutation.py

# The site in docs/_build/html: every example of the gallery and of the guides is run, warnings are errors, and links between
# pages have to lead somewhere.
docs: $(DOCS_READY)
	MPLBACKEND=Agg $(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going --quiet docs docs/_build/html
	$(BIN)/python docs/check_links.py docs/_build/html
	$(BIN)/python -m pytest --quiet --doctest-glob='*.md' docs/getting_started.md docs/howto

# The picture of the README.
picture: $(READY)
	$(BIN)/python docs/two_moons.py

# At a release: the fragments in changes/ become a section of CHANGES.md, named by the version of the package, and are removed.
changes: $(DEV_READY)
	$(BIN)/towncrier build --yes --version "$$($(BIN)/python -c 'import semisvm; print(semisvm.__version__)')"

clean:
	rm -rf docs/_build docs/api docs/charts docs/gallery
	rm -rf $(VENV) .versions .coverage .pytest_cache .ruff_cache .mypy_cache .import_linter_cache .mutation.jsonl

# --no-compile: Python compiles a module when it is first imported, and most of what is installed here never is.
$(READY): pyproject.toml
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[test,cli]"
	touch $(READY)

$(DOCS_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[docs]"
	touch $(DOCS_READY)

$(DEV_READY): $(READY)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-compile --editable ".[dev]"
	touch $(DEV_READY)
