"""The Makefile's recipes: words arrive as they were given, and no folder's name is ever run."""

import os
import re
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
SET_BY_MAKE = {"XLA_RESULTS", "MAKEFLAGS", "MAKELEVEL", "MAKEOVERRIDES", "MFLAGS"}
SHOW = '#!/bin/sh\nfor word in "$@"; do echo "word: $word"; done\nenv\n'
MAKEFILE = (ROOT / "Makefile").read_text(encoding="utf-8")
(NAMES,) = [line.split() for line in re.findall(r"(?m)^GIVEN := (.*)$", MAKEFILE)]
ODD = ["with a space", """d$(touch ran)y q'uote b"q `touch ran` {a,b}"""]


@pytest.fixture(params=ODD)
def make(request, tmp_path):
    """Runs `make` in a folder of an odd name, where Python only shows what it was given."""
    folder = tmp_path / request.param
    for program in (".venv/bin/python", ".venv/bin/jupyter", "tools/set-up"):
        path = folder / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text("#!/bin/sh\nenv >set-up.saw\n" if program == "tools/set-up" else SHOW)
        path.chmod(0o755)
    shutil.copy(ROOT / "Makefile", folder)
    # These tests may have been started by `make test`, whose variables are not meant for them.
    own = {x: os.environ[x] for x in os.environ.keys() - {*SET_BY_MAKE, *NAMES}}

    def run(*words, **given):
        command, env = ["make", *words], own | given
        done = subprocess.run(command, cwd=folder, env=env, capture_output=True, text=True)
        assert done.returncode == 0, done.stderr
        assert not list(tmp_path.rglob("ran"))
        return folder, done.stdout.splitlines()

    return run


WORDS = "$(touch ran) $(shell touch ran) /pay$day ${HOME} $$ #1 `touch ran` *;touch ran"
"""Letter by letter these must arrive, whatever a shell or make would do with them."""


def words(lines):
    return [line.removeprefix("word: ") for line in lines if line.startswith("word: ")]


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
    folder, lines = make("address", f"PYTHON={WORDS}", ACCELERATOR="cuda")
    saw = (folder / "set-up.saw").read_text().splitlines()
    assert f"PYTHON={WORDS}" in saw and "ACCELERATOR=cuda" in saw
    passed_on = {line.partition("=")[0] for line in lines} & set(NAMES)
    assert passed_on == {"PYTHON", "ACCELERATOR", "XLA_RESULTS"}
    used = re.findall(r"\$\$\{?([A-Z]+)", MAKEFILE.partition(".PHONY")[2])
    assert set(used) - {"PWD", "WORDS"} <= set(NAMES)


def test_a_refresh_takes_so_many_runs_and_then_draws_them(make):
    for given, runs in (((), "1"), (("RUNS=6",), "6")):
        _, lines = make("refresh", *given)
        told = ["tools/run.py", "--in-place", "--runs", runs, "tools/overview.py"]
        assert words(lines) == told


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
