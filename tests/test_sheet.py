"""The sheet to print: its recipes are those of the lessons, and its lines do what they say."""

import os
import re
import shlex
import subprocess
import sys
from pathlib import Path

import nbformat
import pytest

ROOT = Path(__file__).parents[1]
SHEET = (ROOT / "docs/sheet.md").read_text(encoding="utf-8")
PYTHON, SHELL = re.findall(r"(?s)```\w*\n(.*?)```", SHEET)
LINES = {int(number): code for code, number in re.findall(r"(?m)^(.*?) +# (\d+): ", SHELL)}
PLAIN = """
import tensorflow as tf

plain = tf.function(lambda x: tf.reduce_sum(tf.tanh(x) * x + x))
for _ in range(3):
    plain(tf.ones([9, 9]))
"""


def test_the_sheet_has_what_it_counts():
    questions = re.findall(r"(?m)^\| .*\? \|", SHEET)
    numbers = re.findall(r"# (\d+): ", PYTHON + SHELL)
    assert len(questions) == 5 and numbers == [str(number) for number in range(1, 11)]


def test_each_recipe_leads_to_its_lesson_and_its_code_stands_there():
    recipes = re.findall(r"(?m)^- \[(\d\d)\]\(\.\./(.*?)\) (.*)", SHEET)
    assert [number for number, *_ in recipes] == [f"{n:02}" for n in range(1, 21)]
    for number, path, words in recipes:
        text = "\n".join(cell.source for cell in nbformat.read(ROOT / path, 4).cells)
        assert path.startswith(f"notebooks/{number}_")
        assert [code for code in re.findall("`(.+?)`", words) if code not in text] == [], number


@pytest.fixture
def shell(tmp_path):
    """Runs a line of the sheet beside its files, and returns what it prints."""
    for name, text in {"fast.py": PYTHON, "plain.py": PLAIN}.items():
        (tmp_path / name).write_text(text, encoding="utf-8")
    path = os.pathsep.join([os.path.dirname(sys.executable), os.environ["PATH"]])
    own = os.environ | {"PATH": path, "TF_CPP_MIN_LOG_LEVEL": "0"}

    def run(line):
        both = {"stdout": subprocess.PIPE, "stderr": subprocess.STDOUT}
        done = subprocess.run(line, shell=True, cwd=tmp_path, env=own, text=True, **both)
        assert done.returncode == 0, done.stdout
        return done.stdout

    return run


def test_the_log_names_each_compilation_and_the_lines_print_what_they_promise(shell):
    log = shell(LINES[6])
    assert log.count("Compiled cluster using XLA!") == 1
    assert log.count("Compilation of XLA executable") == 2  # one for `fast`, one for `check`
    for words in ("HloModule", "line: the same in all modes", "against graph"):
        assert words in log, words


def test_the_dump_is_there(shell, tmp_path):
    shell(LINES[7])
    assert list(tmp_path.glob("dump/*after_optimizations.txt"))


def test_flags_cluster_what_is_a_plain_graph(shell):
    assert "using XLA!" not in shell("python plain.py")
    assert "using XLA!" in shell(LINES[8])


def test_the_commands_are_there(shell):
    name, _, *options = shlex.split(LINES[9])
    said = shell(f"{name} --help")
    assert all(option in said for option in options if option.startswith("--"))
    make, target = LINES[10].split()
    assert make == "make" and f"\n{target}: " in (ROOT / "Makefile").read_text(encoding="utf-8")
