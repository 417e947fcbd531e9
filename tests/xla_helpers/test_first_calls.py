"""What is left out of a comparison because rounding moves it, and what is not."""

import math

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_helpers.calls import Call
from xla_helpers.differences import leaves
from xla_helpers.equality import judge
from xla_helpers.first_calls import call_each

BRIEF = {"rounds": 1, "budget": 0, "block": 1e-9, "strict": False}
X = np.float32([1.1, 1.2])


def power(x):
    """Rounding moves it by about 300 times the last bit."""
    return {"a": x**300, "b": x}


def waves(x):
    import tensorflow as tf

    return {"a": tf.sin(1e4 * x), "b": x}


def quotient(x):
    """Of two numbers that are nearly equal."""
    return {"a": 1.0 / (x - 1.0999), "b": x}


@pytest.mark.parametrize(
    ("fn", "factor"), [(power, 2.0), (power, 1.01), (waves, 1.5), (quotient, 1.5)]
)
def test_a_difference_that_rounding_does_not_explain_is_one(tf, fn, factor):
    def wrong(x):
        return fn(x) | {"a": factor * fn(x)["a"]}

    def by_mode(x):
        return fn(x) if tf.executing_eagerly() else wrong(x)

    modes = {"right": tf.function(fn), "wrong": tf.function(wrong)}
    found = xh.compare(modes, (tf.constant(X),), **BRIEF)
    assert "result['a']" in found.failures["wrong"] and not found.sensitive
    check = xh.check(by_mode, (X,))
    assert list(check.differing) == ["graph", "XLA"] and not check.agrees


@pytest.mark.parametrize("share", [2.0, 5.0, 9.0])
def test_one_that_it_explains_is_not_compared_and_both_sizes_are_told(tf, monkeypatch, share):
    moved = 1e-3
    turns_by_rounding(monkeypatch, {0: moved, 1: moved, 2: moved})

    def other(x):
        return {"a": x * (1 + share * moved), "b": x}

    modes = {"graph": tf.function(lambda x: {"a": x, "b": x}), "other": tf.function(other)}
    found = xh.compare(modes, (tf.ones([3]),), **BRIEF)
    [array] = found.sensitive
    assert array.place == "result['a']" and not found.failures
    assert (array.difference, array.perturbed) == pytest.approx((share * moved, moved), 1e-2)
    told = f"result['a'] (differs by {array.difference:.2g}, rounding moves {array.perturbed:.2g})"
    assert told in str(found) and "without those not compared" in str(found)


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_rounding_is_tried_three_times(tf, monkeypatch, seed):
    """Because one draw of signs may leave an array where it is."""
    turns_by_rounding(monkeypatch, {seed: 1e-2})
    modes = {"graph": tf.function(same), "other": tf.function(lambda x: same(x) | {"a": 1.05 * x})}
    found = xh.compare(modes, (tf.ones([3]),), **BRIEF)
    assert [array.place for array in found.sensitive] == ["result['a']"]


def same(x):
    return {"a": x, "b": x}


def turns_by_rounding(monkeypatch, moved):
    """Let rounding move `a` alone, with these seeds by so much."""

    def perturbed(self, seed):
        changed = {"a": self.args[0] * (1 + moved.get(seed, 0.0)), "b": self.args[0]}
        return lambda: changed

    monkeypatch.setattr(Call, "perturbed", perturbed)


def test_what_was_left_out_is_not_called_the_same(tf):
    def unstable(x):
        """Rounding alone makes of each entry of `a` another one."""
        a = (x * 1e7 + (0.0 if tf.executing_eagerly() else 0.3)) % 1.0
        return {"a": a, "b": x, "c": 2.0 * x}

    check = xh.check(unstable, (np.random.default_rng(0).normal(size=50).astype("float32"),))
    assert [array.place for array in check.sensitive] == ["result['a']"]
    assert not check.agrees and not check.differing and not check.inconclusive
    assert "the same in all modes" in check.summary
    assert check.summary.startswith("not compared in part")
    assert check.against("graph").startswith("not compared in part") and "moves" in str(check)


# Models


def rows(*shape):
    return np.random.default_rng(0).normal(size=shape).astype("float32")


def training(tf, optimizer):
    layers = tf.keras.layers
    parts = [layers.Conv2D(4, 3), layers.BatchNormalization(), layers.Flatten(), layers.Dense(3)]
    model = tf.keras.Sequential([tf.keras.Input([8, 8, 1]), *parts])
    model.compile(optimizer, tf.keras.losses.SparseCategoricalCrossentropy(from_logits=True))
    return model, [(rows(16, 8, 8, 1), np.arange(16) % 3)], {"step": True}


@pytest.mark.parametrize("optimizer", ["adam", "lion"])
def test_what_rounding_alone_moves_is_named_and_not_compared(tf, optimizer):
    tf.keras.utils.set_random_seed(1)
    model, batches, options = training(tf, optimizer)
    decision = xd.decide(model, batches, **options, budget=0.2)
    [check] = decision.checks.values()
    assert not check.inconclusive and not check.differing and not decision.objections["XLA"]
    assert any("conv2d" in x.place and "bias" in x.place for x in check.sensitive)
    assert len(check.sensitive) < len(check["XLA"].variables) / 2 and not check.agrees


def unstable(x):
    """Rounding alone makes of each entry another one."""
    return (x * 1e7) % 1.0


def test_an_error_beside_what_rounding_moves_is_found(tf):
    def both(x):
        return {"a": unstable(x), "b": x * 2, "c": x}

    def planted(x):
        return both(x) | {"b": x * 2.002}

    args = (rows(50),)
    right = {"graph": tf.function(both), "XLA": tf.function(both, jit_compile=True)}
    found = xh.compare(right | {"planted": tf.function(planted)}, args, **BRIEF)
    assert "result['b']" in found.failures["planted"]
    assert {array.place for array in found.sensitive} <= {"result['a']"}


def test_whole_numbers_and_zeros_are_not_moved(tf):
    x = np.float32([0, 1, -2, np.inf, 0.5])
    moved = Call(abs, (x,)).perturbed(0).args[0].numpy()
    assert (moved != x).tolist() == [False] * 4 + [True] and abs(moved[4] - 0.5) < 1e-7


def test_where_rounding_moves_most_there_is_no_verdict(tf):
    other = tf.function(lambda x: unstable(x + 1e-7))
    found = xh.compare({"graph": tf.function(unstable), "other": other}, (rows(50),), **BRIEF)
    assert "rounding" in found.inconclusive


# What is moved, and what is not


@pytest.mark.parametrize(
    ("array", "moved"),
    [
        (np.arange(256.0, dtype="float32").reshape(16, 16), 255),  # a picture: all but zero
        (np.float32([0.0, 1.0, 1.0, 3.0]), 0),  # marks, whose meaning would change
        (np.float32([0.5, 1.0, np.inf, 0.0]), 1),
        (np.complex64([0.5 + 0.5j, 1.0, 0.0]), 1),
        (np.arange(99), 0),
    ],
)
def test_measured_numbers_are_moved_and_marks_are_not(tf, array, moved):
    [given] = Call(abs, (array,)).perturbed(0).args
    given = np.asarray(given)
    assert np.count_nonzero(given != array) == moved
    assert moved < 2 or np.array_equal(given.astype("int64"), array.astype("int64"))


@pytest.mark.parametrize("seed", [0, 1, 2])
def test_numbers_are_moved_both_up_and_down(tf, seed):
    """What moves all of them one way, such as a factor, may leave a result where it was."""
    array = np.linspace(0.1, 0.9, 99, dtype="float32")
    [given] = Call(abs, (array,)).perturbed(seed).args
    assert {*np.sign(given.numpy() - array)} == {-1, 1}


def test_the_second_call_begins_with_the_values_of_the_first(tf):
    """Else a step that changes a variable would differ from itself."""
    total = tf.Variable(1.0)
    check = xh.check(lambda x: total.assign_add(x) * 1.0, (np.float32(1.0),))
    assert [outcome.from_itself.size for outcome in check.outcomes.values()] == [0, 0, 0]


def test_what_draws_is_not_said_to_be_moved_by_rounding(tf):
    """Two calls of it differ anyway."""

    def penalized(x):
        mixed = x + 0.1 * tf.random.normal(x.shape)
        return tf.reduce_mean(mixed), x * 2.0

    check = xh.check(penalized, (np.random.default_rng(0).normal(size=9).astype("float32"),))
    assert "random numbers are drawn" in check.inconclusive and not check.sensitive


@pytest.mark.parametrize("recorded", [True, False])
@pytest.mark.parametrize("rounds", [3, 200, 2000])
def test_draws_are_seen_though_nothing_was_recorded(tf, rounds, recorded):
    """A record drops short operations among many, and a long call has none."""

    def walk(seed):
        place = tf.zeros([2])
        for step in tf.range(rounds):
            place += tf.random.stateless_normal([2], seed + step)
        return place

    modes = {"graph": tf.function(walk), "XLA": tf.function(walk, jit_compile=True)}
    calls = {label: Call(fn, (tf.constant([1, 2]),)) for label, fn in modes.items()}
    found = judge(call_each(calls, 1e-4, longest_recorded=math.inf if recorded else 0.0))
    assert found.inconclusive.startswith("random numbers are drawn (StatelessRandomNormal")


def test_random_numbers_in_a_long_loop_are_known_by_their_graph(tf):
    """Of a loop of many short operations the profiler records few."""

    def walk(x):
        for _ in tf.range(300):
            x = 0.5 * x + tf.cast(tf.random.categorical(tf.zeros([1, 5]), 4)[0], tf.float32)
        return x

    assert "Multinomial" in xh.check(walk, (np.ones(4, "float32"),)).inconclusive


def test_a_type_of_the_reader_s_own_is_compared(tf):
    class Pair(tf.experimental.ExtensionType):
        mean: tf.Tensor
        spread: tf.Tensor

    check = xh.check(lambda x: Pair(tf.reduce_mean(x), x * 3.0), (np.float32([1, 2]),))
    assert check.agrees and "result[1]" in dict(leaves(check["XLA"].result))
