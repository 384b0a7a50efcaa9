# The verbs of the project; continuous integration calls the same ones.
PYTHON ?= python3
BIN ?= .venv/bin
CODE = graphloc indexes repair tests benchmarks

.PHONY: install test lint format types layers docs docs-check check

install:  ## a virtual environment with everything that the tests need
	$(PYTHON) -m venv .venv && .venv/bin/pip install -q -e '.[dev]'

test:  ## the whole test suite
	$(BIN)/python -m pytest -n 2

lint:  ## rules and layout of the code
	$(BIN)/ruff check $(CODE)
	$(BIN)/ruff format --check $(CODE)

format:  ## mend what can be mended
	$(BIN)/ruff check --fix $(CODE)
	$(BIN)/ruff format $(CODE)

types:
	$(BIN)/mypy

layers:  ## who may import whom
	$(BIN)/lint-imports

docs:  ## the reference of the command line, from its own help
	$(BIN)/python -m graphloc.cli.reference docs/cli.md

docs-check:
	$(BIN)/python -m graphloc.cli.reference --check docs/cli.md

check: lint types layers docs-check test  ## all of it
