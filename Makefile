# Two commands matter: `make demo` and `make test`. Each makes .venv on first use.
PYTHON ?= python3
BIN := .venv/bin
INSTALLED := .venv/.installed

.DEFAULT_GOAL := help
.PHONY: help demo test lint docs bench clean

help:
	@echo "make demo   set up, draw the built-in data, train from the feature to the lazy end, report in HTML"
	@echo "make test   set up, lint, and run every test"
	@echo "make docs   set up, build the manual into out/manual (no network after the set-up)"
	@echo "make lint   ruff, mypy and the import contract between the rooms"
	@echo "make bench  measure speed against plain loops and peer libraries; prints ratios, writes out/benchmarks"
	@echo "make clean  remove .venv, caches and everything the commands above wrote"

# Nothing is installed again, and no network is needed, until one of these two files changes.
$(INSTALLED): pyproject.toml constraints.txt
	@echo "== first use: making .venv and installing regimes with its pinned dependencies (a few minutes)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "regimes needs Python 3.11 or newer; set PYTHON=/path/to/python3.11")'
	@test -x $(BIN)/python || $(PYTHON) -m venv .venv
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev,ray,rl,equivariant,lightning]'
	@touch $@

demo: $(INSTALLED)
	@echo "== what is installed"
	@$(BIN)/regimes doctor
	@echo "== drawing the data sets and the networks at initialisation"
	@$(BIN)/python examples/gallery.py --out out/gallery.html
	@echo "== the main job: one network from feature learning to lazy training (2-3 minutes; a second run resumes)"
	@$(BIN)/regimes run compression/alpha-scan --size cpu
	@$(BIN)/regimes report --study compression/alpha-scan --size cpu --out out/demo.html
	@echo "open out/demo.html in a browser; all recorded studies: $(BIN)/regimes report"

lint: $(INSTALLED)
	@echo "== ruff"
	@$(BIN)/ruff check src tests benchmarks examples docs/.build
	@$(BIN)/ruff format --check src tests benchmarks examples docs/.build
	@echo "== mypy"
	@$(BIN)/mypy
	@echo "== import contract between the rooms"
	@$(BIN)/lint-imports --no-cache

test: lint
	@echo "== tests"
	@$(BIN)/pytest

# What the manual is built with is installed once, as above.
.venv/.docs: $(INSTALLED)
	@echo "== first use: installing what builds the manual"
	@$(BIN)/pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[docs]'
	@touch $@

docs: .venv/.docs
	@PYTHONPATH=docs/.build $(BIN)/zensical build --strict --clean
	@echo "== out/manual/index.html; regimes docs opens it"

bench: $(INSTALLED)
	@$(BIN)/pip install --quiet --disable-pip-version-check --no-deps -r benchmarks/requirements.txt
	@echo "== benchmarks: ratios measured side by side in one run"
	@$(BIN)/python benchmarks/run.py

clean:
	rm -rf .venv out .cache .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
