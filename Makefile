# Every command sets up .venv first, and a .venv that is up to date costs nothing.
# Another interpreter: PYTHON=python3.12 make test
PYTHON ?= python3
BIN := .venv/bin
# Where notebooks record their comparisons, for make report.
export XLA_RESULTS ?= $(CURDIR)/build/results

.PHONY: help set-up lab test test-browser test-colab test-gallery test-workshop bench run refresh report site workshop lint lock address checkpoint decide
.SILENT:

help: ## list these commands
	sed -n 's/^\([a-z-]*\):[^#]*## /  make \1\t/p' Makefile | expand -t 20

set-up: ## make or mend .venv from requirements.txt
	command -v "$(PYTHON)" >/dev/null || \
	  { echo "set-up: there is no $(PYTHON) here; install Python 3.11 to 3.13, or name it: make PYTHON=/path/to/python3 ..." >&2; exit 1; }
	"$(PYTHON)" tools/set_up.py

# Lab asks nothing and fetches nothing: tools/lab leaves out its news and its extension manager.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/tools/lab$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))
lab: set-up ## open JupyterLab on the notebooks (FOLDER=build/workshop/notebooks)
	$(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) "$${FOLDER:-notebooks}"

test: set-up ## check the helpers, then every notebook
	$(BIN)/python -m pytest

test-browser: set-up ## check the site, the slides and JupyterLab in Chromium
	$(BIN)/python -m pytest -m browser tests/tools/test_browser.py

test-workshop: set-up ## execute every learner copy, and try answers to its exercises
	$(BIN)/python -m pytest -m workshop tests/tools/workshop

test-gallery: set-up ## give every foreign model to the command `decide` (about 40 minutes)
	$(BIN)/python -m pytest -m gallery tests/xla_helpers/deciding

test-colab: set-up ## run four notebooks among stock Colab's versions (about 5 minutes)
	$(BIN)/python -m tools.colab

bench: set-up ## race what is known beforehand, for the README's table (half an hour, alone)
	$(BIN)/python -m tools.bench.run

run: set-up ## execute the notebooks into build/ (PARAMS="-p size 512", NOTEBOOKS="1 4")
	$(BIN)/python -m tools.execute run $(NOTEBOOKS) $(PARAMS)

refresh: set-up ## execute the notebooks in place, for their outputs (NOTEBOOKS="1 4")
	$(BIN)/python -m tools.execute refresh $(NOTEBOOKS)

decide: set-up ## does XLA pay for a model? (MODEL=my_model:make ARGS="--calls 500")
	$(BIN)/python -m xla_helpers decide "$$MODEL" $$ARGS

report: set-up ## one page: this machine beside published figures and others (RESULTS="here there")
	$(BIN)/python -m tools.report.build

site: set-up ## build the site from the committed outputs into build/site
	$(BIN)/python -m tools.site.build

workshop: set-up ## write learner copies and slides into build/workshop
	$(BIN)/python -m tools.workshop.build

lint: set-up ## check the style of code and notebooks
	$(BIN)/ruff check
	$(BIN)/ruff format --check

lock: set-up ## write requirements.txt anew from pyproject.toml
	$(BIN)/uv pip compile --quiet --universal --python-version 3.11 --all-extras --upgrade --generate-hashes \
	  --custom-compile-command "make lock" --output-file requirements.txt pyproject.toml

address: set-up ## write the repository's address everywhere (REPO=owner/name)
	$(BIN)/python -m tools.address "$$REPO"

checkpoint: set-up ## train the small GPT-2 that ships with the package
	$(BIN)/python -m tools.execute run 7 -p gpt2_folder "$$PWD/xla_helpers/data/tiny-gpt2"
