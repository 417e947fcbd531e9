# Every command sets up .venv first, and a .venv that is up to date costs nothing.
# Another interpreter: PYTHON=python3.12 make test. With CUDA or without: ACCELERATOR=cuda or cpu.
# What a reader gives reaches a recipe by the environment, as $$NAME: there it may hold anything. Make
# would expand a dollar in it, and run what stands behind one; `value` takes it as it was written.
$(foreach name,$(.VARIABLES),$(if $(filter command,$(origin $(name))),\
  $(eval override export $(name) := $$(value $(name)))))
BIN := .venv/bin
export PYTHONUTF8 := 1
# Without what Python compiled, each of a hundred processes compiles TensorFlow's files anew.
export PYTHONDONTWRITEBYTECODE :=
# Where notebooks record their comparisons, for make report.
export XLA_RESULTS ?= $(CURDIR)/build/results

FIRST := 01_fuse_a_computation.ipynb
CONVERT := $(BIN)/python -m nbconvert --log-level=WARN --TemplateExporter.extra_template_basedirs=tools

.PHONY: help set-up lab learn test run worker refresh decide targets releases report site workshop bench lint lock address
.SILENT:

help: ## list these commands
	awk -F ':[^#]*## ' '/^[a-z-]*:[^#]*## /{ printf "  make %-11s %s\n", $$1, $$2 }' Makefile

set-up: ## make or update .venv from the lock (ACCELERATOR=cpu or cuda)
	tools/set-up

# Lab asks nothing and fetches nothing: tools/lab leaves out its news and its extension manager, and
# saves a notebook that nobody changed as it was. Links lead to docs/, so its root is one folder up.
lab: export JUPYTER_CONFIG_PATH := $(CURDIR)/tools/lab$(if $(JUPYTER_CONFIG_PATH),:$(JUPYTER_CONFIG_PATH))
lab: set-up ## open JupyterLab on the notebooks (FOLDER=build/workshop/notebooks)
	folder="$${FOLDER:-notebooks}"; opens="$$(basename "$$folder")"; \
	  test ! -e "$$folder/$(FIRST)" || opens="$$opens/$(FIRST)"; \
	  $(BIN)/jupyter lab $(if $(filter 0,$(shell id -u)),--allow-root) \
	  --ServerApp.root_dir="$$(dirname "$$folder")" --LabApp.default_url="/lab/tree/$$opens"

learn: set-up ## open copies whose answers are folded (made once, in build/workshop)
	test -e build/workshop || $(MAKE) --no-print-directory workshop
	$(MAKE) --no-print-directory lab FOLDER=build/workshop/notebooks

# Two files at a time: where tests assert a time, the margins are wide.
test: set-up ## check helpers and notebooks that may have changed (ALL=1: all of them)
	$(BIN)/python -m pytest --numprocesses 2 --dist loadfile --no-loadscope-reorder \
	  $$(test "$$ALL" = 1 || echo --only-changed) docs notebooks tests

run: set-up ## execute the notebooks into build/ (PARAMS="-p size 512", NOTEBOOKS="1 4", RUNS=6, CLUSTER)
	WORDS="$$NOTEBOOKS $$PARAMS" $(BIN)/python tools/run.py --runs "$${RUNS:-1}"

# One place to measure on each machine: two measurements never share one.
worker: set-up ## lend this machine to a cluster (CLUSTER=tcp://host:8786)
	PYTHONPATH=tools $(BIN)/dask worker "$$CLUSTER" --nthreads 1 --resources place=1 --no-dashboard

refresh: set-up ## execute the notebooks in place, for their outputs (NOTEBOOKS="1 4", RUNS=6)
	WORDS="$$NOTEBOOKS" XLA_RESULTS="$$PWD/results" XLA_RECORD="$$PWD/xla_decide/gpu/recorded" \
	  $(BIN)/python tools/run.py --in-place --runs "$${RUNS:-1}"
	$(BIN)/python tools/overview.py
	$(BIN)/python tools/quotes.py # names each number in prose that is not the outputs' any more

decide: set-up ## does XLA pay for a model? (MODEL=my_model.py:make PARAMS="--calls 500")
	set -f; $(BIN)/xla-decide "$$MODEL" $$PARAMS

# A minute and a half: each program is compiled twice for each card.
targets: set-up ## compile for GPUs that are not there, for the table of docs/gpu.md
	$(BIN)/python tools/targets.py

# Some minutes and three gigabytes: each release has an environment of its own in build/releases.
releases: set-up ## when did it get slow? Small programs under several releases of XLA
	$(BIN)/python tools/releases.py

report: set-up ## one page: this machine beside others (RESULTS="here there")
	$(BIN)/python tools/run.py report
	$(CONVERT) --to html --template page --no-input build/report.ipynb
	echo "open build/report.html"

# Every page is read anew (-E): Sphinx would not see that conf.py treats it otherwise.
site: set-up ## build the site from the committed outputs into build/site
	rm -rf build/site
	$(BIN)/python -m sphinx -qEW -j auto -c docs -d build/doctrees . build/site
	cp build/site/README.html build/site/index.html
	echo "open build/site/index.html"

LEARNERS := --to notebook --Exporter.preprocessors=tools.learners.Fold \
  --ClearOutputPreprocessor.enabled=True --TagRemovePreprocessor.enabled=True \
  --TagRemovePreprocessor.remove_cell_tags=solution
SLIDES := --to slides --template deck --Exporter.preprocessors=tools.slides.Slides \
  --SlidesExporter.reveal_url_prefix=reveal --SlidesExporter.reveal_theme=white

# Built beside, and moved when all is there.
workshop: set-up ## write learner copies and slides into build/workshop, once
	test ! -e build/workshop || { echo "workshop: build/workshop is there, perhaps with answers" \
	  "in it; move it away first" >&2; exit 1; }
	! grep -q 'github.com/OWNER/' pyproject.toml || echo "workshop: the project has no address yet" \
	  "(make address), so nobody can go on in Colab or Binder" >&2
	rm -rf build/workshop.part
	$(CONVERT) $(LEARNERS) --output-dir build/workshop.part/notebooks notebooks/*.ipynb
	$(CONVERT) $(SLIDES) --output-dir build/workshop.part/slides notebooks/*.ipynb
	cp -R "$$($(BIN)/python -c 'import sphinx_revealjs as s; print(*s.__path__)')/_static/revealjs" \
	  build/workshop.part/slides/reveal
	mkdir build/workshop.part/docs
	cp docs/glossary.md docs/messages.md docs/*.svg build/workshop.part/docs
	mv build/workshop.part build/workshop
	echo "notebooks and slides are in build/workshop; docs/workshop.md is for the teacher"

bench: set-up ## race what is known beforehand, for docs/bench.md (ten minutes, alone)
	$(BIN)/python -m pytest -m bench --capture=no tests/test_bench.py

lint: set-up ## check style, types, and who imports whom
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/python -m mypy
	$(BIN)/lint-imports --no-cache --no-logo
	for folder in xla_helpers xla_decide tools tests; do \
	  echo "$$(find $$folder -name '*.py' | xargs cat | wc -l) lines in $$folder"; done

LOCK := --quiet --universal --python-version 3.11 --upgrade --custom-compile-command "make lock" \
  --extra notebooks --extra rivals --extra test --extra site pyproject.toml
AS_BEFORE := --constraint requirements.txt --no-annotate

define TARGETS
import tomllib
with open("pyproject.toml", "rb") as project:
    print(*tomllib.load(project)["project"]["optional-dependencies"]["targets"], sep="\n")
endef
export TARGETS

# All hold the pins of the first: the second without hashes, for conda; the third with NVIDIA's. The
# last holds what compiles for a GPU that is not there, and goes into a folder of its own.
lock: set-up ## write requirements.txt, constraints.txt and the other locks anew
	$(BIN)/uv pip compile $(LOCK) --generate-hashes --output-file requirements.txt
	$(BIN)/uv pip compile $(LOCK) $(AS_BEFORE) --output-file constraints.txt
	$(BIN)/uv pip compile $(LOCK) --generate-hashes $(AS_BEFORE) --extra cuda \
	  --output-file requirements-cuda.txt
	$(BIN)/python -c "$$TARGETS" | $(BIN)/uv pip compile --quiet --universal --no-deps \
	  --generate-hashes --custom-compile-command "make lock" - --output-file requirements-targets.txt

address: set-up ## write the repository's address everywhere (REPO=owner/name, or git's origin)
	$(BIN)/python tools/address.py "$$REPO"
