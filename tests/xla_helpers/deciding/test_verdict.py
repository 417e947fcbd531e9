"""The choice and its three lines: what they must say, and what they must never say."""

import itertools
import re
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from tests.xla_helpers.deciding.examples import RAN, SMALL, checked, findings, races, run
from tests.xla_helpers.deciding.made_up import in_turn, made_up_run, of_one_shape, several
from xla_helpers.deciding.findings import (
    End,
    Findings,
    FirstCall,
    FirstCalls,
    Inside,
    Padded,
    Plan,
    Raced,
    Row,
    Shape,
)
from xla_helpers.deciding.verdict import judge
from xla_helpers.evidence import Evidence
from xla_helpers.operations import Refusal

PAIR = {"graph": 1e-4, "XLA": 5e-5}
FAILED = Row("XLA", "InvalidArgumentError: no", "gives an error instead of a result", False, True)
OTHER = Row("XLA", "[0.3, 0.7]", "differs by 0.2", False, False, 0.2, 0.04, "result['loss']")
SPLIT = Refusal("StringSplit", "tokens", "model.py:7", "split before")
TWO = (Shape(SMALL, 3, 0), Shape(("float32[9, 10]",), 1, 0))
PADDED = Plan("a model", TWO, (Padded(("float32[16, 10]",), 0.2),), "to multiples of 16")


def with_xla(row, **changes):
    known = checked(**changes)
    return replace(known, rows=(*known.rows[:2], row))


REFUSED = with_xla(FAILED, refused=(SPLIT,))


def first(known, raced):
    """The label and the first line."""
    choice = judge(known, raced)
    return choice.label, choice.lines[0]


# XLA


def test_xla_wins_with_its_gain_and_when_it_is_repaid():
    choice = judge(findings(), races(PAIR, {"graph": 4e-4, "XLA": 2e-4}))
    assert choice.label == "XLA"
    assert re.fullmatch(
        r"XLA: over 10,000 calls of 2 shapes 1\.\d\dx faster than the graph \[1\.\d\d, 1\.\d\d\], "
        r"first calls included; repaid after [\d,]+ calls \[[\d,]+, [\d,]+\]\.",
        choice.lines[0],
    )
    assert choice.lines[1].startswith("Measured on ") and choice.lines[2]


def test_one_shape_is_not_called_a_shape_of_several():
    assert "over 10,000,000 calls 2.00x faster" in first(of_one_shape(), in_turn(2.0, 2.0, 2.0))[1]


def test_a_graph_that_runs_xla_itself_is_called_so():
    ran = {**RAN, "graph": Evidence(graphs=1, programs=45, compiled=0)}
    label, line = first(of_one_shape(), {0: several(*[run(evidence=ran, **PAIR)] * 3)})
    assert label == "XLA"
    assert "faster than the graph (which itself runs 45 programs of XLA) [" in line


def test_where_shapes_were_not_raced_the_line_says_for_which_calls_it_is():
    label, line = first(findings(calls=100_000), races(PAIR))
    assert label == "XLA"
    assert "over the 90,000 of 100,000 calls whose shapes were raced 1." in line


# Several candidates


def padded(xla, larger, **changes):
    pair = {"graph": 1e-4, "XLA": 1e-4 / xla, "XLA_padded": 1e-4 / larger}
    return findings(plan=PADDED, calls=10**8, **changes), races(pair, pair)


def test_of_several_the_one_that_gains_most_is_chosen():
    label, line = first(*padded(1.2, 2.0))
    assert label == "XLA, padded"
    assert line.startswith("XLA after padding (to multiples of 16): over ")
    assert first(*padded(2.0, 1.2))[0] == "XLA"


def test_where_they_overlap_the_simplest_is_chosen_and_the_other_named():
    label, line = first(*padded(1.98, 2.0))
    assert label == "XLA"
    assert "as far as this can tell, XLA, padded may gain as much" in line


def test_padding_may_decide():
    assert first(*padded(0.8, 1.5))[0] == "XLA, padded"
    assert first(*padded(0.8, 0.9))[0] == "graph"
    assert first(*padded(0.8, 1.06))[0] == ""


def test_a_part_is_chosen_where_the_whole_is_refused():
    known = of_one_shape(checks=(REFUSED,), inside=Inside("encoder", "Dense", 0.5))
    label, line = first(known, races({"graph": 1e-4, "XLA in encoder": 5e-5}))
    assert label == "XLA in encoder"
    assert line.startswith("XLA in encoder alone, and the graph for the rest: over ")
    assert line.endswith("; XLA does not support StringSplit in tokens (model.py:7).")


def test_what_is_refused_is_said_where_the_part_is_undecided():
    known = of_one_shape(checks=(REFUSED,), inside=Inside("encoder", "Dense", 0.5))
    raced = [run(graph=1e-4, **{"XLA in encoder": seconds}) for seconds in (8e-5, 1.2e-4)]
    label, line = first(known, {0: several(*raced)})
    assert label == ""
    assert "; XLA does not support StringSplit in tokens (model.py:7)." in line


# The graph


def test_the_graph_is_chosen_where_xla_is_slower():
    label, line = first(of_one_shape(), in_turn(0.8, 0.8, 0.8))
    assert label == "graph"
    assert line.startswith("graph: over 10,000,000 calls XLA is 1.25x slower than the graph [1.2")
    assert "asked for" not in line and "repaid" not in line


def test_the_graph_is_chosen_where_xla_gains_too_little():
    label, line = first(of_one_shape(floor=1.5), in_turn(1.2, 1.2, 1.2))
    assert label == "graph"
    assert "XLA is 1.20x faster than the graph [" in line
    assert line.endswith("first calls included, less than the 1.5x that was asked for.")


def test_the_graph_is_chosen_where_xla_is_not_repaid_within_the_plan():
    label, line = first(of_one_shape(calls=100), in_turn(2.0, 2.0, 2.0))
    assert label == "graph" and "XLA is 4." in line and "x slower than the graph [" in line
    assert re.search(r"though per call it is faster, repaid after [\d,]+ calls \[[\d,]+, ", line)


def test_what_is_no_faster_per_call_is_not_called_so_where_less_was_asked_for():
    label, line = first(of_one_shape(calls=100, floor=0.9), in_turn(0.97, 0.97, 0.97))
    assert label == "graph" and "though per call" not in line
    line = first(of_one_shape(calls=20_000, floor=0.9), in_turn(0.97, 0.97, 0.97))[1]
    assert "not clearly faster" not in line.partition("To decide it")[2]


def test_the_graph_is_chosen_where_xla_refuses_it():
    label, line = first(of_one_shape(checks=(REFUSED,)), races({"graph": 1e-4}))
    assert (label, line) == (
        "graph",
        "graph: XLA does not support StringSplit in tokens (model.py:7); "
        "no layer was compiled alone.",
    )
    unsearched = of_one_shape(checks=(REFUSED,), ends=())
    assert first(unsearched, {})[1].endswith("(model.py:7).")


def test_a_refusal_is_said_once_for_all_candidates():
    known = findings(plan=PADDED, checks=(REFUSED,), ends=())
    assert first(known, {})[1].count("StringSplit") == 1
    assert first(findings(plan=PADDED), {})[1] == "Undecided: XLA was not timed."


def test_the_graph_is_chosen_where_xla_does_not_come_to_an_end():
    end = End("first calls, XLA", "time", "", 41.0, None, 40.0)
    label, line = first(of_one_shape(checks=(), ends=(end,)), races({"graph": 1e-4}))
    assert label == "graph"
    assert line == "graph: XLA did not end its first calls within the 40 s that it had."


def test_the_graph_is_chosen_where_xla_gives_another_result_however_fast_it_is():
    label, line = first(of_one_shape(checks=(with_xla(OTHER),)), in_turn(5.0, 5.0, 5.0))
    assert label == "graph"
    assert line == (
        "graph: XLA gives other results in result['loss'], by 0.2 (relative), 0.04 (absolute), "
        "allowed 0.0001."
    )


# Undecided


def test_an_interval_on_both_sides_of_the_floor_decides_nothing():
    label, line = first(of_one_shape(), in_turn(1.05, 1.06, 1.07))
    assert label == ""
    assert line.startswith(
        "Undecided: over 10,000,000 calls XLA is 1.06x faster than the graph [1.0"
    )
    assert "where at least 1.05x was asked for." in line


@pytest.mark.parametrize(
    ("changes", "raced", "said"),
    [
        ({"isolated": False}, in_turn(1.05), "processes of its own"),
        ({}, in_turn(1.05), "a larger budget, for races in 3 processes"),
        ({"load": (1.5, 0.0)}, in_turn(1.05, 1.05, 1.05), "To decide it: an idle machine."),
        ({}, in_turn(1.3, 1.3, 1.3, noise=1.4), "To decide it: an idle machine."),
        ({"calls": 4300}, in_turn(2.0, 2.0, 2.0), "To decide it: more calls (repaid after "),
    ],
)
def test_the_line_says_what_would_decide_it(changes, raced, said):
    label, line = first(of_one_shape(**changes), raced)
    assert label == "" and said in line


def test_where_nothing_is_known_that_would_decide_it_nothing_is_promised():
    assert "To decide it" not in first(of_one_shape(), in_turn(1.05, 1.05, 1.05))[1]


def test_a_winner_that_is_no_further_from_the_graph_than_the_graph_from_itself_is_none():
    assert first(of_one_shape(), in_turn(1.3, 1.3, 1.3, noise=1.31))[0] == ""
    assert first(of_one_shape(), in_turn(1.3, 1.3, 1.3, noise=1 / 1.31))[0] == ""
    assert first(of_one_shape(), in_turn(1 / 1.3, 1 / 1.3, 1 / 1.3, noise=1.5))[0] == ""


def test_of_less_than_half_of_the_calls_nothing_is_concluded():
    label, line = first(findings(), {1: in_turn(5.0, 5.0, 5.0)[0]})
    assert label == "" and "no more than 1,000 of 10,000 calls" in line


def test_a_graph_that_fails_leaves_nothing_to_compare_with():
    rows = tuple(replace(FAILED, mode=mode, agrees=True) for mode in ("eager", "graph", "XLA"))
    label, line = first(of_one_shape(checks=(checked(rows=rows),)), {})
    assert label == ""
    assert line.startswith("Undecided: the graph fails with float32[16, 10]: InvalidArgument")


def test_a_graph_that_was_stopped_needs_a_larger_budget():
    late = End("first calls, graph", "time", limit=8.0)
    label, line = first(of_one_shape(ends=(late,)), {})
    assert label == ""
    assert line.endswith("within the 8 s that it had. To decide it: a larger budget.")


def test_races_for_which_there_was_no_time_need_a_larger_budget():
    late = End("race 1", "left out", "there was no time")
    line = first(of_one_shape(raced=(), ends=(late,)), {})[1]
    assert line.endswith("(there was no time). To decide it: a larger budget.")
    line = first(findings(calls=10**6), {1: races(PAIR)[0]})[1]
    assert line.endswith("of 1,000,000 calls. To decide it: a larger budget.")
    failed = Raced(0, "", {"graph": "OSError: no"})
    assert first(of_one_shape(raced=(failed,)), {})[1].endswith("taken out of a race: OSError: no.")


def test_a_row_that_is_not_what_it_is_called_decides_nothing():
    no_xla = {**RAN, "XLA": Evidence(graphs=1, programs=0, compiled=0)}
    label, line = first(of_one_shape(), {0: several(run(evidence=no_xla, **PAIR))})
    assert (label, line) == ("", "Undecided: XLA ran no compiled program, but 1 graph.")
    nothing = {**RAN, "graph": Evidence(programs=0, compiled=0)}
    label, line = first(of_one_shape(), {0: several(run(evidence=nothing, **PAIR))})
    assert label == "" and "ran nothing of TensorFlow" in line


def test_what_was_not_finished_decides_nothing():
    choice = judge(findings(unfinished=True), races(PAIR, PAIR))
    assert (choice.label, choice.lines[0]) == ("", "Undecided: not finished.")
    assert judge(Findings(), {}).lines[0] == "Undecided: it was not called."
    assert judge(findings(), {}).lines[0] == "Undecided: XLA was not timed."


def test_every_candidate_has_its_reason():
    known, raced = padded(0.8, 1.5)
    own, larger = judge(known, raced).reasons
    assert own.startswith("XLA is 1.25x slower than the graph [") and own.endswith(
        "], first calls included."
    )
    assert larger.startswith("XLA, padded is 1.50x faster than the graph [")


# Whatever is known, the lines are true


CHECKS = {
    "none": (),
    "same": (checked(), checked(number=1)),
    "refused": (REFUSED,),
    "other": (with_xla(OTHER),),
    "drawn": (with_xla(OTHER, decidable=False, draws=("RandomUniform",)),),
}
RACES = {
    "none": {},
    "fast": races(PAIR, PAIR),
    "slow": races({"graph": 1e-4, "XLA": 2e-4}, {"graph": 1e-4, "XLA": 2e-4}, runs=1),
    "one": races(PAIR),
    "rare": {1: in_turn(2.0)[0]},
    "brief": in_turn(2.0, rounds=3),
    "once": in_turn(2.0, rounds=1),
    "graph": races({"graph": 1e-4}, {"graph": 1e-4}),
    "eager": races({"eager": 1e-3, "graph": 1e-4}),
    "padded": races({"graph": 1e-4, "XLA_padded": 5e-5}, {"graph": 1e-4, "XLA_padded": 5e-5}),
    "inside": races({"graph": 1e-4, "XLA in encoder": 5e-5}),
    "equal": races({"graph": 1e-4, "XLA": 1e-4}, {"graph": 1e-4, "XLA": 1e-4}),
}
DIED = End("first calls, XLA", "time")
LATE = (End("first calls, XLA", "left out"), End("race 1", "killed", "signal 9"))
MORE = {
    "plain": {},
    "padded": {"plan": PADDED},
    "inside": {"inside": Inside("encoder", "Dense", 0.5)},
    "here": {"isolated": False, "load": ()},
    "few": {"calls": 1},
    "no first": {"first": ()},
    "late": {"first": (), "ends": LATE},
    "unfinished": {"unfinished": True},
    "no plan": {"plan": None},
    "died": {"ends": (DIED,)},
    "raised": {"first": (FirstCalls("XLA", 0, (FirstCall(0, 0.1, error="no"),)),)},
    "graph died": {"ends": (End("first calls, graph", "memory"),)},
    "failed": {"raced": (Raced(0, "", {"XLA": "no"}),)},
    "both failed": {"raced": (Raced(0, "", {"XLA": "no", "graph": "no"}),)},
}
WORDS = ("the same result", "three modes", "eager mode is", r"\binf\b", r"\bnan\b", "None")
NEVER = re.compile("|".join([*WORDS, "0 ?%", r"\{", r"\}", r"\.\.", ";;"]))
RATIO = re.compile(r"\d(\.\d+)?x (faster|slower) than the graph(, which [^\[]*)? (?!\[)")


@pytest.mark.parametrize("raced", RACES)
def test_whatever_is_known_the_lines_are_three_whole_sentences(raced):
    for checks, more in itertools.product(CHECKS, MORE):
        choice = judge(findings(**{"checks": CHECKS[checks]} | MORE[more]), RACES[raced])
        where = (checks, more, choice.lines)
        assert len(choice.lines) == 3, where
        for line in (*choice.lines, *choice.reasons):
            assert line.endswith(".") and "\n" not in line and not NEVER.search(line), where
        head = choice.lines[0].partition(":")[0]
        assert head == "Undecided" if not choice.label else head.startswith(choice.label[:3]), where
        _is_sound(choice, checks, raced, more, where)


def _is_sound(choice, checks, raced, more, where):
    """XLA wins only where it could be used and was timed; nothing wins without a graph."""
    if choice.label:
        assert more not in ("unfinished", "no plan", "graph died"), where
    if choice.label == "XLA":
        assert checks not in ("refused", "other"), where
        assert more not in ("died", "raised", "failed", "few") and raced in ("fast", "one"), where
    if choice.label.startswith("XLA"):
        assert re.search(r" \d\.\d\dx faster than the graph \[\d\.\d\d, \d", choice.lines[0]), where
    if choice.label == "graph" and checks in ("none", "same", "drawn"):
        timed = raced in ("slow", "equal") or (more == "few" and raced in ("fast", "one"))
        assert timed or more in ("died", "raised", "failed"), where


# Made-up machines


@pytest.mark.parametrize("times", [0.8, 1.0, 1.04, 1.06, 1.1, 1.3])
def test_on_made_up_machines_the_choice_is_never_the_wrong_one(times):
    """Three processes of 15 rounds, each of which is lucky or unlucky by two in a hundred."""
    draw, known, found = np.random.default_rng(0), of_one_shape(), Counter()
    for _ in range(30):
        raced = {0: several(*(made_up_run(draw, times, luck=0.02) for _ in range(3)))}
        found[judge(known, raced).label] += 1
    wrong = "graph" if times > known.floor else "XLA"
    assert found[wrong] == 0
    assert found["graph" if times < 1 else "XLA"] == 30 or 0.8 < times < 1.3
