"""The sums behind a verdict, on races that were made up, and what stands in it in words."""

import itertools

import numpy as np
import pytest

import xla_helpers as xh
from xla_helpers.checking import Check, Outcome
from xla_helpers.deciding import Decision
from xla_helpers.evidence import Evidence

ROUNDS = 15
pytestmark = pytest.mark.usefixtures("tf")  # a verdict names the machine and the version


def found(**otherwise):
    """A check of which every mode agrees, or what is said otherwise."""
    agrees = {mode: Outcome(mode) for mode in ("eager", "graph", "XLA")}
    return Check("a model", agrees, **otherwise)


def race(once=(0.0, 1.0), **seconds):
    """Seconds per call of each candidate, always the same. once: of the first call beyond."""
    labels = {label.replace("_", ", "): each for label, each in seconds.items()}
    firsts = [*once, *[once[1]] * len(labels)]
    return xh.Comparison(
        {
            label: xh.Measurement(label, first + each, (each,) * ROUNDS, 1)
            for (label, each), first in zip(labels.items(), firsts, strict=False)
        },
        {},
        evidence={x: Evidence(graphs=1, programs=int(x != "graph")) for x in labels},
    )


def decision(races, shares=None, checks=None, calls=10_000, floor=1.05, worst=()):
    shares = shares or {shape: 1 / len(races) for shape in races}
    checks = checks or {shape: found() for shape in races}
    return Decision(shares, checks, tuple(worst), races, calls, floor)


def test_a_gain_counts_first_calls():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)}, calls=1_000)
    assert one.gains["XLA"].value == pytest.approx((1_000 * 2e-3) / (1.0 + 1_000 * 1e-3))
    assert one.total("XLA", 1_000) == pytest.approx(2.0)
    assert one.repaid("XLA") == pytest.approx(1_000)


def test_the_same_model_gets_opposite_verdicts():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)})
    assert [one.over(calls).label for calls in (1, 1_200, 100_000)] == ["graph", "", "XLA"]
    assert "More calls or a larger `budget` may decide it." in one.over(1_200).notes
    assert decision({"a": race(graph=1e-3, XLA=2e-3)}, calls=10**9).label == "graph"


def test_shapes_count_as_often_as_they_come():
    races = {"often": race(graph=1e-3, XLA=2e-3), "seldom": race(graph=9e-3, XLA=1e-3)}
    assert decision(races, {"often": 0.99, "seldom": 0.01}, calls=10**7).label == "graph"
    assert decision(races, {"often": 0.01, "seldom": 0.99}, calls=10**7).label == "XLA"


def test_a_low_end_below_the_floor_is_undecided():
    near = decision({"a": race(graph=1.1e-3, XLA=1e-3)}, calls=10**9)
    assert near.gains["XLA"].low < 1.05 < near.gains["XLA"].value and near.label == ""
    assert "in another process perhaps less than the 1.05x" in near.verdict
    assert "More calls or a larger `budget` may decide it." in near.notes


def test_less_than_the_floor_is_the_graph():
    less = decision({"a": race(graph=1.04e-3, XLA=1e-3)}, calls=10**9)
    assert less.gains["XLA"].high > 1.05 and less.label == "graph"
    assert "first calls included, less than the 1.05x that was asked for" in less.verdict


def test_of_equal_winners_the_first():
    both = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=0.99e-3)}
    assert decision(both, calls=10**7).label == "XLA"
    assert "asked for" not in decision(both, calls=10**7).verdict  # both reach it
    clear = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=0.2e-3)}
    assert decision(clear, calls=10**7).label == "XLA, padded"


@pytest.mark.parametrize(
    ("otherwise", "said"),
    [
        ({"unsupported": ("PyFunc: leave it out",)}, "XLA is refused: PyFunc: leave it out"),
        ({"undecided": "it draws"}, "XLA is no choice: Not decidable: it draws"),
    ],
)
def test_what_nobody_should_choose(otherwise, said):
    checks = {"a": found(), "b": found(**otherwise)}
    one = decision(dict.fromkeys(checks, race(graph=9e-3, XLA=1e-3)), checks=checks)
    assert one.label == "graph" and said in one.verdict


def test_what_another_mode_makes_of_a_call_is_said(tf):
    def eager_fails(x):
        assert not tf.executing_eagerly()
        return x + 1

    found = xh.decide(eager_fails, [tf.ones([3])], budget=0.1)
    assert "XLA is no choice: graph gives a result instead of an error" in found.verdict


def test_an_error_of_xla_is_no_choice(tf):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    found = xh.decide(slope, [tf.constant(3.0)], budget=0.1)
    assert "XLA is no choice: XLA gives an error instead of a result" in found.verdict


def test_a_row_in_which_no_program_ran_is_no_choice():
    unseen = race(graph=9e-3, XLA=1e-3)
    unseen.evidence["XLA"] = Evidence(graphs=1, programs=0)
    one = decision({"a": unseen}, calls=10**7)
    assert one.label == "graph" and "not seen to run a program of XLA" in one.verdict


@pytest.mark.parametrize("label", ["graph", "XLA"])
def test_what_fails_in_a_race_is_no_choice(label):
    failed = race(graph=9e-3, XLA=1e-3)
    del failed.measurements[label]
    failed.failures[label] = "no memory"
    one = decision({"a": failed}, calls=10**7)
    assert one.label == "graph" and "XLA cannot be judged: no memory" in one.verdict


def test_what_was_not_tested_is_said():
    shares = {"a": 0.6, "b": 0.4}
    some = decision({"a": race(graph=1.0, XLA=0.5)}, shares)
    assert list(some.notes) == [
        "Neither checked nor raced: b, 40% of the calls.",
        "Not tested: inputs that should fail, in `worst`.",
        "Not tested: other processes. So the interval is wider than that of a race.",
    ]
    refused = decision({}, {"a": 1.0}, checks={"a": found(unsupported=("PyFunc: leave it out",))})
    assert list(refused.notes) == ["Not tested: inputs that should fail, in `worst`."]


def test_a_shape_that_was_not_raced_costs_a_first_call():
    shares = {"often": 0.6} | {f"seldom {n}": 0.004 for n in range(100)}
    some = decision({"often": race(graph=2e-3, XLA=1e-3)}, shares)
    assert some.total("XLA", 0) == pytest.approx(101) and some.label == "graph"
    assert some.repaid("XLA") == pytest.approx(101_000)


@pytest.mark.parametrize(
    "batches", [None, "text", {"x": 1}, [], np.ones([3, 2]), itertools.repeat(np.ones(2))]
)
def test_batches_that_are_none(tf, batches):
    with pytest.raises((TypeError, ValueError), match="batches"):
        xh.decide(tf.tanh, batches)


@pytest.mark.parametrize(
    "wrong", [{"calls": 0}, {"floor": -1}, {"budget": 0}, {"candidates": {"graph": abs}}]
)
def test_options_that_make_no_sense(tf, wrong):
    with pytest.raises(ValueError, match=next(iter(wrong))):
        xh.decide(tf.tanh, [tf.ones([2])], **wrong)


def test_a_graph_that_fails_is_no_choice(tf):
    with pytest.raises(ValueError, match="the graph fails"):
        xh.decide(lambda x: x.no_such_thing, [tf.ones([2])])


# From a file of the reader's


def test_a_file_holds_model_calls_and_options(tf, tmp_path):
    (tmp_path / "numbers_of_mine.py").write_text("many = 77\n")
    text = "from numbers_of_mine import many\nimport numpy as np\n"
    text += "def make():\n    return abs, [np.ones(3)] * 3 + [np.ones(4)], {'calls': many}\n"
    (tmp_path / "mine.py").write_text(text)
    found = xh.decide(**xh.model_from(f"{tmp_path}/mine.py:make"), budget=0.5)
    assert found.calls == 77 and found.plan == {"float64[3]": 0.75, "float64[4]": 0.25}


@pytest.mark.parametrize(
    ("reference", "said"),
    [("missing.py:make", "no file"), ("mine.py:one", "must return")],
)
def test_a_file_that_does_not_say_it(tmp_path, monkeypatch, reference, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def one():\n    return abs\n")
    with pytest.raises((TypeError, ValueError), match=said):
        xh.model_from(reference)


def test_a_training_step_of_keras(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = model.get_weights()
    batch = tf.ones([4, 3]), tf.zeros([4, 2])
    found = xh.decide(model, [batch], step=True, budget=1)
    assert list(found.plan) == ["float32[4, 3], float32[4, 2]"]
    assert all(np.array_equal(a, b) for a, b in zip(before, model.get_weights(), strict=True))
    assert any("kernel" in name for check in found.checks.values() for name in check["XLA"].state)
