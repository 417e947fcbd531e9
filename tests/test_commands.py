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
ODD = ["with a space", """d$(touch ran)y q'uote b"q `touch ran` {a,b}"""]


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


WORDS = "$(touch ran) $(shell touch ran) /pay$day ${HOME} $$ #1 `touch ran` *;touch ran"
"""Letter by letter these must arrive, whatever a shell or make would do with them."""


@pytest.mark.parametrize("command", ["run", "refresh", "decide"])
def test_words_reach_the_command_that_takes_them_apart(make, command):
    name = "PARAMS" if command == "decide" else "NOTEBOOKS"
    folder, lines = make(command, f"{name}={WORDS}")
    assert f"WORDS={WORDS}" in [line.rstrip() for line in lines]
    assert f"XLA_RESULTS={folder}/{'results' if command == 'refresh' else 'build/results'}" in lines
    assert "PYTHONUTF8=1" in lines


def test_words_arrive_letter_by_letter_however_they_are_given(make):
    given = {name: WORDS for name in NAMES if name != "PYTHON"}
    for _, lines in (make("address", *map("=".join, given.items())), make("address", **given)):
        assert set(map("=".join, given.items())) <= set(lines)
    _, lines = make("address")
    assert {line.partition("=")[0] for line in lines} & set(NAMES) == {"XLA_RESULTS"}


def test_a_refresh_of_all_records_anew_and_one_of_some_does_not(make):
    folder, _ = make("help")
    (folder / "results").mkdir()
    kept = folder / "results" / "old.json"
    kept.touch()
    _, lines = make("refresh", "NOTEBOOKS=1")
    assert kept.exists()
    assert words(lines) == ["tools/run.py", "--in-place", "tools/overview.py"]
    make("refresh")
    assert not kept.exists()


@pytest.mark.parametrize(
    ("command", "given", "arrives"),
    [
        ("address", "REPO=me/notes $(touch ran)", ["me/notes $(touch ran)"]),
        ("decide", "MODEL=a b$(touch ran)`touch ran`:make", ["a b$(touch ran)`touch ran`:make"]),
        ("lab", "FOLDER=a b $(touch ran)", ["a b $(touch ran)"]),
        ("checkpoint", "PARAMS=--steps 20 build/*", ["--steps", "20", "build/*"]),
    ],
)
def test_a_command_is_given_its_words(make, command, given, arrives):
    _, lines = make(command, given)
    assert words(lines)[-len(arrives) :] == arrives


def test_every_command_sets_up_first_with_what_was_named(make):
    folder, _ = make("address", f"PYTHON={WORDS}", ACCELERATOR="cuda")
    saw = (folder / "set-up.saw").read_text().splitlines()
    assert f"PYTHON={WORDS}" in saw and "ACCELERATOR=cuda" in saw


def test_every_word_of_a_recipe_is_one_of_them():
    recipes = "\n".join(re.findall(r"(?m)^\t.*$", MAKEFILE))
    used = set(re.findall(r"\$\$\{?([A-Z]+)", recipes)) - {"PWD", "WORDS"}
    assert used <= set(NAMES)
