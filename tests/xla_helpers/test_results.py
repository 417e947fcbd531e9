"""Comparisons as files, read again or refused, and claims that are judged by them."""

import json
import os
import socket
from dataclasses import replace
from datetime import date

import pytest

import xla_helpers as xh
from xla_helpers import results
from xla_helpers.agreement import Difference
from xla_helpers.evidence import Evidence

WHAT = "a sum of three numbers"
MACHINE = {"processor": "A processor", "cores": "2 cores"}


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where results go, on a machine that is always the same."""
    monkeypatch.setenv("XLA_RESULTS", str(tmp_path / "results"))
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE)
    return tmp_path / "results"


# Written and read


def test_what_is_recorded_is_read_again(folder, examples):
    written = replace(
        examples.comparison(eager=2.0, XLA=1.0),
        differences={"eager": Difference(), "XLA": Difference(1e-7)},
        tolerance=1e-5,
        evidence={"eager": Evidence(eager=3, programs=0), "XLA": Evidence(programs=2, compiled=1)},
        remarks=("Variables compared: weights.",),
    )
    written = replace(written, control=written["eager"])
    path = xh.record("fused-sum", written, WHAT)
    (result,), skipped = xh.read_results()
    assert (path, skipped) == (folder / "fused-sum.json", {})
    assert (result.name, result.what, result.machine) == ("fused-sum", WHAT, MACHINE)
    assert (result.title, result.day) == ("A processor · 2 cores", date.today().isoformat())
    assert result.comparison == written


def test_that_nothing_was_compared_is_kept(folder, examples):
    why = "Results were not compared: there are none."
    written = replace(examples.comparison(eager=2.0), differences={}, undecided=why)
    (result,), _ = xh.read_results(xh.record("silent", written, WHAT))
    assert result.comparison == written and str(result.comparison).startswith(why)


def test_a_file_holds_nothing_personal(tf, tmp_path, monkeypatch, examples):
    for name in ("HOME", "USER", "LOGNAME"):
        monkeypatch.setenv(name, str(tmp_path / "somebody"))
    drew = {"eager": Evidence(draws=(("somebody/drop", "RandomUniform"),))}
    written = replace(examples.comparison(eager=2.0), evidence=drew)
    text = xh.record("fused-sum", written, WHAT, tmp_path).read_text()
    assert "somebody" not in text and socket.gethostname() not in text
    assert str(tmp_path) not in text and str(os.getpid()) not in text


def test_recording_again_replaces_a_name_and_no_other(folder, examples):
    for name, seconds in (("a", 1.0), ("b", 2.0), ("a", 3.0)):
        xh.record(name, examples.comparison(eager=seconds), WHAT)
    read, _ = xh.read_results()
    assert {r.name: r.comparison["eager"].median for r in read} == {"a": 3.0, "b": 2.0}
    assert len(list(folder.iterdir())) == 2


def test_any_name_is_a_file_in_the_folder(folder, examples):
    path = xh.record("../Five modes, é", examples.comparison(eager=2.0), WHAT)
    assert path.parent == folder and path.name == "-five-modes-.json"


@pytest.mark.parametrize(
    "comparison",
    [{}, {"eager": 0.0}, {"eager": float("nan")}, xh.Comparison({}, {})],
)
def test_what_no_file_may_hold_replaces_nothing(folder, examples, comparison):
    before = xh.record("fused-sum", examples.comparison(eager=2.0), WHAT).read_bytes()
    with pytest.raises(ValueError, match="not a result"):
        xh.record("fused-sum", comparison, WHAT)
    assert [path.read_bytes() for path in folder.iterdir()] == [before]


def test_runs_stay_side_by_side_while_all_else_is_the_same(folder, examples, monkeypatch):
    found = [examples.comparison(eager=ratio, XLA=1.0) for ratio in (1.1, 1.2, 1.3, 1.4)]
    for comparison in found:
        path = xh.record("fused-sum", comparison, WHAT, runs=3)
    (result,), _ = xh.read_results(path)
    assert result.runs == tuple(found[1:]) and result.comparison == found[-1]
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE | {"TensorFlow": "2.99"})
    (result,), _ = xh.read_results(xh.record("fused-sum", found[0], WHAT, runs=3))
    assert len(result.runs) == 1


def test_the_first_xla_row_against_the_first_graph(examples):
    def ratio(**seconds):
        return examples.result(**seconds).xla_against_graph

    two = {"graph": 4.0, "graph, padded": 9.0, "XLA, padded": 2.0, "XLA": 5.0}
    assert ratio(**two).value == pytest.approx(2.0)
    assert ratio(eager=4.0, XLA=1.0) is None and ratio(eager=4.0, graph=1.0) is None


# Files of others


def row(**changes):
    return {"label": "eager", "first": 1.0, "samples": [1.0, 1.0], "calls": 1} | changes


def run(**changes):
    return {"measurements": {"eager": row()}, "differences": {}, "tolerance": 1e-4} | changes


def content(*runs, **changes):
    shared = {"name": "n", "what": WHAT, "day": "2026-01-31", "machine": MACHINE}
    return json.dumps(shared | {"runs": runs or [run()]} | changes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "truncated"),
        (content()[:200], "truncated"),
        ("[" * 10_000, "not a result"),
        (content(name=7), "name"),
        (content(what="a\x1b[2J"), "one line"),
        (content(runs=[]), "runs"),
        (content(machine={}), "machine"),
        (content(run(measurements={})), "no candidates"),
        (content(run(measurements={str(i): row() for i in range(101)})), "more than 100"),
        (content(run(measurements={"eager": row(samples=[])})), "numbers of samples"),
        (content(run(measurements={"eager": row(samples=[1.0, 0])})), "no clock"),
        (content(run(measurements={"eager": row(first=-1)})), "no clock"),
        (content(run(measurements={"a": row(), "b": row(samples=[1.0])})), "numbers of samples"),
        (content(run(control=row(samples=[1.0]))), "numbers of samples"),
        (content(run(differences={"eager": {"size": 1.0}})), "do not agree"),
        (" " * 2_000_001, "larger than"),
    ],
)
def test_what_is_no_result_is_skipped_with_the_reason(folder, examples, text, reason):
    xh.record("good", examples.comparison(eager=2.0), WHAT)
    bad = folder / "bad.json"
    bad.write_text(text)
    read, skipped = xh.read_results(folder)
    assert [result.name for result in read] == ["good"]
    assert list(skipped) == [str(bad)] and reason in skipped[str(bad)]


def test_places_are_files_and_folders_and_their_folders(folder, examples, tmp_path):
    one = xh.record("one", examples.comparison(eager=2.0), WHAT, tmp_path / "class/01")
    xh.record("two", examples.comparison(eager=2.0), WHAT, tmp_path / "class/02")
    (tmp_path / "class/notes.txt").write_text("no result")
    os.mkfifo(tmp_path / "class/pipe.json")  # which would wait for ever
    (tmp_path / "class/gone.json").symlink_to("nowhere")
    read, skipped = xh.read_results(tmp_path / "class", str(one), tmp_path / "missing")
    assert [result.name for result in read] == ["one", "two", "one"]
    assert [path.rpartition("/")[2] for path in skipped] == ["gone.json", "pipe.json", "missing"]


# Claims

SPREAD = (0.1, -0.1, 0.0, 0.15, -0.15, 0.05, -0.05)  # of seven rounds


def test_a_verdict_says_what_was_measured(examples):
    measured = examples.comparison(eager=2.0, XLA=1.0)
    verdict = xh.Claim("a claim", "XLA", "eager").judge(measured)
    assert verdict.ratios == (measured.ratio("XLA", "eager"),)
    assert str(verdict) == "holds, in one run: XLA is 2.00x faster than eager [2.00, 2.00]"


@pytest.mark.parametrize(
    ("samples", "kind"),
    [
        ([2 + s for s in SPREAD], "holds"),
        ([1 + s for s in SPREAD], "undecided"),
        ([0.5 + s for s in SPREAD], "does not hold"),
        ([5.0, 6.0, 7.0], "undecided"),  # too few rounds for an interval
        ([30.0], "holds"),  # a single call each: by its order alone
        ([1.1], "undecided"),
        ([0.5], "does not hold"),
    ],
)
def test_the_whole_interval_lies_on_its_side(examples, samples, kind):
    measured = examples.comparison(slow=tuple(samples), fast=(1.0,) * len(samples))
    assert xh.Claim("a claim", "fast", "slow").judge(measured).kind == kind


@pytest.mark.parametrize(
    ("ratios", "kind"),
    [((1.5, 1.2, 1.3), "holds"), ((0.5, 0.8), "does not hold"), ((1.5, 0.8), "undecided")],
)
def test_several_runs_decide_where_they_agree(examples, ratios, kind):
    runs = tuple(examples.comparison(eager=ratio, XLA=1.0) for ratio in ratios)
    verdict = xh.Claim("a claim", "XLA", "eager").judge(replace(examples.result(), runs=runs))
    assert verdict.kind == kind and str(verdict).startswith(f"{kind}, in {len(runs)} runs: XLA is")
    assert all(run.ratio("XLA").against("eager") in str(verdict) for run in runs)


def test_what_was_not_measured_cannot_be_judged(examples):
    verdict = xh.Claim("a claim", "XLA", "eager").judge(examples.result(eager=2.0))
    assert str(verdict) == "cannot be judged: XLA not measured"


def test_published_sentences_agree_with_their_own_figures():
    for figures in xh.read_published():
        assert figures.source and figures.hardware and figures.claims
        for claim in figures.claims:
            if figures.seconds:
                assert figures.seconds[claim.faster] < figures.seconds[claim.slower]
