"""What a plan costs once and in all, and when the former is repaid."""

import math
from dataclasses import replace

import pytest

from tests.xla_helpers.deciding.examples import LARGE, SMALL, findings, first_calls, races, run
from tests.xla_helpers.deciding.made_up import in_turn, of_one_shape, several
from xla_helpers.deciding.costs import SCATTER, Costs
from xla_helpers.deciding.findings import Findings, FirstCall, FirstCalls, Padded, Plan, Shape
from xla_helpers.deciding.spans import Span, unknown

TWICE = {"graph": 1e-4, "XLA": 5e-5}


def first(label, *seconds, **changes):
    """First calls with one shape after the other."""
    calls = (FirstCall(i, s, 1, 0, **changes) for i, s in enumerate(seconds))
    return FirstCalls(label, 0, tuple(calls))


def took(*seconds, **medians):
    """Races of one shape, in each of which the first call of XLA took so many seconds."""
    runs = []
    for one in seconds:
        both = run(graph=1e-4, XLA=5e-5, **medians)
        own = replace(both["XLA"], first=one)
        runs.append(replace(both, measurements=both.measurements | {"XLA": own}))
    return {0: several(*runs)}


def ends(span):
    return (span.low, span.value, span.high)


def test_without_anything_there_is_nothing():
    for known in (Findings(), findings(), findings(first=())):
        assert Costs(known, {}).labels == ()
    assert Costs(Findings(), {}).once("graph") == unknown(0.0)


def test_once_is_what_first_calls_take_beyond_steady_ones():
    costs = Costs(findings(), races(TWICE, {"graph": 4e-4, "XLA": 2e-4}))
    assert costs.once("graph").value == pytest.approx(0.05 - 1e-4 + 0.05 - 4e-4)
    assert costs.once("XLA").value == pytest.approx(0.25 - 5e-5 + 0.25 - 2e-4)


def test_first_calls_are_never_known_exactly():
    once = Costs(of_one_shape(), in_turn(2.0, 2.0, 2.0)).once("XLA")
    low, value, high = ends(once)
    assert (low, value, high) == pytest.approx((0.25 / SCATTER, 0.25, 0.25 * SCATTER), abs=1e-4)


def test_they_scatter_as_those_of_the_races_do():
    once = Costs(of_one_shape(), took(0.1, 0.2, 0.5)).once("XLA")
    assert ends(once) == pytest.approx((0.25 * 0.5, 0.25, 0.25 * 2.5), abs=1e-4)


def test_a_graph_that_is_traced_once_for_all_shapes_pays_once():
    traced_once = first("graph", 0.3, 2e-4)
    known = findings(first=(traced_once, first_calls("XLA", 0.25)))
    costs = Costs(known, races(TWICE, {"graph": 2e-4, "XLA": 1e-4}))
    assert costs.once("graph").value == pytest.approx(0.3 - 1e-4)


def test_a_first_call_costs_no_less_than_nothing():
    known = of_one_shape(first=(first("graph", 1e-5), first("XLA", 1e-5)))
    assert ends(Costs(known, in_turn(2.0)).once("graph")) == (0, 0, 0)


def test_padded_shapes_are_compiled_once_each():
    shapes = tuple(Shape((f"float32[{n}]",), 1, n // 3) for n in range(1, 6))
    plan = Plan("a model", shapes, tuple(Padded((f"float32[{n}]",), 0.2) for n in (3, 6)), "to 3")
    firsts = (first("graph", *[0.1] * 5), first("XLA", *[0.4] * 5), first("XLA, padded", 0.4, 0.5))
    pair = {"graph": 1e-4, "XLA": 5e-5, "XLA_padded": 6e-5}
    costs = Costs(findings(plan=plan, first=firsts), races(*[pair] * 5))
    assert costs.once("XLA").value == pytest.approx(5 * 0.4, abs=1e-3)
    assert costs.once("XLA, padded").value == pytest.approx(0.4 + 0.5, abs=1e-3)
    assert costs.unseen("XLA, padded") == 0


def test_without_a_process_of_its_own_the_races_say_it_and_the_graph_is_the_least():
    cheap, dear = first("graph", 0.1), first("graph", 0.7)
    for alone, value in ((cheap, 0.2), (dear, 0.7)):
        once = Costs(of_one_shape(first=(alone,)), in_turn(2.0)).once("XLA")
        assert once.value == pytest.approx(value, abs=1e-3)
        assert once.low < once.value < once.high


def test_a_first_call_that_failed_says_nothing_of_the_seconds():
    failed = first("XLA", 9.0, error="InvalidArgumentError: no")
    once = Costs(of_one_shape(first=(first("graph", 0.1), failed)), in_turn(2.0)).once("XLA")
    assert once.value == pytest.approx(0.2, abs=1e-3)


def test_first_calls_that_were_not_seen_are_reckoned_between_nothing_and_the_dearest():
    plan = Plan("a model", tuple(Shape((f"float32[{n}]",), 9 if n < 2 else 1) for n in range(4)))
    known = findings(plan=plan, first=(first("graph", 0.1, 0.1), first("XLA", 1.0, 2.0)))
    costs = Costs(known, races(TWICE, TWICE))
    assert costs.unseen("XLA") == costs.unseen("graph") == 2
    low, value, high = ends(costs.once("XLA"))
    assert value == pytest.approx(3.0 + 2 * 1.5, abs=1e-3)
    assert low == pytest.approx(3.0 / SCATTER, abs=1e-3)
    assert high == pytest.approx(SCATTER * (3.0 + 2 * 2.0), abs=1e-3)


def test_a_total_is_once_and_so_many_calls():
    costs = Costs(findings(), races(TWICE, TWICE))
    once, each = costs.once("XLA"), costs.per_call("XLA")
    for count in (0, 1, 10_000):
        found = costs.total("XLA", count)
        assert ends(found) == pytest.approx(
            (
                once.low + count * each.low,
                once.value + count * each.value,
                once.high + count * each.high,
            )
        )


def test_the_gain_is_between_the_first_calls_and_the_ratio():
    costs = Costs(findings(), races(TWICE, TWICE))
    gains = [costs.gain("XLA", calls).value for calls in (0, 100, 10_000, 10**9)]
    assert gains == sorted(gains)
    assert gains[0] == pytest.approx(0.1 / 0.5, rel=0.01)
    assert gains[-1] == pytest.approx(2.0, rel=0.01)
    total = costs.total("graph", 10_000).value / costs.total("XLA", 10_000).value
    assert gains[2] == pytest.approx(total)


def test_of_many_calls_the_gain_is_what_can_be_relied_on():
    costs = Costs(findings(), races(TWICE, TWICE))
    gain, relied = costs.gain("XLA", 1e12), costs.relied("XLA")
    assert ends(gain) == pytest.approx(ends(relied), rel=1e-4)


def test_the_ends_of_a_gain_hold_all_that_is_possible():
    costs = Costs(findings(), races(TWICE, {"graph": 4e-4, "XLA": 5e-4}))
    gain, graph, own = costs.gain("XLA", 5_000), costs.once("graph"), costs.once("XLA")
    each, times = costs.per_call("graph"), costs.relied("XLA")
    found = [
        (g + 5_000 * s) / (o + 5_000 * s / t)
        for g in (graph.low, graph.high)
        for o in (own.low, own.high)
        for s in (each.low, each.high)
        for t in (times.low, times.high)
    ]
    assert (gain.low, gain.high) == pytest.approx((min(found), max(found)))


def test_a_gain_without_rounds_enough_has_no_interval():
    gain = Costs(of_one_shape(), in_turn(2.0, rounds=5)).gain("XLA", 10_000)
    assert (gain.low, gain.high) == (0.0, math.inf) and gain.value > 1


def test_shapes_that_were_not_raced_are_charged_with_their_first_calls_and_without():
    costs = Costs(findings(), races(TWICE))
    with_all, without = costs.once("XLA").value, costs.once("XLA", [0]).value
    assert with_all == pytest.approx(2 * without, rel=0.01)
    gain = costs.gain("XLA", 9_000)
    assert (
        gain.low
        < (0.1 + 9_000e-4) / (0.5 + 9_000e-4 / 2)
        < (0.05 + 0.9) / (0.25 + 0.45)
        < gain.high
    )


def test_where_the_graph_costs_more_once_that_is_not_counted_for_sure():
    firsts = (first("graph", 0.3, 0.3), first("XLA", 0.02, 0.02))
    costs = Costs(findings(first=firsts), races(TWICE))
    least = costs._gain("XLA", 9_000, [0]).low
    assert costs.gain("XLA", 9_000).low == least < costs._gain("XLA", 9_000, [0, 1]).low


def test_it_is_repaid_when_the_totals_meet():
    costs = Costs(findings(), races(TWICE, TWICE))
    calls = costs.repaid("XLA")
    assert calls.low < calls.value < calls.high
    graph, own = costs.total("graph", calls.value), costs.total("XLA", calls.value)
    assert graph.value == pytest.approx(own.value)
    assert costs.gain("XLA", calls.value).value == pytest.approx(1.0)


def test_the_ends_of_what_repays_it_are_the_furthest_possible():
    costs = Costs(findings(), races(TWICE, TWICE))
    calls, graph, own = costs.repaid("XLA"), costs.once("graph"), costs.once("XLA")
    each, times = costs.per_call("graph"), costs.relied("XLA")
    assert calls.low == pytest.approx((own.low - graph.high) / (each.high * (1 - 1 / times.high)))
    assert calls.high == pytest.approx((own.high - graph.low) / (each.low * (1 - 1 / times.low)))


@pytest.mark.parametrize(("ratio", "noise"), [(0.5, 1.0), (1.0, 1.0), (1.02, 1.0), (1.3, 1.4)])
def test_it_is_never_repaid_where_it_is_not_faster_by_what_can_be_relied_on(ratio, noise):
    assert Costs(of_one_shape(), in_turn(*[ratio] * 3, noise=noise)).repaid("XLA") is None


def test_there_is_nothing_to_repay_where_it_costs_less_once():
    known = of_one_shape(first=(first("graph", 2.0), first("XLA", 0.1)))
    assert Costs(known, in_turn(2.0, 2.0, 2.0)).repaid("XLA") == Span(0, 0, 0)


def test_races_with_shapes_that_the_plan_does_not_have_are_not_used():
    plan = Plan("a model", (Shape(SMALL, 1),))
    costs = Costs(findings(plan=plan), races(TWICE, TWICE))
    assert costs.shapes == (0,) and costs.covered == 1
    assert Costs(findings(plan=Plan("a model", (Shape(LARGE, 3),))), {}).covered == 0
