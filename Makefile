# Every target that needs the environment makes or updates .venv first; with nothing to do that takes a tenth of a second.
# It installs what it needs itself, and no more.
#
# PYTHON=python3.12     the Python that makes the environment
# VENV=folder           an environment of your own; VENV= (empty) for PYTHON's own packages, and nothing is installed
# CUDA=none|12|13       CuPy for this CUDA, where the driver of this machine does not tell (a cluster's front end)
# EXTRAS="mkl report"   more groups of pyproject.toml; they stay once they are installed

PYTHON ?= python3
VENV   ?= .venv
CUDA   ?= auto
EXTRAS ?=

ifeq ($(strip $(VENV)),)
READY   = @:
PY     := $(PYTHON)
else
SETUP  := $(PYTHON) -I repro/install/bootstrap.py --venv "$(VENV)" --cuda $(CUDA)
# $(call READY,test bench): the environment, with these groups of pyproject.toml
READY   = @$(SETUP) --with "$(strip $(1) $(EXTRAS))"
PY     := $(VENV)/bin/python
endif
REPRO  := $(PY) -m repro

OPTIONS = $(if $(PAPER),--paper $(PAPER)) $(if $(SCALE),--scale $(SCALE)) $(if $(BACKEND),--backend $(BACKEND)) \
          $(if $(RESULTS),--results "$(RESULTS)") $(ARGS)
# The tests' own caches, so that they neither need nor touch the user's. Two of them run at once, and threads that spin
# while they wait would take each other's cores.
# The bytecode, too, also for who has none written: each process would compile all that it imports, for seconds.
CACHES  = XDG_CACHE_HOME="$(CURDIR)/.cache" POCL_CACHE_DIR="$(CURDIR)/.cache/pocl" REPRO_CACHE="$(CURDIR)/.cache/repro" \
          PYTHONPYCACHEPREFIX="$(CURDIR)/.cache/python" PYTHONDONTWRITEBYTECODE= \
          OPENBLAS_NUM_THREADS=1 OMP_WAIT_POLICY=passive

.DEFAULT_GOAL := help
.NOTPARALLEL:
.PHONY: help setup list doctor data all campaign claims readme report figures docs test coverage races lint bench bench-compare bench-publish scaling rivals clean

TESTS = test bench report compiler nvrtc browser docs

help: ## This text
	@echo 'make table2              measure and show Table 2 of every paper; likewise table3, figure7, ...'
	@echo 'make fu2014-table2       Table 2 of one paper; the same as make table2 PAPER=fu2014'
	@$(PYTHON) -Ic 'import re, sys; [print("make %-19s %s" % each) for each in re.findall("(?m)^([a-z-]+):.*## (.*)", open(sys.argv[1]).read())]' $(firstword $(MAKEFILE_LIST))
	@echo
	@echo 'Variables: SCALE=smoke|small|paper|large  BACKEND=cuda|opencl|openmp|host  RESULTS=folder  ARGS="more options"'
	@echo '           EXTRAS="mkl report"  installs more: opencl (for the OpenCL driver of this machine), opencl-cpu (with one for x86-64), mkl,'
	@echo '           compiler, geometry, torchcor, report, test, bench, dev; each target installs what it needs.  PYTHON=python3.12  VENV=folder  CUDA=none|12|13'
	@echo 'BACKEND=host runs the baselines on the host alone; with any other back end they run as well.'
	@echo 'make table2 ARGS=--dry-run says what would run and for how long; make table2 ARGS=--help has every option.'

setup: ## Make .venv, and install what measuring needs on this machine, and EXTRAS
	$(call READY) $(if $(SETUP),--again)

list: ## The artefacts, one a line
	$(call READY)
	@$(REPRO) list $(if $(PAPER),--paper $(PAPER)) $(ARGS)

doctor: ## This machine: what it has, what it lacks, and how to get it
	$(call READY)
	@$(REPRO) doctor $(ARGS)

data: ## Build the meshes ahead of time, several at once
	$(call READY)
	@$(REPRO) data build $(if $(SCALE),--scale $(SCALE)) $(ARGS)

all: ## Every artefact of every paper; PAPER=fu2014 for those of one
	$(call READY)
	@$(REPRO) run $(if $(PAPER),,--all) $(OPTIONS)

CAMPAIGN = $(REPRO) run $(if $(PAPER),,--all) --continue $(OPTIONS)
# Of MINUTES those that are left, at least as few as a run takes.
LEFT = $$(awk "BEGIN { left = $(MINUTES) - ($$(date +%s) - $$begun) / 60; print left < 0.1 ? 0.1 : left }")

campaign: ## Everything, then in three rounds what claims need; MINUTES=30 a part: the same command goes on, on another such host, too
	$(call READY)
	@begun=$$(date +%s); $(CAMPAIGN) $(if $(MINUTES),--minutes $(MINUTES)); ended=$$?; test $$ended -gt 1 && exit $$ended; \
	$(CAMPAIGN) --claimed --rounds $(or $(ROUNDS),3) $(if $(MINUTES),--minutes $(LEFT)) && exit $$ended

claims: ## Which claims of the papers hold in the stored results, and why; PAPER=fu2014, ARGS=--json
	$(call READY)
	@$(REPRO) claims $(if $(PAPER),--paper $(PAPER)) $(if $(RESULTS),--results "$(RESULTS)") $(ARGS)

readme: ## Write verdicts and the main claims of the stored results into the README; every claim, kernels and some figures into docs/
	$(call READY)
	@$(REPRO) readme $(if $(RESULTS),--results "$(RESULTS)")

report: ## One HTML page of everything stored: verdicts, kernels, tables, figures, rooflines; ARGS="--output FILE"
	$(call READY,report)
	@$(REPRO) report $(if $(RESULTS),--results "$(RESULTS)") $(ARGS)

figures: ## Draw every figure again from stored results, as PNG, SVG and PDF, without measuring
	$(call READY)
	@$(REPRO) figures $(if $(PAPER),--paper $(PAPER)) $(if $(RESULTS),--results "$(RESULTS)") $(ARGS)

docs: ## The site, from docs/ into .cache/site; warnings are errors
	$(call READY,docs)
	@$(PY) -m sphinx -t evidence -W --keep-going -q -b html docs .cache/site && echo "open .cache/site/index.html"

# A test that hangs ends after the timeout of pyproject.toml, with what every thread was at.
test: ## The tests; ARGS="tests/repro -k store" for some of them
	$(call READY,$(TESTS))
	@$(CACHES) $(PY) -m pytest -q -n 2 --dist worksteal -o faulthandler_exit_on_timeout=true $(ARGS)

coverage: ## How much of the harness its tests reach; exit 1 under 90 %
	$(call READY,$(TESTS))
	@rm -rf .cache/coverage && mkdir -p .cache/coverage
	@$(CACHES) $(PY) -m coverage run -m pytest -q -n 2 tests/repro $(ARGS); tests=$$?; \
	$(PY) -m coverage combine -q && $(PY) -m coverage report && exit $$tests

races: ## The kernels' tests under ThreadSanitizer (OpenMP) and compute-sanitizer (CUDA); ARGS="tests/kernels/spmv" for some
	$(call READY,$(TESTS))
	@$(PY) tests/races.py $(ARGS)

lint: ## Style and form, by ruff
	$(call READY,dev)
	@$(PY) -m ruff check .
	@$(PY) -m ruff format --check --quiet . || { echo 'lint: ruff format would change files' >&2; exit 1; }

bench: ## asv's timings of this commit, a quick set; ARGS="--bench ." for all of them
	$(call READY,bench)
	@$(REPRO) bench run $(ARGS)

bench-compare: ## Commit BASE=... against NEW (HEAD), in rounds until each is judged; fails if one is slower or lost
	@$(if $(BASE),,echo 'name the older commit: make bench-compare BASE=HEAD~1' >&2; exit 2)
	$(call READY,bench)
	@$(REPRO) bench compare "$(BASE)" "$(or $(NEW),HEAD)" $(ARGS)

scaling: ## Strong scaling over the processor's cores, drawn: scaling.png and scaling.csv in ARGS="folder"
	$(call READY)
	@$(PY) -m benchmarks.scaling $(ARGS)

rivals: ## Kernels of every family on the processor beside other libraries: tables, and rivals.csv in ARGS="folder"; EXTRAS=mkl adds MKL
	$(call READY)
	@OPENBLAS_NUM_THREADS=1 $(PY) -m benchmarks.rivals $(ARGS)

bench-publish: ## asv's pages of what is stored, in .asv/html
	$(call READY,bench)
	@$(PY) -m asv publish $(ARGS)

clean: ## Remove caches and asv's results; .venv and results/ stay
	rm -rf .cache .asv .pytest_cache .ruff_cache .hypothesis
	find . -name '.venv*' -prune -o -name __pycache__ -prune -exec rm -rf {} +

# Any other name is an artefact, a paper, or a table or figure of every paper; repro says so when it is none of them.
.DEFAULT:
	$(call READY)
	@$(REPRO) run $@ $(OPTIONS)
