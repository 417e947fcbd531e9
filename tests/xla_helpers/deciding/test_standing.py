"""How candidates stand: who wins at which border, who is out, and what is not known."""

from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import RAN, SMALL, checked, findings, races, run
from tests.xla_helpers.deciding.made_up import in_turn, of_one_shape, several
from xla_helpers.deciding.costs import Costs
from xla_helpers.deciding.findings import (
    End,
    FirstCall,
    FirstCalls,
    Inside,
    Padded,
    Plan,
    Raced,
    Row,
    Shape,
)
from xla_helpers.deciding.spans import Span
from xla_helpers.deciding.standing import (
    _how,
    candidates,
    covered_calls,
    graph_fails,
    nothing_ran,
    runs_inside,
    standings,
)
from xla_helpers.evidence import Evidence
from xla_helpers.operations import Refusal

ENDED = End("first calls, XLA", "finished")
FAILED = Row("XLA", "InvalidArgumentError: no", "gives an error instead of a result", False, True)
OTHER = Row("XLA", "[0.3, 0.7]", "differs by 0.2", False, False, 0.2, 0.04, "result['loss']")
SPLIT = Refusal("StringSplit", "tokens", "model.py:7", "split before")
PADDED = Plan(
    "a model", (Shape(SMALL, 1, 0), Shape(("float32[9, 10]",), 1, 0)), (Padded(SMALL, 0.2),)
)


def stand(known=None, raced=None):
    """Label to how it stands."""
    known = known or of_one_shape()
    raced = in_turn(2.0, 2.0, 2.0) if raced is None else raced
    return {one.label: one for one in standings(known, raced, Costs(known, raced))}


def with_xla(row, **changes):
    """A check in which XLA made this of the call."""
    known = checked(**changes)
    return replace(known, rows=(*known.rows[:2], row))


@pytest.mark.parametrize(
    ("low", "high", "floor", "how"),
    [
        (1.05, 1.2, 1.05, "wins"),
        (1.0499, 1.2, 1.05, "open"),
        (1.0, 1.05, 1.05, "loses"),
        (1.0, 1.0501, 1.05, "open"),
        (0.5, 0.7, 1.05, "loses"),
        (1.002, 1.02, 1.0, "open"),  # shown as 1.00: not clearly faster
        (1.01, 1.02, 1.0, "wins"),
        (0.97, 1.02, 0.95, "wins"),
    ],
)
def test_who_wins_at_the_border(low, high, floor, how):
    assert _how(Span(low, (low + high) / 2, high), floor) == how


def test_a_candidate_stands_by_its_gain():
    assert stand()["XLA"].how == "wins"
    assert stand(raced=in_turn(0.8, 0.8, 0.8))["XLA"].how == "loses"
    assert stand(raced=in_turn(1.06, 1.06, 1.06))["XLA"].how == "open"
    why = stand()["XLA"].why
    assert why.startswith("is 2.00x faster than the graph [")
    assert why.endswith("], first calls included")


def test_a_plan_of_few_calls_decides_otherwise():
    assert stand(of_one_shape(calls=10))["XLA"].how == "loses"


def test_the_floor_decides_with_the_gain():
    assert stand(of_one_shape(floor=2.5))["XLA"].how == "loses"
    assert stand(of_one_shape(floor=2.0))["XLA"].how == "open"


def test_a_row_that_differs_from_itself_wins_nothing():
    assert stand(raced=in_turn(1.3, 1.3, 1.3))["XLA"].how == "wins"
    assert stand(raced=in_turn(1.3, 1.3, 1.3, noise=1.4))["XLA"].how == "open"


def test_runs_that_contradict_each_other_are_open():
    assert stand(raced=in_turn(1.3, 0.9, 1.2))["XLA"].how == "open"


def test_candidates_are_those_that_were_asked_for_the_simplest_first():
    inside = Inside("encoder", "Dense", 0.5)
    known = findings(plan=PADDED, inside=inside)
    assert candidates(known, Costs(known, {})) == ["XLA", "XLA, padded", "XLA in encoder"]
    one = replace(PADDED, shapes=PADDED.shapes[:1])
    assert candidates(findings(plan=one), Costs(findings(plan=one), {})) == ["XLA"]
    assert candidates(findings(), Costs(findings(), {})) == ["XLA"]


def test_what_xla_refuses_is_out_also_after_padding():
    refused = with_xla(FAILED, refused=(SPLIT,))
    found = stand(findings(plan=PADDED, checks=(refused,)), {})
    assert {one.how for one in found.values()} == {"out"}
    places = "does not support StringSplit in tokens (model.py:7)"
    assert found["XLA"].why == f"{places} with float32[16, 10]"
    assert stand(of_one_shape(checks=(refused,)), {})["XLA"].why == places


def test_a_refusal_without_an_error_of_xla_is_none():
    assert stand(of_one_shape(checks=(checked(refused=(SPLIT,)),)))["XLA"].how == "wins"


def test_an_error_of_xla_alone_is_out():
    found = stand(of_one_shape(checks=(with_xla(FAILED),)))["XLA"]
    assert (found.how, found.why) == (
        "out",
        "fails with float32[16, 10]: InvalidArgumentError: no",
    )


def test_an_error_in_every_mode_is_none_of_xla():
    rows = tuple(replace(FAILED, mode=mode, agrees=True) for mode in ("eager", "graph", "XLA"))
    known = of_one_shape(checks=(checked(rows=rows),))
    assert stand(known)["XLA"].how != "out"
    assert graph_fails(known) == "the graph fails with float32[16, 10]: InvalidArgumentError: no"


def test_an_error_of_a_first_call_is_out():
    calls = FirstCalls("XLA", 0, (FirstCall(0, 0.1, error="UnimplementedError: no"),))
    found = stand(of_one_shape(first=(calls,), checks=()))["XLA"]
    assert (found.how, found.why) == ("out", "fails with float32[16, 10]: UnimplementedError: no")


@pytest.mark.parametrize(
    ("end", "why"),
    [
        (
            replace(ENDED, how="time", limit=40.0),
            "did not end its first calls within the 40 s that it had",
        ),
        (replace(ENDED, how="time"), "did not end its first calls within the time that it had"),
        (
            replace(ENDED, how="memory", said="more than 4 GB"),
            "was stopped in its first calls, because it held too much memory",
        ),
        (
            replace(ENDED, how="killed", said="signal 6."),
            "died in its first calls (signal 6)",
        ),
    ],
)
def test_a_process_that_died_is_out(end, why):
    found = stand(of_one_shape(ends=(end,)))["XLA"]
    assert (found.how, found.why) == ("out", why)


@pytest.mark.parametrize("how", ["failed", "left out"])
def test_first_calls_that_were_not_made_leave_it_unknown(how):
    found = stand(
        of_one_shape(ends=(replace(ENDED, how=how, said="why."),)), races({"graph": 1e-4})
    )["XLA"]
    assert found.how == "unknown"
    assert found.why.startswith("was not timed; first calls, XLA ") and "(why)" in found.why


def test_other_results_are_out_with_the_place_and_by_how_much():
    found = stand(of_one_shape(checks=(with_xla(OTHER),)))["XLA"]
    assert (found.how, found.why) == (
        "out",
        "gives other results in result['loss'], by 0.2 (relative), 0.04 (absolute), allowed 0.0001",
    )
    assert (
        stand(of_one_shape(checks=(checked(), with_xla(OTHER, of="gradients"))))["XLA"].how == "out"
    )


def test_other_results_of_one_shape_are_not_said_of_all():
    second = with_xla(OTHER, number=1, arguments=("float32[64, 10]",))
    why = stand(findings(checks=(checked(), second)), {})["XLA"].why
    assert why.startswith("gives other results in result['loss'] with float32[64, 10], by 0.2 ")


def test_another_shape_is_said_in_words():
    shape = Row("XLA", "[0.3]", "differs: its result has shape (1,), eager has (2,)", False)
    found = stand(of_one_shape(checks=(with_xla(shape),)))["XLA"]
    assert found.why == "gives other results (differs: its result has shape (1,), eager has (2,))"


@pytest.mark.parametrize(
    "check",
    [
        with_xla(OTHER, decidable=False),
        with_xla(OTHER, of="worst"),
        replace(
            with_xla(OTHER),
            rows=(checked().rows[0], replace(checked().rows[1], agrees=False), OTHER),
        ),
    ],
    ids=["random draws", "hostile input", "the graph differs from eager mode too"],
)
def test_what_does_not_set_xla_apart_from_the_graph_rules_nothing_out(check):
    assert stand(of_one_shape(checks=(check,)))["XLA"].how == "wins"


def test_padding_stands_by_checks_of_its_own():
    pair = {"graph": 1e-4, "XLA": 9e-5, "XLA_padded": 5e-5}
    own = checked("padding", rows=(checked()["graph"], replace(OTHER, mode="XLA, padded")))
    known = findings(plan=PADDED, calls=10**8, checks=(checked(), own))
    found = stand(known, races(pair, pair))
    assert (found["XLA"].how, found["XLA, padded"].how) == ("wins", "out")
    good = replace(own, rows=(own.rows[0], replace(checked()["XLA"], mode="XLA, padded")))
    known = findings(plan=PADDED, calls=10**8, checks=(with_xla(OTHER), good))
    found = stand(known, races(pair, pair))
    assert (found["XLA"].how, found["XLA, padded"].how) == ("out", "wins")


def test_what_failed_in_a_race_is_out_unless_the_graph_failed_too():
    raced = Raced(0, "decide-0.json", {"XLA": "its result differs from that of 'graph'"})
    found = stand(of_one_shape(raced=(raced,)))["XLA"]
    assert (found.how, found.why) == (
        "out",
        "was taken out of a race: its result differs from that of 'graph'",
    )
    both = replace(raced, failures={**raced.failures, "graph": "its result differs from 'eager'"})
    assert stand(of_one_shape(raced=(both,)))["XLA"].how == "wins"


def test_other_numbers_in_a_race_rule_nothing_out_where_they_are_drawn_anew():
    raced = Raced(0, "decide-0.json", {"XLA": "its result differs from that of 'graph'"})
    drawn = replace(checked(), decidable=False)
    alone = races({"graph": 1e-4})
    found = stand(of_one_shape(raced=(raced,), checks=(drawn,)), alone)["XLA"]
    assert (found.how, found.why) == (
        "unknown",
        "was not timed at every shape at which the graph was",
    )


def test_a_row_that_ran_no_program_is_unknown():
    no_xla = {**RAN, "XLA": Evidence(graphs=1, programs=0, compiled=0)}
    raced = {0: several(run(graph=1e-4, XLA=5e-5), run(evidence=no_xla, graph=1e-4, XLA=5e-5))}
    found = stand(raced=raced)["XLA"]
    assert (found.how, found.why) == ("unknown", "ran no compiled program, but 1 graph")


def test_a_row_that_ran_nothing_is_called_so():
    nothing = {**RAN, "XLA": Evidence(programs=0, compiled=0)}
    raced = {0: several(run(evidence=nothing, graph=1e-4, XLA=5e-5))}
    found = stand(raced=raced)["XLA"]
    assert (found.how, found.why) == ("unknown", "ran nothing of TensorFlow")


def test_where_nothing_could_be_seen_a_row_is_believed():
    unseen = {x: Evidence() for x in RAN}
    assert (
        stand(raced={0: several(run(evidence=unseen, graph=1e-4, XLA=5e-5))})["XLA"].how == "wins"
    )


def test_shapes_of_less_than_half_of_the_calls_say_too_little():
    pair, known = {"graph": 1e-4, "XLA": 5e-5}, findings(calls=100_000)
    assert stand(known, {0: races(pair)[0]})["XLA"].how == "wins"
    found = stand(known, {1: races(pair)[0]})["XLA"]
    assert (found.how, found.why) == (
        "unknown",
        "was timed with the shapes of no more than 10,000 of 100,000 calls",
    )


def test_what_was_not_timed_is_unknown_and_the_line_says_why():
    late = End("race 1", "left out", "there was no time")
    found = stand(findings(ends=(ENDED, late, replace(late, part="race 2"))), {})["XLA"]
    assert (found.how, found.why) == (
        "unknown",
        "was not timed; race 1 was left out (there was no time)",
    )
    graph = Raced(0, "", {"graph": "OSError: no"})
    found = stand(findings(raced=(graph,)), {})["XLA"]
    assert found.why == "was not timed; the graph was taken out of a race: OSError: no"
    some = races({"graph": 1e-4, "XLA": 5e-5}, {"graph": 1e-4})
    assert (
        stand(findings(), some)["XLA"].why == "was not timed at every shape at which the graph was"
    )


def test_what_nobody_tried_is_not_called_untimed():
    late = replace(ENDED, how="time")
    known = findings(plan=PADDED, ends=(End("first calls, graph", "finished"), late))
    raced = races({"graph": 1e-4}, {"graph": 1e-4})
    assert stand(known, raced)["XLA, padded"].why == (
        "was not tried, because XLA without padding did not get through its first calls"
    )
    for ends in (known.ends[:1], (*known.ends[:1], replace(ENDED, how="left out"))):
        assert stand(replace(known, ends=ends), raced)["XLA, padded"].why == (
            "was not tried, because XLA without padding was not"
        )
    ran = replace(known, ends=(*known.ends[:1], ENDED))
    assert stand(ran, raced)["XLA, padded"].why.startswith("was not timed")


def test_a_part_is_not_out_because_the_whole_is():
    inside = Inside("encoder", "Dense", 0.5)
    known = of_one_shape(checks=(with_xla(FAILED, refused=(SPLIT,)),), inside=inside)
    raced = races({"graph": 1e-4, "XLA in encoder": 5e-5})
    found = stand(known, raced)
    assert (found["XLA"].how, found["XLA in encoder"].how) == ("out", "wins")


@pytest.mark.parametrize("how", ["time", "memory", "killed"])
def test_the_graph_may_die_too(how):
    known = of_one_shape(checks=(), ends=(End("first calls, graph", how),))
    assert graph_fails(known).startswith("the graph ")
    assert graph_fails(of_one_shape()) == ""


def test_a_first_call_of_the_graph_that_fails_is_said():
    calls = FirstCalls("graph", 0, (FirstCall(1, 0.1, error="ValueError: no"),))
    why = graph_fails(findings(first=(calls,), checks=()))
    assert why == "the graph fails with float32[64, 10]: ValueError: no"


def test_what_the_graph_ran_is_known():
    assert runs_inside(in_turn(2.0)) == 0 and not nothing_ran(in_turn(2.0))
    programs = {**RAN, "graph": Evidence(graphs=1, programs=45, compiled=0)}
    assert runs_inside({0: several(run(evidence=programs, graph=1.0, XLA=1.0))}) == 45
    nothing = {**RAN, "graph": Evidence(programs=0, compiled=0)}
    assert nothing_ran({0: several(run(evidence=nothing, graph=1.0, XLA=1.0))})


def test_calls_are_counted_by_their_shapes():
    pair = {"graph": 1e-4, "XLA": 5e-5}
    assert covered_calls(findings(), Costs(findings(), races(pair, pair))) == 10_000
    assert covered_calls(findings(), Costs(findings(), races(pair))) == 9_000
