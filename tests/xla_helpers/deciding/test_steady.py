"""Steady calls, weighted over a plan, from races in several processes."""

import math
from dataclasses import replace

import numpy as np
import pytest

from tests.xla_helpers.deciding.examples import LARGE, SMALL, checked, findings, races, run
from tests.xla_helpers.deciding.made_up import in_turn, made_up_run, of_one_shape, several, short
from xla_helpers.deciding.findings import Findings, Plan, Shape
from xla_helpers.deciding.steady import LONE, Steady


def test_without_races_nothing_is_known():
    for known in (findings(), Findings()):
        steady = Steady(known, {})
        assert (steady.labels, steady.shapes, steady.covered, steady.runs) == ((), (), 0, 0)
        assert (steady.noise, steady.itself) == (1.0, "")


def test_the_graph_is_first_and_eager_mode_is_none_of_the_labels():
    steady = Steady(findings(), races({"eager": 3e-4, "XLA": 1e-4, "graph": 2e-4}))
    assert steady.labels == ("graph", "XLA")


def test_a_label_counts_when_it_was_timed_with_every_raced_shape():
    both = {"graph": 1e-4, "XLA": 1e-4, "XLA_padded": 1e-4}
    steady = Steady(findings(), races(both, {"graph": 1e-4, "XLA": 1e-4}))
    assert steady.labels == ("graph", "XLA")
    assert Steady(findings(), races(both, both)).labels == ("graph", "XLA", "XLA, padded")


def test_a_race_without_the_graph_is_none():
    assert Steady(
        findings(), {0: several(run(graph=1.0, XLA=1.0)), 1: several(only_xla())}
    ).shapes == (0,)


def only_xla():
    both = run(graph=1.0, XLA=1.0)
    return replace(both, measurements={"XLA": both["XLA"]})


def test_calls_are_covered_as_far_as_their_shapes_were_raced():
    pair = {"graph": 1e-4, "XLA": 5e-5}
    assert Steady(findings(), races(pair, pair)).covered == pytest.approx(1.0)
    assert Steady(findings(), races(pair)).covered == pytest.approx(0.9)


def test_seconds_are_weighted_with_the_calls_of_the_raced_shapes():
    steady = Steady(findings(), races({"graph": 1e-4, "XLA": 5e-5}, {"graph": 1e-3, "XLA": 1e-3}))
    assert steady.per_call("graph").value == pytest.approx(0.9 * 1e-4 + 0.1 * 1e-3)
    assert steady.per_call("XLA").value == pytest.approx(0.9 * 5e-5 + 0.1 * 1e-3)
    assert steady.ratio("XLA").value == pytest.approx(1.9 / 1.45)
    alone = Steady(findings(), races({"graph": 1e-4, "XLA": 5e-5}))
    assert alone.per_call("graph").value == pytest.approx(1e-4)


def test_the_value_is_of_the_middle_run_and_the_ends_are_of_all():
    steady = Steady(of_one_shape(), in_turn(1.8, 2.2, 1.9))
    assert steady.ratio("XLA").value == pytest.approx(1.9)
    assert steady.ratio("XLA").low <= 1.8 and steady.ratio("XLA").high >= 2.2


def test_seconds_divide_to_the_ratio_and_lie_in_their_interval():
    shapes = races({"graph": 1e-4, "XLA": 5e-5}, {"graph": 1e-3, "XLA": 4e-4})
    steady = Steady(findings(), shapes)
    graph, own = steady.per_call("graph"), steady.per_call("XLA")
    assert graph.value / own.value == pytest.approx(steady.ratio("XLA").value)
    assert own.low <= own.value <= own.high


def test_a_machine_that_is_slower_in_one_run_does_not_move_the_ratio():
    slow = run(graph=3e-4, XLA=1.5e-4)
    steady = Steady(of_one_shape(), {0: several(run(graph=1e-4, XLA=5e-5), slow, slow)})
    assert steady.ratio("XLA").value == pytest.approx(2.0)
    assert steady.relied("XLA").low > 1.9
    assert steady.per_call("graph").high > 2.9 * steady.per_call("graph").low


def test_what_can_be_relied_on_is_no_narrower_than_what_was_measured():
    for ratios in ((1.5,), (1.5, 1.6), (1.4, 1.5, 1.6)):
        steady = Steady(of_one_shape(), in_turn(*ratios))
        measured, relied = steady.ratio("XLA"), steady.relied("XLA")
        assert relied.low <= measured.low < measured.high <= relied.high
        assert relied.value == measured.value


def test_another_process_may_be_as_far_from_the_runs_as_they_are_from_each_other():
    relied = Steady(of_one_shape(), in_turn(1.5, 2.0, 1.8)).relied("XLA")
    assert (relied.low, relied.high) == pytest.approx((1.5 * 1.5 / 2.0, 2.0 * 2.0 / 1.5))


def test_a_lone_run_may_have_been_lucky_and_several_less_so():
    low = [Steady(of_one_shape(), in_turn(*[1.5] * runs)).relied("XLA").low for runs in (1, 2, 3)]
    assert low == pytest.approx([1.5 / LONE, 1.5 / LONE ** (1 / 2), 1.5 / LONE ** (1 / 3)])


def test_a_ratio_is_not_relied_on_beyond_what_a_candidate_was_from_itself():
    for noise in (1.2, 1 / 1.2):
        steady = Steady(of_one_shape(), in_turn(1.15, 1.15, 1.15, noise=noise))
        assert (steady.noise, steady.itself) == (pytest.approx(1.2), "graph")
        assert steady.relied("XLA").low == pytest.approx(1.15 / 1.2)


def test_the_noise_is_the_worst_of_runs_and_shapes_and_counts_where_it_was():
    noisy = {"graph": 1e-4, "XLA": 5e-5, "noise": 1.3}
    steady = Steady(findings(), races({"graph": 1e-4, "XLA": 5e-5}, noisy))
    assert steady.noise == pytest.approx(1.3)
    assert steady.relied("XLA").low > 2 / 1.3**0.5  # a tenth of the calls was noisy


def test_the_noise_of_the_worst_run_counts():
    calm, noisy = run(graph=1e-4, XLA=5e-5), run(noise=1.4, graph=1e-4, XLA=5e-5)
    for runs in ((calm, noisy, calm), (noisy, calm, calm), (calm, calm, noisy)):
        steady = Steady(of_one_shape(), {0: several(*runs)})
        assert steady.noise == pytest.approx(1.4)
        assert steady.relied("XLA").low == pytest.approx(2 / 1.4)


def test_noise_is_unknown_without_a_control():
    unmeasured = replace(run(graph=1e-4, XLA=5e-5), control=None)
    assert Steady(of_one_shape(), {0: several(unmeasured)}).itself == ""


def test_too_few_rounds_have_no_interval_and_a_run_of_them_is_left_out():
    few = Steady(of_one_shape(), in_turn(1.5, rounds=5))
    assert (few.ratio("XLA").low, few.ratio("XLA").high) == (0.0, math.inf)
    assert few.ratio("XLA").value == pytest.approx(1.5)
    enough, brief = run(graph=1e-4, XLA=5e-5), short(run(graph=1e-4, XLA=2e-4), 5)
    both = Steady(of_one_shape(), {0: several(enough, brief)})
    assert both.runs == 1 and both.ratio("XLA").value == pytest.approx(2.0)


def test_a_run_in_which_a_candidate_was_not_timed_counts_for_the_others():
    three = run(graph=1e-4, XLA=5e-5, XLA_padded=4e-5)
    steady = Steady(of_one_shape(), {0: several(three, run(graph=1e-4, XLA=5e-5))})
    assert steady.labels == ("graph", "XLA", "XLA, padded")
    assert steady.ratio("XLA, padded").value == pytest.approx(2.5)


@pytest.mark.parametrize("shapes", [1, 3])
def test_on_made_up_machines_the_measured_interval_holds_the_truth(shapes):
    draw, missed = np.random.default_rng(0), 0
    plan = Plan("made up", tuple(Shape(x, 1) for x in (SMALL, LARGE, ("float32[1]",))[:shapes]))
    known = of_one_shape(plan=plan, checks=(checked(),))
    for _ in range(100):
        raced = {i: several(made_up_run(draw, 1.2, luck=0.0)) for i in range(shapes)}
        found = Steady(known, raced).ratio("XLA")
        missed += not found.low <= 1.2 <= found.high
    assert missed <= 7
