"""The sums behind a verdict, on races that were made up, and what stands in it in words."""

import itertools
from types import SimpleNamespace

import numpy as np
import pytest

import xla_helpers as xh
from xla_helpers.deciding import Decision, Shape
from xla_helpers.evidence import Evidence

ROUNDS = 15
pytestmark = pytest.mark.usefixtures("tf")  # a verdict names the machine and the version


class Found(dict):
    """A check of which every mode agrees, or what is said otherwise."""

    unsupported = vanished = ()
    undecided = ""

    def __init__(self, **otherwise):
        super().__init__(XLA=SimpleNamespace(agrees=True), graph=SimpleNamespace(agrees=True))
        vars(self).update(otherwise)

    def against(self, mode):
        return "gives another result"


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
    plan = {shape: Shape((), share) for shape, share in shares.items()}
    checks = checks or {shape: Found() for shape in races}
    return Decision(plan, checks, tuple(worst), races, calls, floor)


def test_a_gain_counts_first_calls():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)}, calls=1_000)
    assert one.gains["XLA"].value == pytest.approx((1_000 * 2e-3) / (1.0 + 1_000 * 1e-3))
    assert one.total("XLA", 1_000) == pytest.approx(2.0)
    assert one.repaid("XLA") == pytest.approx(1_000)


def test_the_same_model_gets_opposite_verdicts():
    one = decision({"a": race(graph=2e-3, XLA=1e-3)})
    assert [one.over(calls).label for calls in (1, 1_200, 100_000)] == ["graph", "", "XLA"]
    assert "more calls, over which its first calls weigh less" in one.over(1_200).verdict
    assert decision({"a": race(graph=1e-3, XLA=2e-3)}, calls=10**9).label == "graph"


def test_shapes_count_as_often_as_they_come():
    races = {"often": race(graph=1e-3, XLA=2e-3), "seldom": race(graph=9e-3, XLA=1e-3)}
    assert decision(races, {"often": 0.99, "seldom": 0.01}, calls=10**7).label == "graph"
    assert decision(races, {"often": 0.01, "seldom": 0.99}, calls=10**7).label == "XLA"


def test_too_near_to_the_floor_is_the_graph_and_not_undecided():
    """However long it is raced, another process may have less luck."""
    near = decision({"a": race(graph=1.1e-3, XLA=1e-3)}, calls=10**9)
    assert near.gains["XLA"].low < 1.05 < near.gains["XLA"].value
    assert (
        near.label == "graph" and "in another process perhaps less than the 1.05x" in near.verdict
    )


def test_a_wide_interval_asks_for_more_time():
    wide = race(graph=2e-3, XLA=1e-3)
    samples = tuple(np.tile([5e-4, 4e-3], 8)[:ROUNDS])
    wide.measurements["XLA"] = xh.Measurement("XLA", 1e-3, samples, 1)
    assert decision({"a": wide}, calls=10**7).label == ""
    assert "more time, since its interval is wide" in decision({"a": wide}, calls=10**7).verdict


def test_of_equal_winners_the_first():
    both = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=0.99e-3)}
    assert decision(both, calls=10**7).label == "XLA"
    clear = {"a": race(graph=2e-3, XLA=1e-3, XLA_padded=0.2e-3)}
    assert decision(clear, calls=10**7).label == "XLA, padded"


@pytest.mark.parametrize(
    ("otherwise", "said"),
    [
        ({"unsupported": ("PyFunc: leave it out",)}, "XLA is refused: PyFunc: leave it out"),
        ({"undecided": "it draws"}, "XLA cannot be compared: it draws"),
    ],
)
def test_what_nobody_should_choose(otherwise, said):
    checks = {"a": Found(**otherwise), "b": Found()}
    races = dict.fromkeys(checks, race(graph=9e-3, XLA=1e-3))
    one = decision({"a": races["a"]}, checks={"a": checks["a"]})
    assert one.label == "graph" and said in one.verdict
    assert said.replace("XLA", "XLA with a") in decision(races, checks=checks).verdict


def test_what_another_mode_makes_of_a_call_is_said(tf):
    def eager_fails(x):
        assert not tf.executing_eagerly()
        return x + 1

    found = xh.decide(eager_fails, [tf.ones([3])], budget=0.1)
    assert "beside eager mode, the graph gives a result instead of an error" in found.verdict


def test_an_error_of_xla_is_told(tf):
    def slope(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            y = tf.while_loop(lambda y: y < 100.0, lambda y: (2 * y,), (x,))[0]
        return tape.gradient(y, x)

    found = xh.decide(slope, [tf.constant(3.0)], budget=0.1)
    assert "XLA fails: InvalidArgumentError: XLA compilation requires a fixed" in found.verdict


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
    whose = "the graph: " if label == "graph" else ""
    assert one.label == "graph" and f"XLA was not timed: {whose}no memory" in one.verdict


def test_what_was_not_tested_is_said():
    shares = {"a": 0.6, "b": 0.4}
    some = decision({"a": race(graph=1.0, XLA=0.5)}, shares)
    assert any(note.startswith("Neither checked nor raced: b, 40% of") for note in some.notes)
    assert any("inputs that should fail" in note for note in some.notes)
    assert any("Not tested: other processes" in note for note in some.notes)
    refused = decision({}, {"a": 1.0}, checks={"a": Found(unsupported=("PyFunc: leave it out",))})
    assert not any("other processes" in note for note in refused.notes)


def test_a_shape_that_was_not_raced_costs_a_first_call():
    shares = {"often": 0.6} | {f"seldom {n}": 0.004 for n in range(100)}
    some = decision({"often": race(graph=2e-3, XLA=1e-3)}, shares)
    assert some.total("XLA", 0) == pytest.approx(101) and some.label == "graph"
    assert some.repaid("XLA") == pytest.approx(101_000)


def test_half_of_the_calls_must_be_raced():
    shares = {"a": 0.4, "b": 0.6}
    few = decision({"a": race(graph=1e-2, XLA=1e-3)}, shares, calls=10**5)
    assert few.label == "XLA" or "less than half" in few.verdict


@pytest.mark.parametrize(
    "batches", [None, "text", {"x": 1}, [], np.ones([3, 2]), itertools.repeat(np.ones(2))]
)
def test_batches_that_are_none(tf, batches):
    with pytest.raises((TypeError, ValueError), match="batches"):
        xh.decide(tf.tanh, batches)


@pytest.mark.parametrize(
    "wrong",
    [{"calls": 0}, {"floor": -1}, {"budget": 0}, {"step": True}, {"candidates": {"graph": abs}}],
)
def test_options_that_make_no_sense(tf, wrong):
    with pytest.raises((TypeError, ValueError), match=next(iter(wrong))):
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
    found = xh.decide(f"{tmp_path}/mine.py:make", budget=0.5)
    assert found.calls == 77 and list(found.plan) == ["float64[3]", "float64[4]"]
    assert found.plan["float64[3]"].share == 0.75


@pytest.mark.parametrize(
    ("reference", "said"),
    [("missing.py:make", "no file"), ("mine.py:other", "no 'other'"), ("mine.py:one", "return")],
)
def test_a_file_that_does_not_say_it(tmp_path, monkeypatch, reference, said):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "mine.py").write_text("def one():\n    return abs\n")
    with pytest.raises((TypeError, ValueError), match=said):
        xh.decide(reference)


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
