# Every command sets up .venv first, and a .venv that is up to date costs nothing.
# Another interpreter: PYTHON=python3.12 make test. With CUDA or without: ACCELERATOR=cuda or cpu.
# What a reader or a folder's name says reaches a recipe by the environment, as $$NAME, and never as
# $(NAME), which the shell would read as its own text.
BIN := .venv/bin
export PYTHONUTF8 := 1
# Words on make's command line arrive letter by letter: make would take a $ in them for its own.
WORDS := PYTHON ACCELERATOR FOLDER NOTEBOOKS NAMES ARGS PARAMS MODEL RESULTS REPO XLA_RESULTS
as-it-is = $(eval override $(1) := $$(value $(1)))$(eval export $(1))
$(foreach name,$(WORDS),$(if $(filter command,$(origin $(name))),$(call as-it-is,$(name))))
# Where notebooks record their comparisons, for make report.
export XLA_RESULTS ?= $(CURDIR)/build/results

.PHONY: help set-up lab test test-browser test-colab test-gallery test-versions test-workshop soak bench run refresh report site workshop lint lock address checkpoint decide
.SILENT:

help: ## list these commands
	awk -F ':[^#]*## ' '/^[a-z-]*:[^#]*## /{ printf "  make %-13s %s\n", $$1, $$2 }' Makefile

set-up: ## make or mend .venv from the lock (ACCELERATOR=cpu or cuda)
	command -v "$${PYTHON:-python3}" >/dev/null || \
	  { echo "set-up: there is no $${PYTHON:-python3} here; install Python 3.11 to 3.13, or name it: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	"$${PYTHON:-python3}" -m tools.set_up

# Lab asks nothing and fetches nothing: tools/lab leaves out its news and its extension manager.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/tools/lab$(if $(value JUPYTER_CONFIG_PATH),:$(value JUPYTER_CONFIG_PATH))
lab: set-up ## open JupyterLab on the notebooks (FOLDER=build/workshop/notebooks)
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) "$${FOLDER:-notebooks}"

# Two files at a time: where tests assert a time, the margins are wide.
test: set-up ## check the helpers and every notebook
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder notebooks tests

test-browser: set-up ## check the site, the slides and JupyterLab in Chromium
	$(BIN)/python -m pytest -m browser tests/tools/test_browser.py

test-workshop: set-up ## execute every learner copy, and try answers to its exercises
	$(BIN)/python -m pytest -m workshop tests/tools/workshop

test-gallery: set-up ## decide about every foreign model (about 10 minutes)
	$(BIN)/python -m pytest -m gallery tests/test_gallery.py

test-colab: set-up ## run four notebooks among stock Colab's versions (about 5 minutes)
	$(BIN)/python -m tools.colab

soak: set-up ## run all notebooks twenty times, quiet and loaded (NOTEBOOKS="10" ARGS="--runs 3")
	set -f; $(BIN)/python -m tools.soak $$NOTEBOOKS $$ARGS

test-versions: set-up ## try other Pythons and TensorFlows (hours; NAMES="oldest" ARGS=--fast)
	set -f; $(BIN)/python -m tools.versions $$NAMES $$ARGS

bench: set-up ## race what is known beforehand, for the README's table (half an hour, alone)
	$(BIN)/python -m tools.bench.run

run: set-up ## execute the notebooks into build/ (PARAMS="-p size 512", NOTEBOOKS="1 4")
	$(BIN)/python -m tools.execute "run $$NOTEBOOKS $$PARAMS"

refresh: set-up ## execute the notebooks in place, for their outputs (NOTEBOOKS="1 4")
	$(BIN)/python -m tools.execute "refresh $$NOTEBOOKS"

decide: set-up ## does XLA pay for a model? (MODEL=my_model:make ARGS="--calls 500")
	set -f; $(BIN)/python -m xla_helpers decide "$$MODEL" $$ARGS

report: set-up ## one page: this machine beside published figures and others (RESULTS="here there")
	$(BIN)/python -m tools.report.build

site: set-up ## build the site from the committed outputs into build/site
	$(BIN)/python -m tools.site.build

workshop: set-up ## write learner copies and slides into build/workshop
	$(BIN)/python -m tools.workshop.build

lint: set-up ## check the style of code and notebooks
	$(BIN)/ruff check
	$(BIN)/ruff format --check

LOCK := --quiet --universal --python-version 3.11 --generate-hashes --custom-compile-command "make lock" \
  --extra notebooks --extra test --extra site pyproject.toml

# The second lock holds the pins of the first one, and NVIDIA's packages.
lock: set-up ## write requirements.txt and requirements-cuda.txt anew from pyproject.toml
	$(BIN)/uv pip compile $(LOCK) --upgrade --output-file requirements.txt
	$(BIN)/uv pip compile $(LOCK) --upgrade --constraint requirements.txt --no-annotate \
	  --extra cuda --output-file requirements-cuda.txt

address: set-up ## write the repository's address everywhere (REPO=owner/name)
	$(BIN)/python -m tools.address "$$REPO"

checkpoint: set-up ## train the small GPT-2 that ships with the package
	set -f; $(BIN)/python -m tools.execute run 7 -p gpt2_folder "$$PWD/xla_helpers/data/tiny-gpt2" $$PARAMS
