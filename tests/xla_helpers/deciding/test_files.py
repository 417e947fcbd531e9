"""What a decision leaves in its folder, and what it leaves alone."""

import pytest

from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers.deciding.files import Files
from xla_helpers.deciding.findings import Raced, read
from xla_helpers.results import read_results, record

FAST = {"graph": 1e-4, "XLA": 5e-5}


@pytest.fixture
def folder(tf, no_pictures, tmp_path, monkeypatch):
    monkeypatch.delenv("XLA_RESULTS", raising=False)
    return tmp_path / "decision"


def recorded(files, *shapes):
    """Findings of races that stand in the folder."""
    raced = []
    for shape in shapes:
        run = races(FAST)[0].comparison
        path = record(f"decide-{shape}", run, f"a model, shape {shape}", files.records, runs=9)
        raced.append(Raced(shape, path.name))
    return findings(raced=tuple(raced))


def test_findings_and_page_come_together(folder):
    files = Files(folder)
    assert files.write(findings(raced=())) == {}
    assert read(folder / "findings.json") == findings(raced=())
    assert {"decision.md", "decision.html"} <= {path.name for path in folder.iterdir()}


def test_races_by_their_shape(folder):
    files = Files(folder)
    files.write(findings(raced=()))
    found = files.write(recorded(files, 1, 0))
    assert {shape: result.name for shape, result in found.items()} == {
        0: "decide-0",
        1: "decide-1",
    }


def test_a_race_that_is_not_there_is_not_made_up(folder):
    assert Files(folder).write(findings(raced=(Raced(0, "decide-0.nowhere.json"),))) == {}


def test_a_shape_that_was_not_timed_gets_no_times_of_another(folder):
    files = Files(folder)
    files.write(findings(raced=()))
    known = recorded(files, 0)
    untimed = Raced(1, "", {"XLA": "OSError: no"})
    assert list(files.write(findings(raced=(*known.raced, untimed)))) == [0]


def test_races_of_an_earlier_decision_go_and_nothing_else(folder):
    earlier = Files(folder)
    earlier.write(findings(raced=()))
    recorded(earlier, 0)
    (folder / "results" / "mine.json").write_text("{}")
    Files(folder).write(findings(raced=()))
    assert [path.name for path in (folder / "results").iterdir()] == ["mine.json"]


def test_races_of_this_decision_stay(folder):
    files = Files(folder)
    files.write(findings(raced=()))
    both = recorded(files, 0, 1)
    assert len(files.write(both)) == len(files.write(both)) == 2


def test_nothing_is_kept_elsewhere_unless_somebody_says_where(folder, tmp_path, monkeypatch):
    monkeypatch.setattr("xla_helpers.deciding.files.results_folder", lambda: 1 / 0)
    Files(folder).keep_for_report("decide-x")


def test_races_are_kept_for_the_report(folder, tmp_path, monkeypatch):
    files = Files(folder)
    files.write(findings(raced=()))
    recorded(files, 0, 1)
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "all"))
    for _ in range(2):
        files.keep_for_report("decide-my-model")
    results, skipped = read_results(tmp_path / "all")
    assert not skipped
    assert [result.name for result in results] == ["decide-my-model"] * 2
    assert {result.what for result in results} == {"a model, shape 0", "a model, shape 1"}
