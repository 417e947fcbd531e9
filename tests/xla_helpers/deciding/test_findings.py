"""Findings as data: put together, written, read, asked."""

import json
import math

import pytest

from tests.xla_helpers.deciding.examples import checked, findings, first_calls
from xla_helpers.deciding.findings import (
    Findings,
    Inside,
    Raced,
    label_of_part,
    merged,
    read,
    write,
)
from xla_helpers.operations import Refusal


def test_what_is_written_is_read(tmp_path):
    refusal = Refusal("StringLower", "tokens", "my.py, line 3", "lower it before")
    known = findings(checks=(checked(refused=(refusal,)),), load=(0.5, None), peaks=None)
    write(known, tmp_path / "found.json")
    assert read(tmp_path / "found.json") == known
    assert [path.name for path in tmp_path.iterdir()] == ["found.json"]


@pytest.mark.parametrize(
    "text", ["", "[1", "3", '{"plan": 3}', '{"calls": "many"}', "[" * 10**5, "\udcff"]
)
def test_what_is_something_else_is_refused(text, tmp_path):
    (tmp_path / "found.json").write_bytes(text.encode("utf-8", "surrogateescape"))
    with pytest.raises(ValueError, match="holds no findings"):
        read(tmp_path / "found.json")


@pytest.mark.parametrize(
    "change",
    [
        {"format": "decision of xla_helpers, 0"},
        {"format": None},
        {"name": 5},
        {"plan": {"subject": "f"}},
        {"unknown": 1},
        {"isolated": "false"},
    ],
)
def test_what_a_decision_would_not_write_is_refused(change, tmp_path):
    path = tmp_path / "found.json"
    write(findings(), path)
    path.write_text(json.dumps(json.loads(path.read_text()) | change))
    with pytest.raises(ValueError, match="holds no findings"):
        read(path)


@pytest.mark.parametrize("content", [{}, [], {"name": "f"}, {"vulnerabilities": []}])
def test_json_of_others_holds_no_findings(content, tmp_path):
    (tmp_path / "findings.json").write_text(json.dumps(content))
    with pytest.raises(ValueError, match="holds no findings"):
        read(tmp_path / "findings.json")


def test_what_is_no_number_is_read_as_well(tmp_path):
    write(findings(load=(math.nan, math.inf)), tmp_path / "found.json")
    first, second = read(tmp_path / "found.json").load
    assert math.isnan(first) and second == math.inf


def test_what_would_not_end_is_not_read(tmp_path):
    (tmp_path / "found.json").symlink_to("/dev/zero")
    with pytest.raises(ValueError, match="not a regular file"):
        read(tmp_path / "found.json")


def test_lists_go_on_and_all_else_is_replaced():
    before = Findings(calls=5, raced=(Raced(0, "a"),), load=(0.1,))
    both = merged(before, Findings(raced=(Raced(1, "b"),), load=(0.1, 0.2)))
    assert [one.file for one in both.raced] == ["a", "b"]
    assert (both.calls, both.load) == (5, (0.1, 0.2))
    assert merged(both, Findings()) == both


def test_first_calls_of_a_label_take_the_place_of_those_before():
    before = Findings(first=(first_calls("graph", 0.1), first_calls("XLA", 0.1)))
    both = merged(before, Findings(first=(first_calls("XLA", 0.1, 0.2),)))
    assert both.first == (first_calls("graph", 0.1), first_calls("XLA", 0.1, 0.2))


def test_a_share_is_of_the_example_calls():
    plan = findings().plan
    assert [plan.share(i) for i in range(len(plan.shapes))] == [0.9, 0.1]


def test_asking():
    worst = checked("worst")
    known = findings(checks=(checked(), worst))
    assert known.first_of("XLA") == first_calls("XLA", 0.25, 0.2)
    assert known.first_of("eager") is None
    assert known.checks_of("worst") == (worst,)
    assert known.end_of("results").how == "finished" and known.end_of("lunch") is None


@pytest.mark.parametrize("path", ["base", "a/" * 40 + "base"])
def test_a_label_fits_into_a_result(path):
    label = label_of_part(findings(inside=Inside(path, "Dense", 0.5)))
    assert label.startswith("XLA in ") and label.endswith("base") and len(label) <= 40
    assert label_of_part(findings()) == ""
