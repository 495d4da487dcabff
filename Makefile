# `make demo` and `make test` work on a fresh clone with nothing but Python 3.11+, pip and make.
PYTHON ?= python3
BIN := .venv/bin

.PHONY: demo test docs test-scale test-federated bench bench-quick soak clean

demo: .venv/demo
	$(BIN)/lifelong demo

test: .venv/dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports
	$(MAKE) docs
	$(BIN)/pytest

# The site in build/docs/index.html. A warning is an error: a link to a page or heading that is not there, for example.
docs: .venv/dev
	$(BIN)/sphinx-build -q -E -W --keep-going -d build/doctrees -b html docs build/docs

# Flower's real processes on loopback and its simulation: some minutes, in a venv of its own (see pyproject.toml).
test-federated: .venv-federated/ready
	.venv-federated/bin/pytest -o addopts= -W default -q --durations=5 tests/federated

# A Ray cluster of two nodes and a Dask cluster of two workers on the loopback interface, with deaths: some minutes.
test-scale: .venv/scale
	OMP_NUM_THREADS=1 $(BIN)/pytest -o addopts= -W default -q --durations=10 tests/scale

# Speed, both sides of every ratio in one run: the table in docs/performance-table.md.
bench: .venv/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks

# Small sizes: docs/results/bench/quick.md. Without ProgLearn if `make bench` never ran.
bench-quick: .venv/dev
	OMP_NUM_THREADS=1 $(BIN)/python -m benchmarks --quick

# Saved learners under kills, failing disks, hostile files and many tasks: half an hour. The figures are in docs/reliability.md.
soak: .venv/soak
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

.venv-federated/ready: pyproject.toml constraints-federated.txt
	$(PYTHON) -m venv .venv-federated
	.venv-federated/bin/pip install -q -c constraints-federated.txt -e ".[federated]" "flwr[simulation]" pytest
	touch $@

.venv/soak: .venv/dev pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e ".[soak]"
	touch $@

.venv/scale: .venv/dev pyproject.toml constraints.txt
	$(BIN)/pip install -q -c constraints.txt -e ".[dev,scale]"
	touch $@

clean:
	rm -rf .venv .venv-federated build dist *.egg-info .pytest_cache .mypy_cache .ruff_cache
