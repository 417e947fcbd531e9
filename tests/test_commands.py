"""The Makefile's recipes: what a reader gives arrives, in a folder whose name holds a space."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
OF_MAKE = ("MAKE", "MFLAGS", "XLA_RESULTS", "RUNS")
SHOW = '#!/bin/sh\nfor word in "$@"; do echo "word: $word"; done\nenv\n'


def make(place, *words, **given):
    """Runs `make` in a folder of an odd name, where each program only shows what it was given."""
    folder = place / "Ann's notes"
    for program in (
        ".venv/bin/python",
        ".venv/bin/jupyter",
        ".venv/bin/xla-decide",
        "tools/set-up",
    ):
        path = folder / program
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(SHOW)
        path.chmod(0o755)
    shutil.copy(ROOT / "Makefile", folder)
    # These tests may have been started by `make test`, whose variables are not meant for them.
    own = {name: value for name, value in os.environ.items() if not name.startswith(OF_MAKE)}
    shown = subprocess.check_output(["make", *words], cwd=folder, env=own | given, text=True)
    return folder, shown.splitlines()


@pytest.mark.parametrize("command", ["run", "refresh"])
def test_words_reach_the_command_that_takes_them_apart(tmp_path, command):
    name, given = "NOTEBOOKS", "1 'a b' *"
    results = "results" if command == "refresh" else "build/results"
    for words, more in (([f"{name}={given}"], {}), ([], {name: given})):
        folder, lines = make(tmp_path, command, *words, **more)
        told = {f"WORDS={given}", f"XLA_RESULTS={folder}/{results}", "PYTHONUTF8=1"}
        assert told <= {line.rstrip() for line in lines}


@pytest.mark.parametrize(
    ("command", "given", "arrive"),
    [
        ("address", "REPO=me/notes", "tools/address.py|me/notes"),
        ("decide", "MODEL=a b:make", "a b:make"),
        ("decide", "PARAMS=--calls 5 *", "--calls|5|*"),
        ("decide", "MODEL=my$model.py:make", "my$model.py:make"),
        ("lab", "FOLDER=a b/c", "--ServerApp.root_dir=a b|--LabApp.default_url=/lab/tree/c"),
        ("refresh", "RUNS=", "tools/run.py|--in-place|--runs|1|tools/overview.py|tools/quotes.py"),
        ("test", "ALL=", "--only-changed|docs|notebooks|tests"),
        ("test", "ALL=1", "--no-loadscope-reorder|docs|notebooks|tests"),
        ("refresh", "RUNS=6", "tools/run.py|--in-place|--runs|6|tools/overview.py|tools/quotes.py"),
    ],
)
def test_a_command_is_given_its_words(tmp_path, command, given, arrive):
    _, lines = make(tmp_path, command, given)
    words = [line.removeprefix("word: ") for line in lines if line.startswith("word: ")]
    assert "|".join(words).endswith(arrive)


@pytest.mark.parametrize(
    "name", ["ALL", "FOLDER", "MODEL", "NOTEBOOKS", "PARAMS", "REPO", "RUNS", "OTHER"]
)
def test_nothing_that_is_given_is_run(tmp_path, name):
    for words, more in (([f"{name}=$(shell touch ran)"], {}), ([], {name: "$(shell touch ran)"})):
        folder, _ = make(tmp_path, "test", *words, **more)
        assert not (folder / "ran").exists()
