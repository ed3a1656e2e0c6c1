# Set-up included: each target builds its own virtual environment the first time.
PYTHON ?= python3
BIN := .venv/bin
WORKERS ?= 2
# A change of any of these needs a new installation: it compiles the native engine.
BUILT_FROM := pyproject.toml hatch_build.py $(wildcard src/prssm/dynamics/engines/native/*.h src/prssm/dynamics/engines/native/*.cc) src/prssm/dynamics/engines/native/build.py

.PHONY: demo studio test lint format hunt docs docs-test wheel-check clean

demo: .venv/installed
	$(BIN)/prssm demo

# Identify a system in the browser, on simulated electric drives.
studio: .venv/installed-studio
	$(BIN)/prssm studio drives_sim --project studio-demo

test: .venv/installed-dev lint
	$(BIN)/python -m pytest -n $(WORKERS) --dist loadscope

# Minutes; for hours: make hunt HUNT="--cases 100000 --count 1000"
HUNT ?= --cases 2000 --count 30
hunt: .venv/installed-dev
	PYTHONPATH=tests $(BIN)/python -W ignore -m hunt all $(HUNT)

# The manual as a site: build/site/index.html. A warning is an error, and nothing is fetched.
docs: .venv/installed-dev
	$(BIN)/python -m sphinx --fail-on-warning --quiet --builder html --doctree-dir build/doctrees docs build/site

# Every command and block of code of the manual, as it is written: a release needs it. Minutes.
docs-test: .venv/installed-dev
	PRSSM_DOCS=slow $(BIN)/python -m pytest tests/docs

# Minutes: sdist and wheel into dist/, and the wheel tried where no compiler is found.
# With another Python: make wheel-check WHEEL="--no-build --python python3.12"
WHEEL ?=
wheel-check: .venv/installed-dev
	PYTHONPATH=tests $(BIN)/python -m release $(WHEEL)

PYTHON_SOURCES := src tests benchmarks studies examples docs
ENGINES := $(shell find src/prssm/dynamics/engines -name '*.h' -o -name '*.cc' -o -name '*.cu')

lint: .venv/installed-dev
	$(BIN)/ruff check $(PYTHON_SOURCES)
	$(BIN)/ruff format --check --quiet $(PYTHON_SOURCES)
	$(BIN)/clang-format --dry-run --Werror $(ENGINES)
	$(BIN)/lint-imports
	$(BIN)/mypy

format: .venv/installed-dev
	$(BIN)/ruff format $(PYTHON_SOURCES)
	$(BIN)/clang-format -i $(ENGINES)

.venv/python:
	$(PYTHON) -c 'import sys; sys.exit(None if sys.version_info >= (3, 11) else "prssm needs Python 3.11 or newer, this is " + sys.version.split()[0] + "; try: make PYTHON=python3.12 ...")'
	$(PYTHON) -m venv .venv
	touch $@

.venv/installed: .venv/python $(BUILT_FROM)
	$(BIN)/python -m pip install --quiet --editable .
	touch $@

.venv/installed-studio: .venv/python $(BUILT_FROM)
	$(BIN)/python -m pip install --quiet --editable '.[studio]'
	touch $@ .venv/installed

.venv/installed-dev: .venv/python $(BUILT_FROM)
	$(BIN)/python -m pip install --quiet --editable '.[dev]'
	touch $@ .venv/installed .venv/installed-studio

clean:
	rm -rf .venv build dist
