import json
import os
import socket
from datetime import date

import matplotlib.pyplot as plt
import pytest

from xla_helpers import (
    Claim,
    Comparison,
    Measurement,
    plot_results,
    read_published,
    read_results,
    record,
    results,
)

WHAT = "a sum of three numbers"
MACHINE = {"processor": "A processor", "cores": "2 cores"}


def comparison(**medians):
    measurements = {
        label: Measurement(label, 9.0, (seconds, seconds * 1.01, seconds * 0.99), 4)
        for label, seconds in medians.items()
    }
    return Comparison(measurements, {label: 1e-7 for label in medians}, tolerance=1e-5)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """Where results go, on a machine that is always the same."""
    monkeypatch.setenv(results.FOLDER, str(tmp_path / "results"))
    monkeypatch.setattr(results, "machine_facts", lambda: MACHINE)
    return tmp_path / "results"


def test_what_is_recorded_is_read_again(folder):
    written = comparison(eager=2.0, XLA=1.0)
    path = record("fused-sum", written, WHAT)
    assert path == folder / "fused-sum.json"
    (result,), skipped = read_results()
    assert (result.name, result.machine, skipped) == ("fused-sum", MACHINE, {})
    assert result.comparison == written
    assert result.title == "A processor · 2 cores"
    assert (result.what, result.path) == (WHAT, path)
    assert result.day == date.today().isoformat()


def test_recording_again_replaces(folder):
    for seconds in (1.0, 2.0):
        record("fused-sum", comparison(eager=seconds), WHAT)
    (result,), _ = read_results(folder)
    assert result.comparison["eager"].median == 2.0
    assert [path.name for path in folder.iterdir()] == ["fused-sum.json"]


def test_a_folder_can_be_given(folder, tmp_path):
    path = record("fused-sum", comparison(eager=1.0), WHAT, tmp_path / "mine")
    assert path == tmp_path / "mine" / "fused-sum.json" and path.exists()
    assert not folder.exists()


def test_single_calls_can_be_recorded(folder):
    record("three-prompts", {"call 1": 30.0, "call 2": 0.1}, WHAT)
    (result,), _ = read_results(folder)
    assert result.comparison["call 1"].samples == (30.0,)


def test_a_result_holds_nothing_personal(tf, tmp_path, monkeypatch):
    monkeypatch.setenv(results.FOLDER, str(tmp_path))
    text = record("fused-sum", comparison(eager=1.0), WHAT).read_text()
    assert socket.gethostname() not in text
    assert str(tmp_path) not in text
    assert set(json.loads(text)) == {
        *("format", "name", "what", "day", "machine", "tolerance", "candidates")
    }
    assert set(json.loads(text)["machine"]) <= {
        *("processor", "cores", "cache", "accelerators", "Python", "TensorFlow")
    }


@pytest.mark.parametrize("name", ["", "Fused sum", "../up", "a" * 61])
def test_names_are_simple(folder, name):
    with pytest.raises(ValueError, match=r"\$\.name"):
        record(name, comparison(eager=1.0), WHAT)
    assert not folder.exists()


def test_nothing_measured_is_no_result(folder):
    with pytest.raises(ValueError, match="candidates"):
        record("fused-sum", {}, WHAT)


def broken(**changes):
    content = {
        "format": 1,
        "name": "fused-sum",
        "what": WHAT,
        "day": "2026-01-31",
        "machine": MACHINE,
        "tolerance": 1e-4,
        "candidates": {"eager": {"first": 1.0, "samples": [1.0], "calls": 1}},
    }
    return json.dumps(content | changes)


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("", "empty"),
        ("\n", "empty"),
        ("{", "not JSON"),
        ("[" * 100_000, "not JSON"),
        ("\ufeff\0", "not JSON"),
        (broken().replace("9.0", "1.0").replace('"first": 1.0', '"first": 1e999'), "first"),
        (broken(machine={"deep": "x"}).replace('"x"', "[" * 990 + "]" * 990), "recursion|machine"),
        (broken(name="fused-sum\n"), r"\$.name"),
        (broken(what=""), r"\$.what"),
        (broken(day="today"), r"\$.day"),
        (broken(candidates={"a" * 41: {"first": 1, "samples": [1], "calls": 1}}), "candidates"),
        (broken(candidates={"a": {"first": 1, "samples": [1e308], "calls": 1}}), "samples"),
        (
            broken(candidates={"a": {"first": 1, "samples": [1], "calls": 1, "difference": 0.5}}),
            "do not agree",
        ),
        ("[1]", "names no format"),
        ('{"cells": []}', "names no format"),
        (broken(format=0), "an older xla_helpers"),
        (broken(format=2), "a newer xla_helpers"),
        (broken(format=True), "not a whole result"),
        (broken(name=3), r"\$.name"),
        (broken(machine={}), r"\$.machine"),
        (broken(extra=1), "extra"),
        (broken(candidates={}), r"\$.candidates"),
        (broken(candidates={"a": {"first": 1, "samples": [0], "calls": 1}}), "samples"),
        (broken(candidates={"a": {"first": 1, "samples": [float("nan")], "calls": 1}}), "NaN"),
        (
            broken(
                candidates={
                    "a": {"first": 1, "samples": [1], "calls": 1},
                    "b": {"first": 1, "samples": [1, 2], "calls": 1},
                }
            ),
            "different numbers of samples",
        ),
    ],
)
def test_other_files_are_named_and_skipped(folder, text, reason):
    good = record("fused-sum", comparison(eager=1.0), WHAT)
    bad = folder / "sub" / "other.json"
    bad.parent.mkdir()
    bad.write_text(text)
    found, skipped = read_results(folder)
    assert [result.name for result in found] == [good.stem]
    assert list(skipped) == [str(bad)]
    with pytest.raises(ValueError, match=reason):
        raise ValueError(skipped[str(bad)])
    assert "\n" not in skipped[str(bad)]


def test_files_that_cannot_be_read_are_skipped(folder, tmp_path):
    large = tmp_path / "large.json"
    large.write_text(" " * (results.LARGEST + 1))
    found, skipped = read_results(large, tmp_path / "absent.json")
    assert found == []
    assert skipped[str(large)] == "too large for a result"
    assert "No such file" in skipped[str(tmp_path / "absent.json")]


def test_what_is_no_file_is_skipped(tmp_path):
    os.mkfifo(tmp_path / "pipe.json")
    found, skipped = read_results(tmp_path)
    assert (found, list(skipped.values())) == ([], ["not a regular file"])


def test_a_mark_of_byte_order_does_no_harm(folder, tmp_path):
    text = record("fused-sum", comparison(eager=1.0), WHAT).read_text()
    marked = tmp_path / "MARKED.JSON"
    marked.write_text(text, encoding="utf-8-sig")
    (result,), skipped = read_results(tmp_path / "MARKED.JSON")
    assert (result.name, skipped) == ("fused-sum", {})


def claim(faster, slower, times=None):
    return Claim("name", "a claim", "a machine", faster, slower, times)


@pytest.mark.parametrize(
    ("faster", "slower", "words"),
    [
        ("XLA", "eager", "holds: XLA is 2.00x faster than eager [2.00, 2.00]"),
        ("eager", "XLA", "does not hold: eager is 2.00x slower than XLA [2.00, 2.00]"),
        ("same", "eager", "undecided: same is not clearly different from eager [1.00, 1.00]"),
        ("XLA", "graph", "cannot be judged: graph not measured"),
    ],
)
def test_a_claim_is_judged_by_its_interval(faster, slower, words):
    measured = comparison(eager=2.0, XLA=1.0, same=2.0)
    assert claim(faster, slower).judge(measured) == words


def test_the_published_ratio_is_named():
    words = claim("XLA", "eager", 3).judge(comparison(eager=2.0, XLA=1.0))
    assert words == "holds: XLA is 2.00x faster than eager [2.00, 2.00], published about 3x"


def test_a_claim_of_far_more_holds_in_part():
    words = claim("XLA", "eager", 100).judge(comparison(eager=2.0, XLA=1.0))
    assert words.startswith("holds in part: XLA is 2.00x faster")


@pytest.mark.parametrize(
    ("seconds", "words"),
    [
        (30.0, "holds, by its order alone: 300 times, one call each"),
        (0.05, "does not hold, by its order alone: 0.5 times, one call each"),
        (0.11, "undecided, by its order alone: 1.1 times, one call each"),
    ],
)
def test_single_calls_are_judged_by_their_order(folder, seconds, words):
    record("three-prompts", {"call 1": seconds, "call 2": 0.1}, WHAT)
    (result,), _ = read_results(folder)
    assert claim("call 2", "call 1").judge(result.comparison) == words


def test_published_figures_support_their_own_claims():
    published = read_published()
    assert {entry.name for entry in published} == {"generate", "three-prompts", "five-modes"}
    for entry in published:
        assert entry.source and entry.hardware and entry.claims
        for claim in entry.claims:
            if entry.seconds:
                assert entry.seconds[claim.faster][0] < entry.seconds[claim.slower][0]


def test_picture_of_results(folder):
    record("five-modes", comparison(eager=0.5, plain=0.1, **{"True": 0.4}), WHAT)
    (own,), _ = read_results(folder)
    figures = read_published("five-modes")
    assert len(figures) == 2 < len(read_published())
    ax = plot_results(own, [own, own], figures)
    assert [label.get_text() for label in ax.get_yticklabels()] == ["eager", "plain", "True"]
    legend = [text.get_text() for text in ax.get_legend().get_texts()]
    assert set(legend) == {"this machine", "other machines", "CPU machines", "Kaggle GPU"}
    assert ax.get_xscale() == "log" and ax.get_title(loc="left") == "five-modes"
    plt.close(ax.figure)


def test_picture_without_others(folder):
    record("fused-sum", comparison(eager=0.5), WHAT)
    (own,), _ = read_results(folder)
    ax = plot_results(own, title="Mine")
    assert [text.get_text() for text in ax.get_legend().get_texts()] == ["this machine"]
    plt.close(ax.figure)
