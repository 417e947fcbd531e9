import json
import os
import socket
import stat
from dataclasses import replace
from datetime import date

import numpy as np
import pytest

from xla_helpers import results
from xla_helpers.agreement import Difference
from xla_helpers.comparisons import Comparison
from xla_helpers.evidence import Evidence
from xla_helpers.ratios import Ratio
from xla_helpers.results import Between, read_results, record
from xla_helpers.subjects import Subject, fingerprint, subject_of
from xla_helpers.timing import Measurement

WHAT = "a sum of three numbers"
MACHINE = {"processor": "A processor", "cores": "2 cores"}
SUBJECT = Subject("0123abcd", "89ef4567", ("float32[3, 4]", "training: True"), 15)
FILE = f"fused-sum.{fingerprint([WHAT, ''])}.json"


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where results go, on a machine that is always the same."""
    monkeypatch.setenv(results.FOLDER, str(tmp_path / "results"))
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE)
    return tmp_path / "results"


def test_what_is_recorded_is_read_again(folder, examples):
    measurements = examples.comparison(eager=2.0, XLA=1.0).measurements
    differences = {"eager": Difference(), "XLA": Difference(1e-7)}
    written = Comparison(measurements, differences, tolerance=1e-5)
    path = record("fused-sum", written, WHAT)
    assert path == folder / FILE
    (result,), skipped = read_results()
    assert (result.name, result.machine, skipped) == ("fused-sum", MACHINE, {})
    assert result.comparison == written
    assert result.title == "A processor · 2 cores"
    assert (result.what, result.path) == (WHAT, path)
    assert result.day == date.today().isoformat()


def test_what_a_comparison_knows_of_itself_is_kept(folder, examples):
    again = examples.comparison(graph=2.1)["graph"].samples
    written = replace(
        examples.comparison(graph=2.0, XLA=1.0),
        evidence={"graph": Evidence(0, 1, 0, 0), "XLA": Evidence(3, 1, 2, None)},
        control=Measurement("graph", 1.0, again, 10),
        subject=SUBJECT,
    )
    (result,), _ = read_results(record("fused-sum", written, WHAT))
    assert result.comparison == written
    assert result.about == ("fused-sum", WHAT, SUBJECT.fingerprint)


def test_that_results_were_not_compared_is_kept(folder, examples):
    written = replace(
        examples.comparison(XLA=1.0),
        differences={},
        undecided="It draws numbers.",
        remarks=("By results alone.",),
    )
    (result,), _ = read_results(record("fused-sum", written, WHAT))
    assert result.comparison == written


def test_recording_again_replaces(folder, examples):
    for seconds in (1.0, 2.0):
        record("fused-sum", examples.comparison(eager=seconds), WHAT)
    (result,), _ = read_results(folder)
    assert result.comparison["eager"].median == 2.0
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_what_cannot_be_written_leaves_the_old_file(folder, examples, monkeypatch):
    path = record("fused-sum", examples.comparison(eager=1.0), WHAT)
    before = path.read_bytes()
    monkeypatch.delattr(os, "replace")
    with pytest.raises(AttributeError):
        record("fused-sum", examples.comparison(eager=2.0), WHAT)
    assert [one.read_bytes() for one in folder.iterdir()] == [before]


@pytest.mark.parametrize(
    "changes",
    [{"model": "11111111"}, {"code": "11111111"}, {"arguments": ("float32[6, 4]",)}],
)
def test_another_subject_replaces_nothing(folder, examples, changes):
    measured = replace(examples.comparison(eager=1.0), subject=SUBJECT)
    other = replace(measured, subject=replace(SUBJECT, **changes))
    record("fused-sum", measured, WHAT)
    record("fused-sum", other, WHAT)
    found, _ = read_results(folder)
    assert {r.comparison.subject for r in found} == {SUBJECT, other.subject}
    assert len({r.about for r in found}) == 2


def test_other_words_replace_nothing(folder, examples):
    for what in (WHAT, "a sum of four numbers"):
        record("fused-sum", examples.comparison(eager=1.0), what)
    assert len(read_results(folder)[0]) == 2


def test_each_size_of_a_sweep_is_a_result(folder, examples):
    swept = examples.sweep(eager=2.0, XLA=1.0)
    paths = record("fused-sum", swept, WHAT)
    found, _ = read_results(*paths)
    assert [r.what for r in found] == [f"{WHAT}, rows {size}" for size in swept.comparisons]
    assert [r.comparison for r in found] == list(swept.comparisons.values())


def test_a_size_at_which_nothing_was_measured_is_left_out(folder, examples):
    swept = examples.sweep(eager=2.0)
    first, *others = swept.comparisons
    part = replace(swept, comparisons=swept.comparisons | {first: Comparison({}, {})})
    assert len(record("fused-sum", part, WHAT)) == len(others)
    with pytest.raises(ValueError, match="nothing was measured at any size"):
        record("fused-sum", replace(swept, comparisons={}), WHAT)


@pytest.mark.parametrize("kind", ["check", "program", "seconds", "named"])
def test_what_cannot_be_recorded_is_refused_by_its_type(folder, examples, kind):
    found = {
        "check": examples.check(eager={"result": 1}),
        "program": examples.program(),
        "seconds": 0.4,
        "named": {"eager": examples.comparison(eager=1.0)},
    }
    with pytest.raises(TypeError, match=f"this is {type(found[kind]).__name__}"):
        record("fused-sum", found[kind], WHAT)
    assert not folder.exists()


@pytest.mark.parametrize("seconds", [float("nan"), float("inf"), 0.0, -1.0])
def test_what_is_no_time_is_refused_and_replaces_nothing(folder, examples, seconds):
    record("fused-sum", examples.comparison(eager=1.0), WHAT)
    for bad in ({"eager": seconds}, examples.comparison(eager=(1.0, seconds))):
        with pytest.raises(ValueError):
            record("fused-sum", bad, WHAT)
    (result,), skipped = read_results(folder)
    assert (result.comparison["eager"].median, skipped) == (1.0, {})
    assert [path.name for path in folder.iterdir()] == [FILE]


def test_a_folder_can_be_given(folder, tmp_path, examples):
    path = record("fused-sum", examples.comparison(eager=1.0), WHAT, tmp_path / "mine")
    assert path == tmp_path / "mine" / FILE and path.exists()
    assert not folder.exists()


@pytest.fixture
def home(tmp_path, monkeypatch):
    """A user's folder for data, and no folder that is named for results."""
    monkeypatch.delenv(results.FOLDER, raising=False)
    monkeypatch.setattr("platformdirs.user_data_path", lambda name: tmp_path / "data" / name)
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE)
    return tmp_path


def recorded_in(monkeypatch, folder):
    folder.mkdir(parents=True, exist_ok=True)
    monkeypatch.chdir(folder)
    return record("noted", {"eager": 1.0}, WHAT).parent


def test_a_project_has_a_folder_of_its_own(home, monkeypatch):
    (home / "mine" / ".git").mkdir(parents=True)
    mine = recorded_in(monkeypatch, home / "mine")
    assert mine.parent == home / "data" / "xla-helpers" and mine.name.startswith("mine-")
    assert recorded_in(monkeypatch, home / "mine" / "notebooks") == mine
    assert recorded_in(monkeypatch, home / "other" / "mine") != mine


def test_nobody_else_may_open_the_folder_of_a_user(home, monkeypatch):
    folder = recorded_in(monkeypatch, home / "mine")
    assert stat.S_IMODE(folder.stat().st_mode) == 0o700


def test_single_calls_can_be_recorded(folder):
    record("three-prompts", {"call 1": 30.0, "call 2": np.float32(0.5)}, WHAT)
    (result,), _ = read_results(folder)
    assert result.comparison["call 1"].samples == (30.0,)
    assert result.comparison["call 2"].samples == (0.5,)
    assert result.comparison.differences == {}
    assert result.comparison.subject is None


def test_single_calls_are_about_the_function_that_took_them(folder):
    (result,), _ = read_results(record("noted", {"call 1": 30.0}, WHAT, about=np.sum))
    assert result.comparison.subject == subject_of([np.sum])


def test_a_result_holds_nothing_personal(tf, tmp_path, monkeypatch, examples):
    monkeypatch.setenv(results.FOLDER, str(tmp_path))
    measured = replace(examples.comparison(eager=1.0), subject=SUBJECT)
    text = record("fused-sum", measured, WHAT).read_text()
    assert socket.gethostname() not in text
    assert str(tmp_path) not in text
    assert set(json.loads(text)) == {
        *("format", "name", "what", "day", "machine", "subject", "process", "tolerance"),
        "candidates",
    }
    assert set(json.loads(text)["machine"]) <= {
        *("processor", "cores", "cache", "accelerators", "Python", "TensorFlow")
    }


@pytest.mark.parametrize("name", ["", "Fused sum", "../up", "a" * 61])
def test_names_are_simple(folder, name, examples):
    with pytest.raises(ValueError, match=r"\$\.name"):
        record(name, examples.comparison(eager=1.0), WHAT)
    assert not folder.exists()


STEERING = ["a\nb", "\x1b]0;owned\x07", "\x9b2J", "a\u2028b", "a\n"]


@pytest.mark.parametrize("text", STEERING)
@pytest.mark.parametrize("field", ["what", "candidates", "machine"])
def test_what_steers_a_terminal_is_not_recorded(folder, examples, field, text):
    found = examples.comparison(**{text if field == "candidates" else "eager": 1.0})
    machine = MACHINE | ({"cores": text} if field == "machine" else {})
    with pytest.raises(ValueError, match=rf"\$\.{field}"):
        record("noted", found, text if field == "what" else WHAT, machine=machine)
    assert not folder.exists()


def test_any_letters_may_be_recorded(folder):
    text = "µ → 日本 é 🙂 | 'a'"
    (found,), skipped = read_results(record("noted", {text: 1.0}, text, machine={text: text}))
    assert (found.what, found.title, list(found.comparison.measurements)) == (text, text, [text])
    assert skipped == {}


def test_a_machine_can_be_given_for_what_another_process_measured(folder, examples):
    there = {"processor": "A processor", "accelerators": "no GPU"}
    (measured,), _ = read_results(
        record("noted", examples.comparison(eager=1.0), WHAT, folder / "there", machine=there)
    )
    path = record("noted", measured.comparison, WHAT, machine=measured.machine)
    (found,), _ = read_results(path)
    assert found.machine == there
    paths = record("noted", examples.sweep(eager=2.0), WHAT, machine=there)
    assert all(found.machine == there for found in read_results(paths)[0])


@pytest.mark.parametrize("machine", [{}, "A processor", {"cores": 2}, ["A processor"]])
def test_what_is_no_machine_is_refused(folder, examples, machine):
    with pytest.raises(ValueError, match=r"\$\.machine"):
        record("noted", examples.comparison(eager=1.0), WHAT, machine=machine)
    assert not folder.exists()


def test_nothing_measured_is_no_result(folder):
    with pytest.raises(ValueError, match="candidates"):
        record("fused-sum", {}, WHAT)


# Several runs


@pytest.fixture
def run(folder, monkeypatch, examples):
    """Records a comparison of two rows in a process of its own, or in the one that is named."""
    processes = iter(range(1000))

    def once(graph, process=None, **options):
        mark = process or f"{next(processes):08x}"
        monkeypatch.setattr(results, "_mark", lambda number: mark)
        return record("noted", examples.comparison(graph=graph, XLA=1.0), WHAT, **options)

    return once


def medians():
    (result,), skipped = read_results()
    assert skipped == {}
    return [found["graph"].median for found in result.runs]


def test_one_run_is_kept_unless_more_are_asked_for(run):
    for seconds in (1.0, 2.0):
        run(seconds)
    assert medians() == [2.0]
    (result,), _ = read_results()
    assert result.runs == (result.comparison,) and result.earlier == ()
    assert result.between_runs("XLA", "graph") is result.xla_between_runs is None


def test_the_last_runs_stay_side_by_side(run, folder):
    for seconds in (1.0, 2.0, 3.0, 4.0):
        path = run(seconds, runs=3)
    assert medians() == [2.0, 3.0, 4.0]
    assert list(folder.iterdir()) == [path]
    (result,), _ = read_results()
    assert result.comparison["graph"].median == 4.0
    between = result.between_runs("XLA", "graph")
    assert between == result.xla_between_runs == result.between_runs("XLA")
    assert between.ratios == pytest.approx((2.0, 3.0, 4.0))
    assert (between.low, between.high) == pytest.approx((2.0, 4.0))
    run(5.0, runs=2)
    assert medians() == [4.0, 5.0]
    run(6.0)
    assert medians() == [6.0]


def test_a_process_makes_one_run_however_often_it_records(run):
    run(1.0, runs=3)
    for seconds in (2.0, 3.0):
        run(seconds, process="ffffffff", runs=3)
    assert medians() == [1.0, 3.0]


def test_every_process_has_a_mark_of_its_own():
    marks = [results._mark(process) for process in (1, 2, 1)]
    assert marks[0] == marks[2] != marks[1]


@pytest.mark.parametrize("fact", [{"cores": "1 core"}, {"TensorFlow": "TensorFlow 9"}])
def test_another_machine_or_version_begins_anew(run, monkeypatch, fact):
    run(1.0, runs=3)
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE | fact)
    run(2.0, runs=3)
    assert medians() == [2.0]


@pytest.fixture
def recorded_apart(folder, monkeypatch):
    """Records each of some comparisons in a process of its own, and reads what is there."""

    def record_all(*found):
        for number, one in enumerate(found):
            monkeypatch.setattr(results, "_mark", lambda _, mark=f"{number:08x}": mark)
            record("noted", one, WHAT, runs=3)
        return read_results()[0]

    return record_all


def test_runs_of_another_subject_stay_apart(recorded_apart, examples):
    measured = replace(examples.comparison(eager=1.0), subject=SUBJECT)
    other = replace(measured, subject=replace(SUBJECT, code="11111111"))
    assert [len(result.runs) for result in recorded_apart(measured, other)] == [1, 1]


def test_what_one_run_knows_is_not_said_of_another(recorded_apart, examples):
    first = replace(examples.comparison(eager=1.0), differences={}, undecided="It draws.")
    second = replace(examples.comparison(eager=2.0, XLA=1.0), tolerance=1e-3)
    (result,) = recorded_apart(first, second)
    assert result.runs == (first, second)
    assert result.between_runs("XLA", "eager") is None  # the first run has no XLA


def test_each_size_of_a_sweep_keeps_its_runs(recorded_apart, examples):
    swept = examples.sweep(eager=2.0, XLA=1.0)
    found = recorded_apart(swept, swept)
    assert [len(result.runs) for result in found] == [2] * len(swept.comparisons)


@pytest.mark.parametrize("text", ["", "{", '{"format": 1}', '{"cells": []}'])
def test_a_file_that_holds_no_run_is_replaced(run, text):
    run(1.0, runs=3).write_text(text)
    run(2.0, runs=3)
    assert medians() == [2.0]


@pytest.mark.parametrize("runs", [0, -1, 1.5, results.MOST_RUNS + 1, "3"])
def test_a_number_of_runs_that_makes_no_sense_is_refused(run, folder, runs):
    with pytest.raises(ValueError, match="`runs` is"):
        run(1.0, runs=runs)
    assert not folder.exists()


def test_what_would_be_too_large_to_read_replaces_nothing(run, folder, monkeypatch):
    monkeypatch.setattr(results, "LARGEST", len(run(1.0, runs=3).read_text()) + 10)
    with pytest.raises(ValueError, match="too large"):
        run(2.0, runs=3)
    assert medians() == [1.0]
    assert len(list(folder.iterdir())) == 1


def test_more_rounds_than_a_file_holds_are_refused(folder, examples):
    rounds = (1.0,) * results.MOST_ROUNDS
    record("noted", examples.comparison(eager=rounds), WHAT)
    with pytest.raises(ValueError, match="10,001 rounds.*: record fewer rounds"):
        record("noted", examples.comparison(eager=(*rounds, 1.0)), WHAT)
    assert len(list(folder.iterdir())) == 1


def test_an_older_file_is_a_run(run):
    path = run(1.0)
    content = json.loads(path.read_text()) | {"format": 2}
    del content["process"]
    path.write_text(json.dumps(content))
    assert medians() == [1.0]
    run(2.0, runs=2)
    assert medians() == [1.0, 2.0]
    assert json.loads(path.read_text())["format"] == results.FORMAT


@pytest.mark.parametrize(
    ("ratios", "words", "against"),
    [
        (
            (1.4, 1.2, 1.3),
            "in 3 runs from 1.20x to 1.40x faster",
            "from 1.20x to 1.40x faster than",
        ),
        ((0.8, 0.5), "in 2 runs from 1.25x to 2.00x slower", "from 1.25x to 2.00x slower than"),
        (
            *((0.8, 1.1), "in 2 runs from 1.25x slower to 1.10x faster"),
            "from 1.25x slower to 1.10x faster than",
        ),
        ((0.8, 1.001), "in 2 runs from 1.00x to 1.25x slower", "from 1.00x to 1.25x slower than"),
        ((0.999, 1.3), "in 2 runs from 1.00x to 1.30x faster", "from 1.00x to 1.30x faster than"),
        ((1.301, 1.302), "in 2 runs 1.30x faster", "1.30x faster than"),
        ((0.999, 1.001), "in 2 runs as fast", "as fast as"),
    ],
)
def test_runs_are_put_into_words_from_end_to_end(ratios, words, against):
    assert repr(Between(ratios)) == words
    assert Between(ratios).against("graph") == f"{against} graph"


# XLA against the graph


@pytest.mark.parametrize(
    ("seconds", "ratio"),
    [
        ({"eager": 4.0, "graph": 2.0, "XLA": 1.0}, Ratio(2.0, 2.0, 2.0)),
        ({"XLA": 2.0, "graph": 1.0}, Ratio(0.5, 0.5, 0.5)),
        ({"graph, cut": 2.0, "graph": 9.0, "XLA, padded": 1.0, "XLA": 9.0}, Ratio(2.0, 2.0, 2.0)),
        ({"plain": 2.0, "False": 9.0, "True": 1.0}, None),
        ({"eager": 4.0, "XLA": 1.0}, None),
        ({"eager": 4.0, "graph": 1.0}, None),
        ({"call 1": 4.0, "call 2": 1.0}, None),
        ({"graph": (2.0,), "XLA": (1.0,)}, Ratio(2.0, 0.0, float("inf"))),
    ],
)
def test_the_first_xla_row_against_the_first_graph(examples, seconds, ratio):
    found = examples.result(**seconds).xla_against_graph
    assert (found is None) == (ratio is None)
    if ratio:
        shown = (found.value, found.low, found.high)
        assert shown == pytest.approx((ratio.value, ratio.low, ratio.high))


# Files of others


def broken(**changes):
    content = {
        "format": 3,
        "name": "fused-sum",
        "what": WHAT,
        "day": "2026-01-31",
        "machine": MACHINE,
        "tolerance": 1e-4,
        "candidates": {"eager": {"first": 1.0, "samples": [1.0], "calls": 1}},
    }
    return json.dumps(content | changes)


def candidate(**changes):
    return {"first": 1, "samples": [1], "calls": 1} | changes


def earlier(**changes):
    """The text of a result with an earlier run."""
    run = {"day": "2026-01-30", "tolerance": 1e-4, "candidates": {"a": candidate()}}
    return broken(earlier=[run | changes])


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("\n", "empty"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("\ufeff\0", "not JSON"),
        (broken().replace('"first": 1.0', '"first": 1e999'), "first"),
        (broken(machine={"deep": "x"}).replace('"x"', "[" * 990 + "]" * 990), "recursion|machine"),
        (broken(name="fused-sum\n"), r"\$.name"),
        (broken(what=""), r"\$.what"),
        (broken(what="a sum\n| b |"), r"\$.what"),
        (broken(machine={"processor": "\x1b]0;owned\x07\x1b[2J A\nB"}), r"\$.machine.processor"),
        (broken(machine={"a\x1b": "b"}), r"\$.machine"),
        (broken(candidates={"a\nb": candidate()}), r"\$.candidates"),
        (broken(control={"of": "\x07", **candidate()}), r"\$.control.of"),
        (earlier(candidates={"a\nb": candidate()}), r"\$.earlier\[0\].candidates"),
        (broken(day="today"), r"\$.day"),
        (broken(candidates={"a" * 41: candidate()}), "candidates"),
        (broken(candidates={"a": candidate(samples=[1e308])}), "samples"),
        (broken(candidates={"a": candidate(difference=0.5)}), "do not agree"),
        ("[1]", "names no format"),
        ('{"cells": []}', "names no format"),
        (broken(format=1), "an older xla_helpers; this one reads 2 and 3$"),
        (broken(format=4), "a newer xla_helpers"),
        (broken(format=True), "names no format"),
        (broken(name=3), r"\$.name"),
        (broken(machine={}), r"\$.machine"),
        (broken(extra=1), "extra"),
        (broken(subject={"model": "0123abcd"}), r"\$.subject"),
        (broken(control={"of": "a", **candidate(samples=[1, 2])}), "different numbers of samples"),
        (broken(candidates={}), r"\$.candidates"),
        (broken(process="me"), r"\$.process"),
        (broken(earlier={}), r"\$.earlier"),
        (broken(earlier=[{}]), r"\$.earlier\[0\]"),
        (broken(earlier=[{"day": "2026-01-30"}] * 100), r"\$.earlier"),
        (earlier(candidates={"a": candidate(samples=[0])}), r"\$.earlier\[0\].*samples"),
        (earlier(candidates={"a": candidate(difference=0.5)}), "do not agree"),
        (earlier(control={"of": "a", **candidate(samples=[1, 2])}), "different numbers of samples"),
        (earlier(machine=MACHINE), r"\$.earlier\[0\].*machine"),
        (earlier(earlier=[]), r"\$.earlier\[0\].*earlier"),
        (earlier(day="2026-01-30\n"), r"\$.earlier\[0\].day"),
        (broken(candidates={"a": candidate(samples=[0])}), "samples"),
        (broken(candidates={"a": candidate(samples=[float("nan")])}), "NaN"),
        (
            broken(candidates={"a": candidate(), "b": candidate(samples=[1, 2])}),
            "different numbers of samples",
        ),
    ],
)
def test_other_files_are_named_and_skipped(folder, examples, text, reason):
    good = record("fused-sum", examples.comparison(eager=1.0), WHAT)
    bad = folder / "sub" / "other.json"
    bad.parent.mkdir()
    bad.write_text(text)
    found, skipped = read_results(folder)
    assert [result.path for result in found] == [good]
    assert list(skipped) == [str(bad)]
    with pytest.raises(ValueError, match=reason):
        raise ValueError(skipped[str(bad)])
    assert "\n" not in skipped[str(bad)]


def test_files_that_cannot_be_read_are_skipped(tmp_path):
    large = tmp_path / "large.json"
    large.write_text(" " * (results.LARGEST + 1))
    found, skipped = read_results(large, tmp_path / "absent.json")
    assert found == []
    assert skipped[str(large)] == "larger than 2,000,000 bytes"
    assert "No such file" in skipped[str(tmp_path / "absent.json")]


def test_what_is_no_file_is_skipped(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    found, skipped = read_results(tmp_path)
    assert (found, list(skipped.values())) == ([], ["not a regular file"])


@pytest.mark.parametrize("given", [str, lambda place: [place], lambda place: [[str(place)]]])
def test_a_text_is_one_place_and_a_list_holds_some(folder, examples, given):
    path = record("fused-sum", examples.comparison(eager=1.0), WHAT)
    for place in (path, folder):
        (result,), skipped = read_results(given(place))
        assert (result.path, skipped) == (path, {})
    assert read_results([]) == ([], {})


@pytest.fixture
def nothing_is_searched(monkeypatch, tmp_path):
    """A home, below which nothing may be searched."""

    def refuse(*place, **options):
        raise AssertionError(f"searched: {place}")

    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    (tmp_path / "home").mkdir()
    monkeypatch.setattr("os.walk", refuse)
    return tmp_path / "home"


@pytest.mark.parametrize("place", ["/", "//", "/tmp/..", *"class/07"])
def test_a_file_system_is_not_searched(nothing_is_searched, monkeypatch, tmp_path, place):
    monkeypatch.chdir(tmp_path)
    found, skipped = read_results(place)
    assert found == [] and list(skipped) == [place]
    if place.startswith("/"):
        assert skipped[place] == "a whole file system is not searched: name a folder in it"


@pytest.mark.parametrize("above", [".", "..", "link"])
def test_a_home_is_not_searched_as_a_whole(nothing_is_searched, above):
    (nothing_is_searched / "link").symlink_to(nothing_is_searched)
    place = nothing_is_searched / above
    expected = "the home of a user is not searched as a whole: name a folder in it"
    assert read_results(place) == ([], {str(place): expected})


@pytest.mark.parametrize("place", ["", "a" * 5000, "a\0b"])
def test_what_names_no_place_is_skipped(nothing_is_searched, place):
    found, skipped = read_results(place)
    assert found == [] and list(skipped) == [place]


def test_links_to_folders_are_not_followed(folder, tmp_path, examples):
    record("fused-sum", examples.comparison(eager=1.0), WHAT)
    (tmp_path / "named").mkdir()
    (tmp_path / "named" / "out").symlink_to(folder)
    assert read_results(tmp_path / "named") == ([], {})
    assert len(read_results(tmp_path / "named" / "out")[0]) == 1


def test_a_mark_of_byte_order_does_no_harm(folder, tmp_path, examples):
    text = record("fused-sum", examples.comparison(eager=1.0), WHAT).read_text()
    marked = tmp_path / "MARKED.JSON"
    marked.write_text(text, encoding="utf-8-sig")
    (result,), skipped = read_results(marked)
    assert (result.name, skipped) == ("fused-sum", {})
