# Two commands are enough: `make demo` and `make test`. Each sets up what it needs.
PYTHON ?= python3
VENV ?= .venv
BIN = $(VENV)/bin
# The certificates of the system, so that a company proxy with its own authority works.
UV = VIRTUAL_ENV=$(VENV) $(BIN)/uv --system-certs pip
STATE ?= sqlite
SOURCES = function_app.py shared cli emulator replay benchmarks tests

.PHONY: help setup demo test score lint format lock clean

help:
	@echo "make demo    a day in the life of the watchdog, in compressed time (STATE=table: in Azurite)"
	@echo "make test    every test"
	@echo "make score   what the rules detect on labelled and recorded data, into docs/detection.md"
	@echo "make lint    ruff and mypy"
	@echo "make setup   what the others need: $(VENV) with the command tokenwatch, and node_modules"
	@echo "make lock    new lock files from requirements*.in"

setup: $(BIN)/tokenwatch node_modules/.package-lock.json

$(BIN)/tokenwatch: requirements-dev.txt requirements-worker.txt pyproject.toml
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Tokenwatch needs Python 3.11 or later: make PYTHON=python3.13 ...")'
	$(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r requirements-uv.txt
	$(UV) install --quiet --require-hashes -r requirements-dev.txt
	@# The language worker of Azure Functions exists as a package for Python 3.13 and later.
	@if $(BIN)/python -c 'import sys; sys.exit(sys.version_info < (3, 13))'; then \
	$(UV) install --quiet --require-hashes -r requirements-worker.txt; fi
	$(UV) install --quiet --no-deps --no-build-isolation -e .
	@touch $@

# Azurite (tests, STATE=table), the renderer of cards, the driver of the browser tests. The watchdog
# itself needs no Node.
node_modules/.package-lock.json: package.json package-lock.json
	@if command -v npm >/dev/null; then npm ci --silent; \
	else echo "npm is missing: cards are shown as text, and tests that need Azurite fail"; fi

demo: setup
	$(BIN)/tokenwatch demo --state $(STATE)

test: setup
	$(BIN)/python -m pytest -n 2 --dist loadscope

# SETS="a c" scores some only and writes nothing. Exit code 1 if a target is missed.
score: $(BIN)/tokenwatch
	$(BIN)/python -m benchmarks.detection $(SETS)

lint: $(BIN)/tokenwatch
	$(BIN)/ruff check $(SOURCES)
	$(BIN)/ruff format --check $(SOURCES)
	$(BIN)/mypy --cache-dir .mypy_cache/$(notdir $(VENV)) $(SOURCES)

format: $(BIN)/tokenwatch
	$(BIN)/ruff check --fix $(SOURCES)
	$(BIN)/ruff format $(SOURCES)

LOCK = $(BIN)/uv --system-certs pip compile --universal --generate-hashes --no-header --python-version 3.11
lock:
	$(LOCK) requirements-uv.in -o requirements-uv.txt
	$(LOCK) requirements.in -o requirements.txt
	$(LOCK) requirements-dev.in -o requirements-dev.txt
	$(LOCK:3.11=3.13) requirements-worker.in -o requirements-worker.txt

clean:
	rm -rf $(VENV) node_modules demo-out
