# `make demo` and `make test` work on a fresh clone with nothing but Python 3.11+, pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test bench soak clean

demo: .venv/demo
	$(BIN)/lifelong demo

test: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(BIN)/pytest

bench: .venv/dev
	$(BIN)/python -m benchmarks.forest
	$(BIN)/python -m benchmarks.network

# Saved learners under kills, failing disks, hostile files and many tasks: half an hour. The figures are in docs/reliability.md.
soak: .venv/dev
	PYTHONPATH=tests/persistence $(BIN)/python tests/persistence/soak.py

.venv/pip:
	$(PYTHON) -m venv .venv
	touch $@

.venv/demo: .venv/pip pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e ".[all]"
	touch $@

.venv/dev: .venv/pip pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e ".[dev]"
	touch $@ .venv/demo

clean:
	rm -rf .venv build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
