"""Runs that fail as often as a test says, and one real file that does."""

import subprocess
import sys
from pathlib import Path
from xml.etree import ElementTree

import pytest

from tools import soak
from tools.collection import ROOT

FAILING = """
def test_good(): pass
def test_bad(): assert 1 == 2, "one line\\nand another"
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A collection of two notebooks, in which every third run fails."""
    for name in ("notebooks/01_a.ipynb", "notebooks/02_b.ipynb", "tests/tools/test_x.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    runs = []

    def once(path, log):
        runs.append((path.stem, log.name))
        if len(runs) == 9:
            raise KeyboardInterrupt
        return ["Cell 7: ValueError: too slow\x1b[2J"] if len(runs) % 3 == 0 else []

    monkeypatch.setattr(soak, "run_once", once)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_are_run_again_and_again_and_failures_are_counted(root, capsys):
    assert soak.main(["--runs", "3", "--loaded", "1"], root) == 1
    said, erred = capsys.readouterr()
    assert "[3/6] 01_a, run 2, quiet: " in said and "\x1b" not in said
    assert " s FAILED: Cell 7: ValueError: too slow" in said
    assert "[6/6] 02_b, run 3, every core loaded: " in said
    rows = [line.split() for line in said.splitlines() if line.startswith("0")]
    assert [row[:7] for row in rows[:2]] == [
        ["01_a", "1", "of", "2", "0", "of", "1"],
        ["02_b", "0", "of", "2", "1", "of", "1"],
    ]
    assert "01_a, run 2, quiet: Cell 7: ValueError" in said
    assert f"see {Path('build', 'soak')}" in said and not erred


def test_nothing_failed(root, capsys):
    assert soak.main(["2", "--runs", "2", "--loaded", "0"], root) == 0
    said = capsys.readouterr().out
    assert "0 of 2" in said and "0 of 0" in said
    assert "01_a" not in said and "see build" not in said


def test_an_interruption_shows_the_table_so_far(root, capsys):
    assert soak.main(["--runs", "9", "--loaded", "0"], root) == 130
    said, erred = capsys.readouterr()
    assert "1 of 4" in said and erred == "soak: interrupted\n"


def test_before_the_first_run_has_ended_there_is_nothing_to_show(root, capsys, monkeypatch):
    def stopped(path, log):
        raise KeyboardInterrupt

    monkeypatch.setattr(soak, "run_once", stopped)
    assert soak.main([], root) == 130
    assert capsys.readouterr().err == "soak: interrupted\n"


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        ([], ["01_a", "02_b"]),
        (["2"], ["02_b"]),
        (["tests/tools/test_x.py"], ["test_x"]),
        (["tests", "1"], ["01_a", "tests"]),
    ],
)
def test_what_can_be_named(root, wanted, expected):
    assert [path.stem for path in soak.targets(wanted, root)] == expected


@pytest.mark.parametrize(
    ("arguments", "why"),
    [
        (["tests/test_none.py"], "there is no tests/test_none.py"),
        (["3"], "there is no notebook 3"),
        (["--runs", "0"], "give at least 1 run"),
        (["--runs", "2", "--loaded", "3"], "no more loaded runs than runs"),
        (["--loaded", "-1"], "no more loaded runs than runs"),
    ],
)
def test_what_cannot_be_meant(root, capsys, arguments, why):
    assert soak.main(arguments, root) == 2
    said, erred = capsys.readouterr()
    assert why in erred and len(erred.splitlines()) == 1 and not said


def test_a_real_run_names_what_failed_and_keeps_its_log(tmp_path):
    path, log = tmp_path / "test_real.py", tmp_path / "logs" / "real.log"
    path.write_text(FAILING, encoding="utf-8")
    assert soak.run_once(path, log) == ["test_bad: AssertionError: one line"]
    assert "1 failed, 1 passed" in log.read_text(encoding="utf-8")


def test_a_run_without_failures_keeps_no_log(tmp_path):
    path = tmp_path / "test_real.py"
    path.write_text("def test_good(): pass", encoding="utf-8")
    assert soak.run_once(path, tmp_path / "logs" / "real.log") == []
    assert not (tmp_path / "logs").exists()


def test_a_run_that_ends_without_a_report(tmp_path):
    [line] = soak.run_once(tmp_path / "none.py", tmp_path / "log")
    assert line.startswith("pytest ended with exit code 4: ") and "none.py" in line


def test_a_run_that_hangs(tmp_path, monkeypatch):
    path = tmp_path / "test_real.py"
    path.write_text("import time\ndef test_long(): time.sleep(60)", encoding="utf-8")
    monkeypatch.setattr(soak, "LIMIT", 2)
    assert soak.run_once(path, tmp_path / "log") == ["stopped after 2 s"]


@pytest.mark.parametrize(
    ("text", "message", "expected"),
    [
        ("Traceback:\n#x1B[32m----> 1#x1B[39m x()\n\n#x1B[31mE#x1B[39m: a\nb: c", "m", "E: a"),
        ("----> 2 assert x\n      3 y\n\nAssertionError: \n", "m", "AssertionError: assert x"),
        ("no arrow: here", f"{soak.HEADING}Cell 4: Cell outputs differ\n\n", "Cell outputs differ"),
        ("", "", ""),
    ],
)
def test_the_error_of_a_cell(text, message, expected):
    problem = ElementTree.Element("failure", message=message)
    problem.text = text
    assert soak.error_in(problem) == expected


def test_the_command_says_how_it_is_used():
    command = [sys.executable, "-m", "tools.soak", "--help"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, encoding="utf-8")
    assert done.returncode == 0 and "--loaded" in done.stdout
