"""The Makefile's recipes: words arrive as they were given, and no folder's name is ever run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SET_BY_MAKE = {"XLA_RESULTS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}
SHOW = """#!/bin/sh
for word in "$@"; do echo "word: $word"; done
env
"""
QUIET = """#!/bin/sh
env >set-up.saw
"""
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
(NAMES,) = [line.split() for line in re.findall(r"(?m)^GIVEN := (.*)$", MAKEFILE)]


ODD = ["plain", "with a space", "d$(touch ran)y", "q'uote", 'b"q', "`touch ran`", "{a,b}"]


@pytest.fixture(params=ODD)
def make(request, tmp_path):
    """Runs `make` in a folder of an odd name, where Python only shows what it was given."""
    folder = tmp_path / request.param
    (folder / ".venv" / "bin").mkdir(parents=True)
    shutil.copy(ROOT / "Makefile", folder)
    (folder / "tools").mkdir()
    for program in (".venv/bin/python", ".venv/bin/jupyter", "tools/set-up"):
        path = folder / program
        path.write_text(QUIET if program == "tools/set-up" else SHOW, encoding="utf-8")
        path.chmod(0o755)
    # These tests may have been started by `make test`, whose variables are not meant for them.
    named = {*SET_BY_MAKE, *NAMES}
    own = {name: value for name, value in os.environ.items() if name not in named}

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
    assert words(lines) == ["tools/run.py"]
    assert "WORDS=1 4 -p places 'a b'" in lines
    assert f"XLA_RESULTS={folder}/build/results" in lines


def test_a_refresh_of_all_records_anew_and_one_of_some_does_not(make):
    folder, _ = make("help")
    (folder / "results").mkdir()
    kept = folder / "results" / "old.json"
    kept.touch()
    _, lines = make("refresh", "NOTEBOOKS=1")
    assert kept.exists() and f"XLA_RESULTS={folder}/results" in lines
    assert words(lines) == ["tools/run.py", "--in-place", "tools/overview.py"]
    make("refresh")
    assert not kept.exists()


def test_places_of_a_report_travel_as_they_were_given(make):
    _, lines = make("report", "RESULTS='a b' $(touch ran) `touch ran`")
    assert words(lines)[:2] == ["tools/run.py", "report"]
    assert "RESULTS='a b' $(touch ran) `touch ran`" in lines


WORDS = "$(touch ran) $(shell touch ran) /pay$day ${HOME} $$ #1 `touch ran` *;touch ran"


@pytest.mark.parametrize("command", ["run", "refresh"])
def test_words_of_a_reader_are_never_run(make, command):
    _, lines = make(command, f"NOTEBOOKS={WORDS}")
    assert f"WORDS={WORDS}" in [line.rstrip() for line in lines]


def test_options_of_a_decision_are_never_run(make):
    _, lines = make("decide", f"PARAMS={WORDS}")
    assert f"WORDS={WORDS}" in [line.rstrip() for line in lines]


def test_words_arrive_letter_by_letter_however_they_are_given(make):
    given = {name: WORDS for name in NAMES if name != "PYTHON"}
    for _, lines in (make("address", *map("=".join, given.items())), make("address", **given)):
        assert set(map("=".join, given.items())) <= set(lines)


def test_words_that_nobody_gave_stay_unset(make):
    _, lines = make("address")
    names = {line.partition("=")[0] for line in lines}
    assert names & set(NAMES) == {"XLA_RESULTS"}


def test_every_command_sets_up_first_with_what_was_named(make):
    folder, _ = make("address", f"PYTHON={WORDS}", ACCELERATOR="cuda")
    saw = (folder / "set-up.saw").read_text().splitlines()
    assert f"PYTHON={WORDS}" in saw and "ACCELERATOR=cuda" in saw


def test_jupyters_settings_are_put_behind_ours_as_they_are(make):
    folder, lines = make("lab", JUPYTER_CONFIG_PATH=WORDS)
    assert f"JUPYTER_CONFIG_PATH={folder}/tools/lab:{WORDS}" in lines


def test_every_word_of_a_recipe_is_one_of_them():
    recipes = "\n".join(re.findall(r"(?m)^\t.*$", MAKEFILE))
    used = set(re.findall(r"\$\$\{?([A-Z]+)", recipes)) - {"PWD", "WORDS"}
    assert used <= set(NAMES)


def test_every_command_speaks_utf_8(make):
    _, lines = make("address")
    assert "PYTHONUTF8=1" in lines


def test_a_checkpoint_goes_into_the_package(make):
    _, lines = make("checkpoint")
    assert words(lines) == ["tools/checkpoint.py"]
    _, lines = make("checkpoint", "PARAMS=--steps 20 build/*")
    assert words(lines) == ["tools/checkpoint.py", "--steps", "20", "build/*"]


def test_an_address_is_one_word(make):
    _, lines = make("address", "REPO=me/notes $(touch ran)")
    assert words(lines) == ["tools/address.py", "me/notes $(touch ran)"]


def test_a_folder_for_lab_is_one_word(make):
    _, lines = make("lab", "FOLDER=a b $(touch ran)")
    assert words(lines)[-1] == "a b $(touch ran)"


def test_a_model_to_decide_about_travels_as_it_was_given(make):
    model = "a b$(touch ran)`touch ran`:make"
    _, lines = make("decide", f"MODEL={model}")
    assert words(lines) == ["tools/run.py", "--decide", model]
