"""Runs that fail as often as a test says, and one real file that does."""

from pathlib import Path

import pytest

from tools import soak
from tools.collection import ROOT
from tools.suites import Suite

FAILING = """
def test_good(): pass
def test_bad(): assert 1 == 2, "one line\\nand another"
"""


@pytest.fixture
def root(tmp_path, monkeypatch):
    """A collection of two notebooks, in which every second run fails."""
    for name in ("notebooks/01_a.ipynb", "notebooks/02_b.ipynb", "tests/tools/test_x.py"):
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.touch()
    runs = []

    def once(paths, log):
        runs.append(log.name)
        if len(runs) == 6:
            raise KeyboardInterrupt
        failed = {"01_a.Cell 7": "ValueError: too slow\x1b[2J"} if len(runs) % 2 == 0 else {}
        return Suite(9 - len(failed), failed)

    monkeypatch.setattr(soak, "run_once", once)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def test_all_is_run_again_and_again_and_failures_are_counted(root, capsys):
    assert soak.main(["--runs", "5", "--loaded", "2"], root) == 1
    said, erred = capsys.readouterr()
    assert "[1/5] run 1, quiet: 9 passed, 0 s\n" in said and "\x1b" not in said
    assert "[2/5] run 2, quiet: 8 passed, 1 failed, 0 s 01_a.Cell 7: ValueError: too slow" in said
    assert "[5/5] run 5, every core loaded: 9 passed, " in said
    rows = [line.split() for line in said.splitlines() if " of 3" in line]
    counts = ["1", "of", "3", "1", "of", "2"]
    assert [row[:8] for row in rows] == [["a", "run", *counts], ["01_a.Cell", "7", *counts]]
    assert "\nrun 4, every core loaded: 01_a.Cell 7: ValueError" in said
    assert f"see {Path('build', 'soak')}" in said and not erred


def test_nothing_failed(root, capsys):
    assert soak.main(["2", "--runs", "1", "--loaded", "0"], root) == 0
    said = capsys.readouterr().out
    assert "0 of 1" in said and "0 of 0" in said
    assert "01_a" not in said and "see build" not in said


def test_an_interruption_shows_the_table_so_far(root, capsys):
    assert soak.main(["--runs", "9", "--loaded", "0"], root) == 130
    said, erred = capsys.readouterr()
    assert "2 of 5" in said and erred == "soak: interrupted\n"


def test_before_the_first_run_has_ended_there_is_nothing_to_show(root, capsys, monkeypatch):
    def stopped(paths, log):
        raise KeyboardInterrupt

    monkeypatch.setattr(soak, "run_once", stopped)
    assert soak.main([], root) == 130
    said, erred = capsys.readouterr()
    assert not said and erred == "soak: interrupted\n"


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
    found = soak.run_once([path], log)
    assert found.passed == 1 and len(found.failed) == 1
    [(name, reason)] = found.failed.items()
    assert name.endswith("test_bad") and reason == "AssertionError: one line"
    assert "1 failed, 1 passed" in log.read_text(encoding="utf-8")


def test_the_command_says_how_it_is_used(capsys):
    with pytest.raises(SystemExit) as ended:
        soak.main(["--help"])
    assert ended.value.code == 0 and "--loaded" in capsys.readouterr().out


def test_it_runs_as_make_test_does():
    recipe = (ROOT / "Makefile").read_text(encoding="utf-8")
    assert f"pytest {' '.join(soak.AS_MAKE_TEST)} notebooks tests" in recipe
