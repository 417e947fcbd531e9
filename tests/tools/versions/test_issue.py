"""The text of the issue that the weekly run opens."""

import pytest

from tools.suites import Suite
from tools.versions import issue
from tools.versions.found import Found, keep

FINE = Found("3.12-2.20", "3.12", True, "Linux")
FAILED = Found(
    "newest",
    "3.13",
    True,
    "Darwin",
    moved={"keras": ("3.15.1", "3.16.0"), "new": ("", "1.0")},
    notebooks=Suite(3, {"05_cluster_automatically, Cell 3": "AssertionError: `x` @you"}),
)


@pytest.fixture
def folder(tmp_path):
    for found in (FINE, FAILED):
        (tmp_path / found.name).mkdir()
        keep(found, tmp_path / found.name)
    return tmp_path


def test_it_names_the_lesson_and_the_pins_that_moved(folder, capsys):
    assert issue.main([str(folder)]) == 0
    said = capsys.readouterr().out
    assert "1 of 2 combinations failed." in said and "## `` newest `` on `` Darwin ``" in said
    assert "- `` 05_cluster_automatically, Cell 3: AssertionError: 'x' @you ``" in said
    assert "| `` keras `` | `` 3.15.1 `` | `` 3.16.0 `` |\n| `` new `` | `` none ``" in said
    assert FINE.name not in said


def test_nothing_is_said_when_nothing_failed(folder, capsys):
    keep(FINE, folder / FAILED.name)
    assert issue.main([str(folder)]) == 0
    assert capsys.readouterr().out == ""


def test_a_folder_with_nothing_in_it_is_refused(tmp_path, capsys):
    assert issue.main([str(tmp_path)]) == 2
    assert "holds nothing that make test-versions kept" in capsys.readouterr().err


def test_an_environment_like_the_lock_says_so_and_one_that_is_missing_has_no_pins():
    assert "No pin had moved." in issue.part(Found("a", "3.11", True, helpers=Suite(0, {"t": "w"})))
    missing = issue.part(Found("nightly", "3.13", False, "Linux", missing="no network"))
    heading = "## `` nightly `` on `` Linux ``, which nobody promises yet"
    assert missing == f"{heading}\n\n- `` no network ``"


HOSTILE = "x\n\n@everyone `<img src=x>` \x1b[2J\u202e a |b"
SHOWN = "`` x  @everyone '<img src=x>'  [2J  a {}b ``"


def test_no_name_is_mark_up_or_steers_a_terminal():
    wrong = Suite(0, {HOSTILE: HOSTILE})
    moved = {HOSTILE: (HOSTILE, HOSTILE)}
    found = Found(HOSTILE, "3", True, HOSTILE, moved=moved, helpers=wrong)
    heading, _, failed, _, *table = issue.part(found).split("\n")
    assert heading == f"## {SHOWN.format('|')} on {SHOWN.format('|')}"
    assert failed.startswith("- `` x  @everyone '<img src=x>'")
    assert table[2] == f"| {' | '.join([SHOWN.format('¦')] * 3)} |"
    assert all(map(str.isprintable, [failed, *table])) and len(table) == 3
