"""What a decision leaves in its folder, and what it leaves alone."""

import errno
import json
import subprocess
import sys
from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import findings, races
from xla_helpers.deciding.files import Files
from xla_helpers.deciding.findings import Raced, read, write
from xla_helpers.results import read_results, record

FAST = {"graph": 1e-4, "XLA": 5e-5}

HOLD = """
import fcntl, os, sys, time
fcntl.flock(os.open(sys.argv[1], os.O_RDONLY), fcntl.LOCK_EX)
print("held", flush=True)
time.sleep(60)
"""


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
    others = {"mine.json", "decide-notes.json", "decide-7.abcdef.json"}
    for name in others:
        (folder / "results" / name).write_text("{}")
    Files(folder).write(findings(raced=()))
    assert {path.name for path in (folder / "results").iterdir()} == others


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
    (folder / "results" / "decide-2.notes.json").write_text("[]")
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "all"))
    for _ in range(2):
        files.keep_for_report("decide-my-model")
    results, skipped = read_results(tmp_path / "all")
    assert not skipped
    assert [result.name for result in results] == ["decide-my-model"] * 2
    assert {result.what for result in results} == {"a model, shape 0", "a model, shape 1"}


# What is not its own


@pytest.mark.parametrize("content", [{}, [], {"name": 5}, {"vulnerabilities": []}])
def test_findings_of_others_make_no_decision(content, folder):
    folder.mkdir()
    for name in ("findings.json", "speed.png", "decision.md"):
        (folder / name).write_text(json.dumps(content))
    for refused in (Files(folder).check, Files(folder).write):
        with pytest.raises(ValueError, match="holds other files, or a decision of another version"):
            refused(findings())
    assert {path.read_text() for path in folder.iterdir()} == {json.dumps(content)}


@pytest.mark.parametrize("name", ["results", "findings.json", "speed.png", "results/decide-0.json"])
def test_links_are_not_followed(name, folder, tmp_path):
    Files(folder).write(findings(raced=()))
    (tmp_path / "others").mkdir()
    path = folder / name
    path.rmdir() if path.is_dir() else path.unlink(missing_ok=True)
    path.symlink_to(tmp_path / "others")
    with pytest.raises(ValueError, match=f"{name} is a link: give a folder that is new or empty"):
        Files(folder).write(findings(raced=()))


def about(subject):
    """A plan of something else."""
    return replace(findings().plan, subject=subject)


def test_a_decision_about_another_name_stays(folder):
    Files(folder).write(findings(raced=(), name="a:make"))
    with pytest.raises(ValueError) as refused:
        Files(folder).check(findings(name="b\x1b[2J:make"))
    said = "holds a decision about 'a:make', and this one is about 'b\\x1b[2J:make': give another"
    assert said in str(refused.value)
    assert read(folder / "findings.json").name == "a:make"


def test_a_model_that_has_changed_keeps_its_name(folder):
    Files(folder).write(findings(raced=()))
    Files(folder).write(findings(raced=(), plan=about("another in the same file")))


def test_a_live_object_is_more_than_its_name(folder):
    def live(subject):
        return findings(raced=(), name="Sequential", isolated=False, plan=about(subject))

    for _ in range(2):  # a cell that runs again
        Files(folder).write(live("Sequential, 2 layers"))
    other = live("Sequential, 3 layers")
    Files(folder).check(replace(other, plan=None))  # nothing was called yet
    with pytest.raises(ValueError, match="about 'Sequential, 2 .* about 'Sequential, 3 layers': "):
        Files(folder).write(other)
    assert read(folder / "findings.json").plan.subject == "Sequential, 2 layers"
    Files(folder, named=True).write(other)
    assert read(folder / "findings.json").plan.subject == "Sequential, 3 layers"


# Two at once


def test_one_decision_at_a_time(folder):
    with Files(folder).alone():
        with pytest.raises(ValueError, match="^another decision is being written to .*decision: "):
            with Files(folder).alone():
                raise AssertionError("this ran")
    with Files(folder).alone():
        pass


def test_a_process_that_was_killed_holds_nothing(folder):
    folder.mkdir()
    command = [sys.executable, "-S", "-c", HOLD, folder]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdout.readline() == "held\n"
        with pytest.raises(ValueError, match="another decision"), Files(folder).alone():
            raise AssertionError("this ran")
        process.kill()
    with Files(folder).alone():
        assert not list(folder.iterdir())


@pytest.mark.parametrize("answer", [errno.EBADF, errno.ENOLCK, errno.EOPNOTSUPP])
def test_where_folders_cannot_be_locked_one_decides_all_the_same(folder, monkeypatch, answer):
    def flock(file, how):
        raise OSError(answer, "as on NFS")

    monkeypatch.setattr("fcntl.flock", flock)
    with Files(folder).alone():
        Files(folder).write(findings(raced=()))
    assert read(folder / "findings.json").name == findings().name


def test_an_error_leaves_no_folder_and_no_lock(folder, tmp_path):
    below = folder / "below"
    with pytest.raises(KeyboardInterrupt), Files(below).alone():
        raise KeyboardInterrupt
    assert not list(tmp_path.iterdir())
    with Files(below).alone():
        write(findings(), below / "findings.json")
    assert [path.name for path in below.iterdir()] == ["findings.json"]
