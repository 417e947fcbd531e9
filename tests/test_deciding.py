"""The sums behind a verdict, on races that were made up, and what a decision asks of a model."""

import itertools
import math
from dataclasses import replace

import numpy as np
import pytest

import xla_helpers as xh

MANY = 10**7  # calls, beside which the first ones cost nothing
pytestmark = pytest.mark.usefixtures("tf")  # a verdict names the machine and the version


def found(**otherwise):
    """A check of which every mode agrees, or what is said otherwise."""
    agrees = {mode: xh.Outcome(result=np.ones(3)) for mode in ("eager", "graph", "XLA")}
    return xh.Check("a model", agrees, **otherwise)


def race(**seconds):
    """Seconds per call of each candidate, always the same; of all but the graph, a first second."""
    labels = {label.replace("_", ", "): each for label, each in seconds.items()}
    return xh.Comparison(
        {
            label: xh.Measurement(label, each + (label != "graph"), (each,) * 15, 1)
            for label, each in labels.items()
        },
        {},
        evidence={x: xh.Evidence(graphs=1, programs=int(x != "graph")) for x in labels},
    )


def decision(races, shares=None, checks=None, calls=10_000):
    shares = shares or {shape: 1 / len(races) for shape in races}
    checks = checks or {shape: found() for shape in races}
    return xh.Decision(shares, checks, (), races, calls, min_speedup=1.05)


def test_a_gain_counts_first_calls():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)}, calls=1_000)
    assert one.gains["XLA"].value == pytest.approx((1_000 * 2e-3) / (1.0 + 1_000 * 1e-3))
    assert one.total("XLA", 1_000) == pytest.approx(2.0)
    assert one.break_even_calls("XLA") == pytest.approx(1_000)


def test_the_same_model_gets_opposite_verdicts():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)})
    assert [replace(one, calls=calls).label for calls in (1, 100_000)] == ["graph", "XLA"]
    slower = decision({"a": race(graph=1e-3, XLA=2e-3)}, calls=MANY)
    assert slower.label == "graph" and slower.break_even_calls("XLA") == math.inf


def test_shapes_count_as_often_as_they_come():
    races = {"often": race(graph=1e-3, XLA=2e-3), "seldom": race(graph=9e-3, XLA=1e-3)}
    assert decision(races, {"often": 0.99, "seldom": 0.01}, calls=MANY).label == "graph"
    assert decision(races, {"often": 0.01, "seldom": 0.99}, calls=MANY).label == "XLA"


@pytest.mark.parametrize(
    ("ratios", "label"),
    [
        ([1.10] * 15, "XLA"),
        ([1.04] * 5 + [1.10] * 10, ""),  # the low end is less than what was asked for
        ([1.04] * 10 + [1.10] * 5, "graph"),  # its middle, too
    ],
)
def test_the_low_end_of_a_gain_must_reach_what_was_asked_for(ratios, label):
    near = race(graph=1e-3, XLA=1e-3)
    near.measurements["graph"] = replace(near["graph"], samples=tuple(1e-3 * np.array(ratios)))
    one = decision({"a": near}, calls=10**9)
    assert one.label == label and one.verdict.startswith(f"{label or 'undecided'}: ")
    assert "in this process alone" in one.verdict


def test_of_equal_winners_the_first():
    both = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=1e-3)}
    assert decision(both, calls=MANY).label == "XLA"
    both = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=0.2e-3)}
    assert decision(both, calls=MANY).label == "XLA, padded"


def test_a_shape_that_was_not_raced_costs_a_first_call():
    shares = {"often": 0.6} | {f"seldom {n}": 0.004 for n in range(100)}
    some = decision({"often": race(graph=2e-3, XLA=1e-3)}, shares)
    assert some.total("XLA", 0) == pytest.approx(101) and some.label == "graph"
    assert some.break_even_calls("XLA") == pytest.approx(101_000)
    assert any("40% of the calls" in note for note in some.notes)


GOOD = race(graph=9e-3, XLA=1e-3)


@pytest.mark.parametrize(
    ("raced", "check", "reason"),
    [
        (GOOD, found(undecided="it draws"), "it draws"),
        (replace(GOOD, failures={"XLA": "no memory"}), found(), "no memory"),
        (replace(GOOD, failures={"graph": "no memory"}), found(), "no memory"),
        (replace(GOOD, evidence={"XLA": xh.Evidence(graphs=1)}), found(), "program of XLA"),
    ],
)
def test_what_nobody_should_choose_has_no_total(raced, check, reason):
    one = decision({"a": raced}, checks={"a": check}, calls=MANY)
    assert one.label == "graph" and not one.gains and reason in one.verdict
    assert one.break_even_calls("XLA") == math.inf
    with pytest.raises(KeyError, match=reason):
        one.total("XLA", 1)


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
    assert found.shape_shares == {"float64[3]": 0.9999, "float64[4]": 0.0001}


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
    assert list(found.shape_shares) == ["float32[4, 3], float32[4, 2]"]
    assert np.array_equal(before, model.get_weights()[0])
    [check] = found.checks.values()
    assert any("kernel" in name for name in check["XLA"].variables)
