"""`make test-versions`, with environments that are only pretended."""

from contextlib import suppress

import pytest

from tools import environments
from tools.collection import UsageError
from tools.environments import NoSolution, NotMade
from tools.suites import Suite
from tools.versions import __main__ as versions
from tools.versions.combinations import combinations
from tools.versions.found import kept

GRID, AHEAD = "3.11-2.19", "nightly"


@pytest.fixture
def asked(monkeypatch, tmp_path):
    """What environments and tests were asked for; both do as they are told by `answers`."""
    calls = []

    def pretend(name, result=None):
        def call(*args, **kwargs):
            calls.append((name, args, kwargs))
            return result

        monkeypatch.setattr(environments, name, call)

    for name in ("make", "install", "install_project"):
        pretend(name)
    pretend("resolve", tmp_path / "pins.txt")
    pretend("packages", {"tensorflow": "2.19.1"})
    monkeypatch.setattr(versions, "FOLDER", tmp_path)
    monkeypatch.setattr(versions, "run_tests", lambda python, places, log: Suite(1))
    monkeypatch.setattr(versions, "keep_table", lambda *args: calls.append(("keep_table", args)))
    return calls


def fails(monkeypatch, name, error):
    def call(*args, **kwargs):
        raise error

    monkeypatch.setattr(environments, name, call)


def test_what_was_found_is_a_table_and_a_file(asked, tmp_path, capsys):
    assert versions.main([GRID, "--fast"]) == 0
    said = capsys.readouterr().out
    assert "3.11-2.19: helpers ... 1 passed, " in said
    assert "| 3.11-2.19 | 3.11 | 2.19.1 |  |  |  | 1 passed | 4 passed | " in said
    assert (tmp_path / GRID / "found.json").exists()


def test_a_combination_of_the_grid_keeps_near_the_lock(asked):
    versions.main([GRID, "--fast"])
    (_, alone, _), (_, whole, near) = [call for call in asked if call[0] == "resolve"]
    assert alone[1] == ["tensorflow==2.19.*"] and "tensorflow==2.19.*" in whole[1]
    assert "--hash=sha256" in near["near"]


def test_a_release_that_does_not_exist_is_a_row_and_no_failure(asked, monkeypatch, capsys):
    fails(monkeypatch, "resolve", NoSolution("no wheel for cp313"))
    assert versions.main(["3.13-2.19"]) == 0
    assert "| 3.13-2.19 | 3.13 | no release |" in capsys.readouterr().out


@pytest.mark.parametrize(("name", "code"), [(GRID, 1), ("oldest", 1), (AHEAD, 0)])
def test_what_cannot_be_made_is_a_row_that_says_why(asked, monkeypatch, capsys, name, code):
    fails(monkeypatch, "make", NotMade("no network"))
    assert versions.main([name]) == code
    said = capsys.readouterr()
    assert "| not made |" in said.out and f"versions: {name}: no network" in said.err


def test_companions_that_do_not_fit_are_a_failure(asked, monkeypatch):
    def resolve(folder, requirements, *options, **more):
        if len(requirements) > 1:
            raise NoSolution("numpy and tensorflow do not fit")

    monkeypatch.setattr(environments, "resolve", resolve)
    assert versions.main([GRID]) == 1


def test_a_fault_in_one_is_a_row_and_the_others_are_tried(asked, monkeypatch, tmp_path, capsys):
    fails(monkeypatch, "packages", KeyError("\x1b[2J"))
    assert versions.main([GRID, "oldest", "--fast"]) == 1
    said = capsys.readouterr()
    assert said.out.count("| not made |") == 2 and "KeyError" in said.err.split("Traceback")[1]
    assert "versions: oldest: KeyError: " in said.err
    assert [found.name for found in kept(tmp_path)] == [GRID, "oldest"]


ENDS = [(KeyboardInterrupt(), 130), (OSError("full"), 1), (UsageError("no notebooks"), 2)]


@pytest.mark.parametrize(("error", "code"), ENDS)
def test_an_end_before_its_time_shows_what_was_tried(asked, monkeypatch, capsys, error, code):
    def make(folder, python):
        if "oldest" in folder.parts:
            raise error

    monkeypatch.setattr(environments, "make", make)
    assert versions.main(["--fast"]) == code
    said = capsys.readouterr().out
    assert f"| {GRID} | 3.11 | 2.19.1 |" in said and "| oldest |" not in said
    assert "keep_table" not in {call[0] for call in asked}


def test_a_test_that_fails_is_named_and_counts_where_it_is_promised(asked, monkeypatch, capsys):
    wrong = Suite(0, {"test_a": "AssertionError: why"})
    monkeypatch.setattr(versions, "run_tests", lambda python, places, log: wrong)
    assert versions.main([GRID, "--fast"]) == 1
    said = capsys.readouterr()
    assert "01_fuse_a_computation ... FAILED" in said.out
    assert "versions: 3.11-2.19: test_a: AssertionError: why" in said.err
    assert versions.main([AHEAD, "--fast"]) == 0


def test_only_a_whole_run_is_kept_in_the_readme(asked):
    versions.main([GRID, "--fast"])
    assert "keep_table" not in {call[0] for call in asked}
    versions.main(["--fast"])
    (kept,) = [call[1] for call in asked if call[0] == "keep_table"]
    assert [found.name for found in kept[0]] == [one.name for one in combinations()]
    assert kept[1].startswith("A part: ")


def test_a_name_that_is_not_there_is_refused_before_anything_is_made(asked, capsys):
    assert versions.main(["3.10-2.19"]) == 2
    assert "there is no combination 3.10-2.19; there are: 3.11-2.19" in capsys.readouterr().err
    assert not asked


def test_the_list_has_a_line_for_each(capsys):
    assert versions.main(["--list"]) == 0
    lines = capsys.readouterr().out.splitlines()
    assert [line.split()[0] for line in lines] == [one.name for one in combinations()]


def test_the_fast_part_is_there():
    places = [versions.ROOT / "tests/xla_helpers" / f"test_{n}.py" for n in versions.FAST.split()]
    assert all(place.exists() for place in places)
    with suppress(SystemExit):
        versions.main(["--help"])
