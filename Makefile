# `make play` and `make test` do all the set-up they need; README.md has the same lines without make.

# The first Python that is new enough; `make PYTHON=…` chooses another.
PYTHON ?= $(shell for p in python3 python3.14 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo $$p && break; done)
BIN = .venv/bin
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: play test test-all bench check fuzz mutate clean
.DEFAULT_GOAL = play

play: .venv/.play
	@$(BIN)/shithead play

# Style, types for three systems, import directions, tests: a few minutes, no root.
test: check
	$(BIN)/pytest -n auto --dist worksteal

check: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	for system in linux darwin win32; do \
		$(BIN)/mypy --platform $$system --cache-dir .mypy_cache/$$system || exit 1; done
	$(BIN)/lint-imports

# Also several hosts in network namespaces (Linux, root) and the long searches. Those by coverage need atheris, which
# has no wheels for every system and Python; where there is none they are skipped, and say so.
test-all: test
	@$(PIP) -e '.[dev,fuzz]' 2>/dev/null || echo "atheris can't be installed here: the searches by coverage are skipped"
	$(BIN)/pytest -n auto --dist worksteal -m "slow and not netns"
	$(BIN)/pytest -n auto --dist worksteal -m netns

bench: .venv/.dev
	@for file in benchmarks/bench_*.py; do echo "== $$file"; $(BIN)/python $$file || exit 1; echo; done

# A search by coverage for bytes that break a reader: so many seconds for each.
SECONDS = 60
fuzz: .venv/.dev
	$(PIP) -e '.[dev,fuzz]'
	@for target in canonical entry frame stream hello round_file ad txt record fold; do \
		echo "== $$target"; $(BIN)/python -m tests.fuzz.run $$target $(SECONDS) || exit 1; done

# Puts a fault after the other into the rules and looks whether a test finds it (docs/mutation.md): half an hour.
mutate: .venv/.dev
	$(PIP) -e '.[dev,mutate]'
	$(BIN)/mutmut run
	@$(BIN)/mutmut results

clean:
	rm -rf .venv mutants .mypy_cache .ruff_cache .pytest_cache .hypothesis .import_linter_cache

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "shithead needs Python 3.11 or newer: install it, or name it: make PYTHON=/path/to/python"; exit 1; }
	@echo "Setting up .venv with $(PYTHON) (once) …"
	@$(PYTHON) -m venv .venv || { echo "Python's venv module is missing; on Debian and Ubuntu: apt install python3-venv"; rm -rf .venv; exit 1; }

# What is installed depends on these two files; the program itself is used in place.
.venv/.play: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what shithead needs into .venv (once, about half a minute) …"
	@$(PIP) -e .
	@touch $@

.venv/.dev: pyproject.toml constraints.txt | .venv/bin/python
	@echo "Installing what the tests need into .venv (once, about a minute) …"
	@$(PIP) -e '.[dev]'
	@touch $@ .venv/.play
