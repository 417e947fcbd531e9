"""The sums behind a verdict, on findings that were made up, and what a decision asks of a model."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import xla_helpers as xh

pytestmark = pytest.mark.usefixtures("tf")


def cost(call, first=0.0, examples=20, new=1, alone=0):
    """Of a candidate whose races were of no width."""
    return xh.Cost(call, call, call, first, examples, new, alone)


def finding(costs, why=None, **otherwise):
    objections = {label: "" for label in costs if label != "graph"} | (why or {})
    return xh.Finding("here", {"float32[3]": 1.0}, costs, objections, **otherwise)


def decision(*findings, calls=10_000):
    return xh.Decision(findings, calls, 1.05, {}, (), {})


GRAPH, XLA = cost(2e-3), cost(1e-3, first=1.0)
FASTER = finding({"graph": GRAPH, "XLA": XLA})


def test_a_gain_counts_first_calls():
    one = decision(FASTER, calls=1_000)
    assert one.gains["XLA"].value == pytest.approx((1_000 * 2e-3) / (1.0 + 1_000 * 1e-3))
    assert one.total("XLA", 1_000) == pytest.approx(2.0)
    assert one.break_even_calls("XLA") == pytest.approx(1_000)


def test_the_same_model_gets_opposite_verdicts():
    assert [decision(FASTER, calls=calls).label for calls in (1, 100_000)] == ["graph", "XLA"]
    slower = decision(finding({"graph": cost(1e-3), "XLA": cost(2e-3, 1.0)}), calls=10**7)
    assert slower.label == "graph" and slower.break_even_calls("XLA") == math.inf


@pytest.mark.parametrize(("alone", "label"), [(0, "XLA"), (10, "graph")])
def test_examples_that_share_nothing_say_how_often_calls_to_come_compile(alone, label):
    """Half of the examples compiled a program of their own: so will half of all calls."""
    mine = cost(1e-3, first=0.1, examples=20, new=10, alone=alone)
    one = decision(finding({"graph": GRAPH, "XLA": mine}), calls=1_000_000)
    assert one.label == label
    assert one.total("XLA", 1_000_000) == pytest.approx(
        1_000_000 * (1e-3 + 0.1 * alone / 20) + 0.1 * (10 - alone)
    )
    assert any("50% of further calls" in note for note in one.notes) == bool(alone)


@pytest.mark.parametrize(
    ("slow", "call", "label"),
    [
        (1.10, 1.10, "XLA"),
        (1.04, 1.10, ""),  # the low end is less than what was asked for
        (1.04, 1.04, "graph"),  # its middle, too
    ],
)
def test_the_low_end_of_a_gain_must_reach_what_was_asked_for(slow, call, label):
    mine = xh.Cost(1 / call, 1 / slow, 1 / 1.2, 0.0, 20, 1, 0)
    one = decision(finding({"graph": cost(1.0), "XLA": mine}))
    assert one.label == label and one.verdict.startswith(f"{label or 'undecided'}: ")
    assert "in this process alone" in one.verdict


def test_of_equal_winners_the_first():
    both = {"graph": GRAPH, "XLA": cost(1e-3), "XLA, padded": cost(1e-3)}
    assert decision(finding(both)).label == "XLA"
    assert decision(finding(both | {"XLA, padded": cost(0.2e-3)})).label == "XLA, padded"


def processes(*gains):
    return [finding({"graph": cost(gain), "XLA": cost(1.0)}) for gain in gains]


def test_the_interval_of_six_processes_is_the_lowest_and_the_highest():
    gain = decision(*processes(1.5, 1.1, 1.3, 1.2, 1.6, 1.4)).gains["XLA"]
    assert (gain.low, gain.value, gain.high) == pytest.approx((1.1, 1.35, 1.6))


def test_one_process_below_what_was_asked_for_leaves_it_open():
    assert decision(*processes(1.5, 1.02, 1.3, 1.2, 1.6, 1.4)).label == ""
    assert decision(*processes(1.5, 1.06, 1.3, 1.2, 1.6, 1.4)).label == "XLA"


def test_fewer_than_six_processes_give_no_interval():
    few = decision(*processes(9.0, 9.0, 9.0))
    assert not few.gains["XLA"].bounded and few.label == ""


@pytest.mark.parametrize(
    "found",
    [
        finding({}, {"XLA": "ended process 1 of 6: SIGSEGV"}),
        finding({"graph": GRAPH}, {"XLA": "is refused: SIGSEGV"}),
    ],
)
def test_what_one_process_refuses_nobody_should_choose(found):
    one = decision(FASTER, found)
    assert one.label == "graph" and not one.gains and "SIGSEGV" in one.verdict
    assert one.break_even_calls("XLA") == math.inf
    with pytest.raises(KeyError, match="SIGSEGV"):
        one.total("XLA", 1)


def test_without_a_baseline_there_is_no_verdict():
    one = decision(replace(FASTER, undecided="the graph runs XLA, too, by hot"))
    assert one.label == "" and not one.gains and "hot" in one.verdict


# What is asked of a model


def test_a_model_that_xla_refuses(tf):
    found = xh.decide(lambda x: tf.strings.length(tf.strings.as_string(x)), [tf.ones([3])])
    assert found.label == "graph" and "AsString" in found.objections["XLA"]
    with pytest.raises(KeyError, match="AsString"):
        found.total("XLA", 1)


def test_keyword_arguments_are_the_model_s(tf):
    """Also those that `compare` and `decide` have options for, under the same names."""
    named = {"rounds": 2.0, "budget": 3.0, "strict": 4.0, "block": 5.0, "clock": 6.0}

    def model(x, rounds, budget, strict, block, clock):
        return x * (rounds + budget + strict + block + clock)

    found = xh.decide(model, [tf.ones([3])], kwargs=named, budget=0.1)
    [check], [race] = found.checks.values(), found.races.values()
    assert check["XLA"].result.tolist() == [20.0] * 3
    assert list(race.measurements) == ["graph", "XLA"] and not race.failures


def test_shapes_are_counted_and_an_endless_dataset_ends(tf):
    batches = itertools.chain([np.ones(4)], itertools.repeat(np.ones(3)))
    found = xh.decide(tf.tanh, batches, budget=0.1)
    assert found.findings[0].shapes == {"float64[3]": 0.9999, "float64[4]": 0.0001}


@pytest.mark.parametrize("batches", [None, "text", {"x": 1}, [], np.ones([3, 2])])
def test_batches_that_are_none(tf, batches):
    with pytest.raises((TypeError, ValueError)):
        xh.decide(tf.tanh, batches)


@pytest.mark.parametrize("name", ["calls", "min_speedup", "budget", "candidates"])
def test_options_that_make_no_sense(tf, name):
    wrong = {"graph": abs} if name == "candidates" else 0
    with pytest.raises(ValueError, match=name):
        xh.decide(tf.tanh, [tf.ones([2])], **{name: wrong})


def test_a_graph_that_fails_is_no_choice(tf):
    with pytest.raises(ValueError, match="the graph fails"):
        xh.decide(lambda x: x.no_such_thing, [tf.ones([2])])


def test_a_training_step_of_keras(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    found = xh.decide(model, [(tf.ones([4, 3]), tf.zeros([4, 2]))], step=True, budget=1)
    assert list(found.findings[0].shapes) == ["float32[4, 3], float32[4, 2]"]
    assert np.array_equal(before, model.get_weights()[0])
    [check] = found.checks.values()
    assert any("kernel" in name for name in check["XLA"].variables)
