"""The Makefile's recipes: words arrive as they were given, and no folder's name is ever run."""

import os
import re
import shutil
import subprocess

import pytest

from tools.collection import ROOT

SET_BY_MAKE = {"XLA_RESULTS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}
SHOW = """#!/bin/sh
for word in "$@"; do echo "word: $word"; done
env
"""
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
(NAMES,) = [line.split() for line in re.findall(r"(?m)^WORDS := (.*)$", MAKEFILE)]


@pytest.fixture(params=["plain", "with a space", "d$(touch ran)y", "q'uote", 'b"q', "`touch ran`"])
def make(request, tmp_path):
    """Runs `make` in a folder of an odd name, where Python only shows what it was given."""
    folder = tmp_path / request.param
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    for program in ("python", "jupyter"):
        path = folder / ".venv" / "bin" / program
        path.write_text(SHOW, encoding="utf-8")
        path.chmod(0o755)
    # These tests may have been started by `make test`, whose variables are not meant for them.
    named = {*SET_BY_MAKE, *NAMES}
    own = {name: value for name, value in os.environ.items() if name not in named}
    own["PYTHON"] = "true"

    def run(*words, **given):
        command, env = ["make", *words], own | given
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not list(tmp_path.rglob("ran"))
        return folder, done.stdout.splitlines()

    return run


def words(lines):
    return [line.removeprefix("word: ") for line in lines if line.startswith("word: ")]


def test_results_are_kept_in_the_folder_of_the_project(make):
    folder, lines = make("run", "NOTEBOOKS=1 4", "PARAMS=-p places 'a b'")
    assert words(lines) == ["-m", "tools.execute", "run 1 4 -p places 'a b'"]
    assert f"XLA_RESULTS={folder}/build/results" in lines


def test_places_of_a_report_travel_as_they_were_given(make):
    _, lines = make("report", "RESULTS='a b' $(touch ran) `touch ran`")
    assert words(lines) == ["-m", "tools.report.build"]
    assert "RESULTS='a b' $(touch ran) `touch ran`" in lines


WORDS = "$(touch ran) $(shell touch ran) /pay$day ${HOME} $$ #1 `touch ran` *;touch ran"
COMMANDS = {"run": ["NOTEBOOKS", "PARAMS"], "refresh": ["NOTEBOOKS"]}


@pytest.mark.parametrize("command", COMMANDS)
def test_words_of_a_reader_are_never_run(make, command):
    names = COMMANDS[command]
    _, lines = make(command, *(f"{name}={WORDS}" for name in names))
    assert words(lines)[-1] == " ".join([command, *[WORDS] * len(names)])


def test_options_of_a_decision_are_never_run(make):
    _, lines = make("decide", f"ARGS={WORDS}")
    assert words(lines)[-len(WORDS.split()) :] == WORDS.split()


def test_words_arrive_letter_by_letter_however_they_are_given(make):
    given = {name: WORDS for name in NAMES if name != "PYTHON"}
    for _, lines in (make("site", *map("=".join, given.items())), make("site", **given)):
        assert set(map("=".join, given.items())) <= set(lines)


def test_words_that_nobody_gave_stay_unset(make):
    _, lines = make("site")
    names = {line.partition("=")[0] for line in lines}
    assert names & set(NAMES) == {"PYTHON", "XLA_RESULTS"}


@pytest.mark.parametrize("by_environment", [False, True])
def test_a_python_is_run_by_its_path_and_by_nothing_else(make, tmp_path, by_environment):
    python = tmp_path / "pay$day$(shell touch ran)" / "python"
    python.parent.mkdir()
    python.write_text(SHOW, encoding="utf-8")
    python.chmod(0o755)
    named = {"PYTHON": str(python)}
    _, lines = make("set-up", **named) if by_environment else make("set-up", f"PYTHON={python}")
    assert words(lines) == ["-m", "tools.set_up"]


def test_jupyters_settings_are_put_behind_ours_as_they_are(make):
    folder, lines = make("lab", JUPYTER_CONFIG_PATH=WORDS)
    assert f"JUPYTER_CONFIG_PATH={folder}/tools/lab:{WORDS}" in lines


def test_every_word_of_a_recipe_is_one_of_them():
    recipes = "\n".join(re.findall(r"(?m)^\t.*$", MAKEFILE))
    used = set(re.findall(r"\$\$\{?([A-Z]+)", recipes)) - {"PWD"}
    assert used <= set(NAMES)


def test_every_command_speaks_utf_8(make):
    _, lines = make("site")
    assert "PYTHONUTF8=1" in lines


def test_a_checkpoint_goes_into_the_package(make):
    folder, lines = make("checkpoint")
    into = ["-p", "gpt2_folder", f"{folder}/xla_helpers/data/tiny-gpt2"]
    assert words(lines)[-3:] == into
    _, lines = make("checkpoint", "PARAMS=--without-gpu")
    assert words(lines)[-1] == "--without-gpu"


def test_an_address_is_one_word(make):
    _, lines = make("address", "REPO=me/notes $(touch ran)")
    assert words(lines) == ["-m", "tools.address", "me/notes $(touch ran)"]


def test_a_folder_for_lab_is_one_word(make):
    _, lines = make("lab", "FOLDER=a b $(touch ran)")
    assert words(lines)[-1] == "a b $(touch ran)"


def test_a_model_to_decide_about_travels_as_it_was_given(make):
    model = "a b$(touch ran)`touch ran`:make"
    _, lines = make("decide", f"MODEL={model}", "ARGS=--calls 5")
    assert words(lines) == ["-m", "xla_helpers", "decide", model, "--calls", "5"]
