# Each target sets up .venv from the pinned constraints; it needs Python 3.11+, make and git.
#
#   make demo    train a small model from nothing, measure it, and print how to play it (at most 15 minutes on 2 cores)
#   make test    run the tests
#   make play    open the board against the built-in model
#   make check   run everything that continuous integration runs
#   make gpu-check   measure and test a GPU, from this tree with the Python at hand (PYTHON=...), in at most 8 minutes

PYTHON ?= python3
RUN ?= runs/demo

VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready

# Tests of compiled code; coverage runs them again as plain Python.
KERNEL_TESTS := tests/core/test_position.py tests/core/compiled/test_symmetry.py tests/core/test_evaluation.py tests/core/compiled/test_tactics.py tests/core/compiled/test_threats.py tests/search/mentor tests/search/tree/test_mcts.py tests/search/tree/test_virtual_loss.py tests/search/tree/test_move_policy.py tests/search/tree/test_kept_trees.py tests/search/tree/test_failed_evaluations.py tests/search/tree/test_cache.py tests/search/tree/test_proofs.py tests/search/pure_mcts/test_rollouts.py tests/search/tree/test_noise.py tests/search/tree/test_local_playouts.py

# Where nothing keeps compiled modules, each process of the tests compiles those of torch again: half of its start.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help demo kernels test play lint format types imports coverage smoke check gpu-check wheel constraints lock

help:
	@sed -n 's/^#   //p' Makefile

# Most modules of the packages are never imported: to compile them all takes as long as to install them.
$(READY): pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "this needs Python 3.11 or newer, and %s is %s: try make PYTHON=python3.12" % (sys.executable, sys.version.split()[0]))'
	@echo 'setting up $(VENV): pip is silent for some minutes; docs/install.md tells how to leave out CUDA'
	test -x $(BIN)/pip || $(PYTHON) -m venv $(VENV)
	$(BIN)/python -m pip install --quiet --no-compile --constraint constraints.txt --editable '.[dev]'
	touch $@

demo: $(READY)
	$(BIN)/gomoku train --preset quick --run $(RUN) $(if $(wildcard $(RUN)/config.toml),--resume)

# The kernels, once, instead of once in each of the processes that share the tests.
kernels: $(READY)
	$(BIN)/gomoku warmup

# A worker that dies ends the tests: one begun in its place may wait for ever.
test: kernels
	$(BIN)/python -m pytest --numprocesses auto --max-worker-restart 0 --dist worksteal

play: $(READY)
	@$(BIN)/gomoku play

lint: $(READY)
	$(BIN)/ruff check
	$(BIN)/ruff format --check

format: $(READY)
	$(BIN)/ruff check --fix
	$(BIN)/ruff format

types: $(READY)
	$(BIN)/mypy

imports: $(READY)
	$(BIN)/lint-imports

coverage: $(READY)
	$(BIN)/coverage erase
	$(BIN)/coverage run -m pytest
	NUMBA_DISABLE_JIT=1 $(BIN)/coverage run -m pytest $(KERNEL_TESTS)
	$(BIN)/coverage combine
	$(BIN)/coverage report

# The real pipeline by its command line, at the smallest counts.
smoke: $(READY)
	PATH="$(abspath $(BIN)):$$PATH" .ci/smoke

check:
	.ci/run

# Nothing is installed: the Python of a machine with a GPU often has a torch of its own. Without a GPU it ends with code 2.
gpu-check:
	@$(PYTHON) -m gomoku_cli bench --device cuda --json > gpu-check.json
	$(PYTHON) -m pytest -q -m gpu tests/nets/runtimes tests/curriculum/training
	cat gpu-check.json

wheel: $(READY)
	$(BIN)/python -m build --wheel --no-isolation

# Pins the versions in .venv. A local version (torch's +cpu) names one index's build, so it is left out.
constraints: $(READY)
	{ sed -n '1p' constraints.txt; $(BIN)/pip freeze --exclude-editable | sed 's/+.*//'; } > .constraints.new
	mv .constraints.new constraints.txt

# The versions of constraints.txt with the hashes of all their files, for every platform. It needs uv.
lock:
	{ sed '/^[^#]/,$$d' requirements.lock; echo hatchling | uv pip compile pyproject.toml - --extra plots --extra ray --extra serve \
		--constraint constraints.txt --universal --python-version 3.11 --generate-hashes --no-annotate --no-header --quiet; } > .lock.new
	mv .lock.new requirements.lock
