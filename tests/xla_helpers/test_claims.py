"""Claims about time, with made-up measurements: what holds, what fails, and what is left open."""

import json
import os
from itertools import permutations

import pytest

import xla_helpers as xh
from xla_helpers.ratios import Ratio


def ratio(low, high):
    return Ratio((low + high) / 2, low, high, rounds=15)


ABOVE, ACROSS, BELOW = ratio(1.1, 1.3), ratio(0.9, 1.2), ratio(0.7, 0.9)


def never():
    raise RuntimeError("nothing is measured anew")


@pytest.fixture
def notes(tmp_path, monkeypatch):
    path = tmp_path / "claims.jsonl"
    monkeypatch.setenv("XLA_CLAIMS", str(path))
    return lambda: [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]


def test_a_claim_that_holds_is_silent_and_noted(capsys, notes):
    assert xh.claim("it pays", ABOVE, above=1, again=never) == "held"
    assert xh.claim("it costs", BELOW, below=1, again=never) == "held"
    assert xh.claim("about alike", ACROSS, above=0.8, below=1.25, again=never) == "held"
    assert capsys.readouterr().out == ""
    assert [note["what"] for note in notes()] == ["it pays", "it costs", "about alike"]
    assert {note["outcome"] for note in notes()} == {"held"}


def test_what_the_interval_leaves_open_is_told_and_fails_nowhere(capsys, notes):
    assert xh.claim("it pays", ACROSS, above=1, again=never) == "undecided"
    told = "undecided: it pays: 1.05 [0.9, 1.2], median of 15\n"
    assert capsys.readouterr().out == told and notes()[0]["outcome"] == "undecided"


@pytest.mark.parametrize("second", [ABOVE, ACROSS])
def test_what_is_refuted_once_alone_is_open(second, capsys, notes):
    assert xh.claim("it pays", BELOW, above=1, again=lambda: second) == "undecided"
    assert "and again" in capsys.readouterr().out and notes()[0]["outcome"] == "undecided"


@pytest.mark.parametrize(
    ("found", "bounds", "words"),
    [
        (BELOW, {"above": 1}, "it should be above 1"),
        (ABOVE, {"below": 1}, "it should be below 1"),
        (ABOVE, {"above": 0.5, "below": 1}, "above 0.5 and below 1"),
        (ratio(0.9, 1.0), {"above": 1}, "above 1"),  # all of it is at most 1
    ],
)
def test_what_is_refuted_twice_fails_with_both_numbers(found, bounds, words, notes):
    with pytest.raises(AssertionError, match=words) as error:
        xh.claim("it pays", found, again=lambda: found, **bounds)
    assert str(error.value).count("median of 15") == 2 and notes()[0]["outcome"] == "refuted"


def test_what_is_refuted_names_the_load_where_the_system_tells_it(monkeypatch):
    monkeypatch.setattr(os, "getloadavg", lambda: (7.25, 1.0, 1.0), raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 2)
    with pytest.raises(AssertionError, match=r"above 1 \(load 7.2 on 2 processors\)$"):
        xh.claim("it pays", BELOW, above=1, again=lambda: BELOW)
    monkeypatch.delattr(os, "getloadavg")
    with pytest.raises(AssertionError, match=r"above 1$"):
        xh.claim("it pays", BELOW, above=1, again=lambda: BELOW)


@pytest.mark.parametrize("bounds", [{}, {"above": 1, "below": 1}, {"above": 2, "below": 1}])
def test_a_claim_has_a_bound(bounds):
    with pytest.raises(ValueError, match="above"):
        xh.claim("it pays", ABOVE, again=never, **bounds)


def test_a_few_values_of_each_are_held_side_by_side():
    few = xh.Ratio.of([2.0, 3.0, 2.5], [1.0, 1.25, 0.5])
    assert (few.value, few.low, few.high, few.rounds) == (2.5, 1.6, 6.0, 3)
    many = xh.Ratio.of([2.0] * 6, [1.0] * 6)
    assert (many.low, many.high, many.rounds) == (2.0, 2.0, 6)


@pytest.mark.parametrize(("number", "times"), [(2, 6), (3, 20)])
def test_a_few_values_of_equals_lie_apart_as_seldom_as_is_said(number, times):
    """Of all orders in which the same values may come."""
    values = range(1, 2 * number + 1)
    found = [xh.Ratio.of(p[:number], p[number:]).low > 1 for p in permutations(values)]
    assert sum(found) * times == len(found)


@pytest.mark.parametrize(("more", "less"), [([1.0], [2.0]), ([1, 2], [1]), ([1, 2], [0, 1])])
def test_one_value_has_no_interval(more, less):
    with pytest.raises(ValueError, match="two at least"):
        xh.Ratio.of(more, less)


def test_a_comparison_is_made_again_with_its_options(clock):
    takes = {"slow": clock.takes(3.0), "fast": clock.takes(1.0)}
    found = xh.compare(takes, rounds=7, budget=0, block=1.0, clock=clock)
    more = found.again()
    assert more is not found and more.ratio("fast").value == found.ratio("fast").value == 3
    assert more.ratio("fast").rounds == 7


def test_what_was_made_by_hand_cannot_be_made_again():
    with pytest.raises(ValueError, match="nothing to call"):
        xh.Comparison({}, {}).again()
