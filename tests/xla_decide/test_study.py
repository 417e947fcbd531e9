"""What a decision asks of a model, and what one process finds out about it."""

import functools
import itertools
import time
from types import SimpleNamespace

import numpy as np
import pytest

import xla_decide as xd
from xla_decide import calling, reasons, stream, study
from xla_decide.plan import Plan
from xla_decide.reasons import why_slower
from xla_helpers.calls import Call
from xla_helpers.look import profiles
from xla_helpers.look.profiles import Profile
from xla_helpers.modes import functions_run_eagerly

pytestmark = pytest.mark.usefixtures("tf", "keep_log")
SHAPES = [np.ones(n, "float32") for n in (2, 3, 4)]


def test_a_model_that_xla_refuses(tf):
    found = xd.decide(lambda x: tf.strings.length(tf.strings.as_string(x)), [tf.ones([3])])
    assert found.label == "graph" and "AsString" in found.objections["XLA"]
    with pytest.raises(KeyError, match="AsString"):
        found.total("XLA", 1)


def test_keyword_arguments_are_the_model_s(tf):
    """Also those that `compare` and `decide` have options for, under the same names."""
    named = {"rounds": 2.0, "budget": 3.0, "strict": 4.0, "block": 5.0, "clock": 6.0}

    def model(x, rounds, budget, strict, block, clock):
        return x * (rounds + budget + strict + block + clock)

    found = xd.decide(model, [tf.ones([3])], kwargs=named, budget=0.1)
    [check] = found.checks.values()
    assert check["XLA"].result.tolist() == [20.0] * 3
    assert list(found.passes.seconds) == ["graph", "XLA"] and not found.passes.failures
    assert found.passes.as_labelled


@pytest.mark.parametrize("batches", [None, "text", {"x": 1}, [], np.ones([3, 2])])
def test_batches_that_are_none(tf, batches):
    with pytest.raises((TypeError, ValueError)):
        xd.decide(tf.tanh, batches)


@pytest.mark.parametrize("name", ["calls", "min_speedup", "budget", "candidates"])
def test_options_that_make_no_sense(tf, name):
    wrong = {"graph": abs} if name == "candidates" else 0
    with pytest.raises(ValueError, match=name):
        xd.decide(tf.tanh, [tf.ones([2])], **{name: wrong})


def test_a_graph_that_fails_is_no_choice(tf):
    with pytest.raises(ValueError, match="the graph fails") as caught:
        xd.decide(lambda x: x.no_such_thing, [tf.ones([2])])
    assert isinstance(caught.value.__cause__, AttributeError)  # which knows the reader's line


def test_a_training_step_of_keras(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    before = model.get_weights()[0]
    found = xd.decide(model, [(tf.ones([4, 3]), tf.zeros([4, 2]))], step=True, budget=1)
    assert list(found.findings[0].shapes) == ["float32[4, 3], float32[4, 2]"]
    assert np.array_equal(before, model.get_weights()[0])
    [check] = found.checks.values()
    assert any("kernel" in name for name in check["XLA"].variables)


# Streams


def test_a_last_smaller_batch_costs_one_program_and_no_verdict(tf):
    """1,000 rows in batches of 32: each epoch ends with eight."""
    batches = [np.ones([32, 4], "float32")] * 31 + [np.ones([8, 4], "float32")]
    cost = xd.decide(tf.tanh, batches, budget=0.5).findings[0].costs["XLA"]
    assert (cost.new, cost.singletons) == (2, 0)


@pytest.mark.parametrize("order", [1, -1])
def test_a_loop_that_ends_by_itself_is_judged_by_all_examples_in_any_order(tf, monkeypatch, order):
    """Twelve pictures of one shape, which need none to six hundred rounds."""
    monkeypatch.setattr(calling, "CALLING", 0.9)  # so that all are called on a busy machine, too

    def settle(x):
        while tf.reduce_max(x) > 1e-3:
            x = 0.98 * x
        return x

    pictures = [np.full([8, 8], 1e-3 * 1.02**n, "float32") for n in range(0, 600, 50)]
    found = xd.decide(settle, pictures[::order], budget=10)
    assert "XLA" in found.gains and found.findings[0].tables[0].split()[-1] == "12"
    assert any("Calls of one shape take up to" in note for note in found.notes)


def test_shapes_beyond_the_first_are_called_and_not_compared_and_that_is_told(tf, monkeypatch):
    monkeypatch.setattr(calling, "time", SimpleNamespace(monotonic=lambda: 0.0))  # there is enough
    lengths = [np.ones(n, "float32") for n in range(2, 8)]
    found = xd.decide(tf.tanh, lengths, budget=4)
    assert len(found.checks) == calling.COMPARED < found.findings[0].costs["XLA"].new == 6
    assert f"Results were compared with {calling.COMPARED} of 6 shapes." in found.notes


def test_shapes_that_were_not_called_are_told_and_a_slow_stream_refuses_nothing(tf, monkeypatch):
    monkeypatch.setattr(calling, "CALLING", 1e-9)
    monkeypatch.setattr(stream, "DRAW_SECONDS", 0.2)

    def slow():
        for n in itertools.cycle((2, 3, 4)):
            time.sleep(0.01)
            yield np.ones(n, "float32")

    found = xd.decide(tf.tanh, slow(), budget=0.2)
    assert "XLA" in found.gains and not found.findings[0].is_whole
    assert any(note.startswith("Not called: ") for note in found.notes)
    assert any(note.startswith("The shapes are those of the first") for note in found.notes)


def test_a_call_that_takes_long_is_not_recorded_and_raced_all_the_same(tf, monkeypatch):
    """A recording of a million operations would take a minute."""
    monkeypatch.setattr(calling, "RECORDED_SECONDS", 0.0)

    def settle(x):
        for _ in tf.range(2000):
            x = tf.sin(x) * 0.5 + 0.1
        return x

    found = xd.decide(settle, [np.ones(4, "float32")], budget=1)
    assert "XLA" in found.gains
    ran = {label: seen.programs for label, seen in found.passes.evidence.items()}
    assert ran == {"graph": None, "XLA": 1}


# Options of the reader's function


def test_a_signature_and_relaxed_shapes_are_kept(tf, monkeypatch):
    """A graph for any length is traced once; XLA compiles a program for each."""
    monkeypatch.setattr(calling, "time", SimpleNamespace(monotonic=lambda: 0.0))  # there is enough
    lengths = [np.ones([2, n], "float32") for n in range(2, 7)]
    signature = [tf.TensorSpec([None, None])]
    for options, traces in (({"input_signature": signature}, 1), ({"reduce_retracing": True}, 2)):
        costs = xd.decide(tf.function(tf.tanh, **options), lengths, budget=3).findings[0].costs
        assert (costs["graph"].new, costs["XLA"].new) == (traces, 5), options


def test_a_switch_to_eager_mode_that_was_left_is_switched_off_and_told(tf):
    with functions_run_eagerly(True):
        found = xd.decide(tf.tanh, [np.ones(3, "float32")], budget=0.2)
        assert tf.config.functions_run_eagerly()
    assert found.passes.as_labelled and any("run_functions_eagerly" in x for x in found.notes)


def test_variables_have_their_values_again_though_nothing_is_raced(tf):
    total = tf.Variable(0.0)

    def step(x):
        total.assign_add(tf.reduce_sum(x))
        return tf.strings.as_string(x)  # which XLA refuses

    batches, plan = [np.ones(3, "float32")] * 4, Plan(budget=0.5)
    found = study.examine(step, batches, plan, is_first=False)
    assert found.passes is None and len(found.called.stream.sample) > 1 and float(total) == 0


# Why


@pytest.mark.parametrize(
    ("graph", "compiled", "why"),
    [
        ((1, 1), (1, 3), "Under XLA 3 s of 4 s a call are in `by_channel`; in the graph, 1 s."),
        ((1, 1), (2, 0.5), "Under XLA 2 s of 2.5 s a call are in `mix`; in the graph, 1 s."),
        ((1, 3), (1, 1), ""),
        ((1, 1), (1, 1), ""),
    ],
)
def test_the_layer_that_takes_longer_under_xla_is_named(tf, monkeypatch, graph, compiled, why):
    """By recordings that were made up: the seconds of two layers, in the graph and compiled."""
    names = "mix", "by_channel"
    dense = [tf.keras.layers.Dense(3, name=name) for name in names]
    model = tf.keras.Sequential([tf.keras.Input([3]), *dense])
    calls = [Call(tf.function(model, jit_compile=jit), (tf.ones([1, 3]),)) for jit in (None, True)]
    made = {}
    for call, (first, second) in zip(calls, (graph, compiled), strict=True):
        paths = [f"{name}/{name}_1/MatMul" for name in names]  # Keras opens one scope, or two
        starts = (0.0, paths[0]), (first, paths[1]), (first + second, "")
        made[id(call.fn)] = Profile(1, starts)
    monkeypatch.setattr(reasons, "profile", lambda fn, args, kwargs: made[id(fn)])
    assert why_slower(*calls, 0.5) == why
    assert why_slower(*calls, 10.0) == ""  # of which it is less than a third


def test_what_stands_in_no_layer_is_no_reason(tf, monkeypatch):
    """Such as the profiler's own event, before the first operation and after the last."""

    def recorded(fn, args, kwargs):
        rest = 4.0 if fn is calls[1].fn else 1.0
        return Profile(1, ((0.0, profiles.ONE_CALL), (rest, "MatMul"), (rest + 1.0, "")))

    calls = [Call(tf.function(lambda x: x @ x), (tf.ones([2, 2]),)) for _ in range(2)]
    monkeypatch.setattr(reasons, "profile", recorded)
    assert why_slower(*calls, 3.0) == ""


def test_the_reason_is_asked_of_the_graph_and_of_xla_where_xla_does_not_pay(tf, monkeypatch):
    asked = []

    def why(graph, compiled, gap):
        asked.extend([graph.is_compiled, compiled.is_compiled])
        return "Because."

    monkeypatch.setattr(study, "why_slower", why)
    found = xd.decide(tf.tanh, SHAPES[:1], budget=0.2, min_speedup=1e9)
    assert found.choice == "graph" and found.notes[0] == "Because." and asked == [False, True]


def test_compilations_are_named_where_they_decide(tf):
    def model(x):
        for _ in tf.range(300):
            x = tf.tanh(x) + 0.1
        return x

    batches = [np.ones(n, "float32") for n in range(2, 6)]
    found = xd.decide(model, batches, budget=3, calls=3)
    assert found.choice == "graph" and "Compilations decide: 4 programs" in found.findings[0].why


# What people hand in


def test_objects_among_the_arguments(tf):
    keras = tf.keras
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    optimizer, loss = keras.optimizers.SGD(), keras.losses.MeanSquaredError()

    @tf.function
    def train_step(model, optimizer, loss, x, y):
        with tf.GradientTape() as tape:
            value = loss(y, model(x, training=True))
        slopes = tape.gradient(value, model.trainable_variables)
        optimizer.apply_gradients(zip(slopes, model.trainable_variables, strict=True))
        return value

    before = model.get_weights()[0]
    pair = np.ones([4, 3], "float32"), np.ones([4, 2], "float32")
    found = xd.decide(train_step, [(model, optimizer, loss, *pair)], budget=0.5)
    [shape] = found.findings[0].shapes
    assert shape == "Sequential, SGD, MeanSquaredError, float32[4, 3], float32[4, 2]"
    assert "XLA" in found.gains and np.array_equal(before, model.get_weights()[0])


def test_arguments_of_a_partial_are_given_once(tf):
    def scaled(factor, x, shift):
        return tf.tanh(x) * factor + shift

    fn = functools.partial(scaled, 2.0, shift=1.0)
    found = xd.decide(fn, [np.ones(3, "float32")], calls=1, budget=0.2)
    [check] = found.checks.values()
    assert list(check.outcomes) == ["graph", "XLA", "eager"] and check.agrees
    assert "XLA" in found.gains and not found.warnings


def test_several_inputs_in_a_tuple_are_no_list(tf):
    keras = tf.keras
    inputs = [keras.Input([3]), keras.Input([3])]
    model = keras.Model(inputs, keras.layers.Add()(inputs))
    x = np.ones([2, 3], "float32")
    with pytest.raises(ValueError, match="2 inputs as one: give a list of them"):
        xd.decide(model, [(x, x)])
    assert "XLA" in xd.decide(model, [[x, x]], budget=0.2).gains


def test_a_function_without_arguments_and_a_batch_with_weights(tf):
    keras = tf.keras
    assert "XLA" in xd.decide(lambda: tf.tanh(tf.ones([3])), [()], budget=0.2).gains
    model = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    model.compile("sgd", "mse")
    triple = tf.ones([4, 3]), tf.zeros([4, 2]), tf.ones([4])
    found = xd.decide(model, [triple], step=True, budget=0.2)
    assert list(found.findings[0].shapes) == ["float32[4, 3], float32[4, 2], float32[4]"]


def test_random_numbers_are_raced_and_not_compared_in_memory(tf):
    def walk(x):
        for _ in tf.range(400):
            x = 0.5 * x + tf.random.normal([4])
        return x

    found = xd.decide(walk, [np.ones(4, "float32")], calls=10**8, budget=1)
    assert "random numbers are drawn" in found.not_compared["XLA"] and "XLA" in found.gains
    assert "not compared" in found.verdict and "the same" not in str(found)


# Candidates that fail


def checks_numbers(tf):
    return tf.function(lambda x: tf.debugging.check_numerics(tf.tanh(x), "bad"))


def wants_one_shape(tf):
    return tf.function(lambda x: tf.ensure_shape(tf.tanh(x), [3]))


def fails_the_second_time(tf):
    calls = iter([None])

    def model(x):
        return tf.tanh(x) if next(calls, 0) is None else x.missing

    return model


@pytest.mark.parametrize("make", [checks_numbers, wants_one_shape, fails_the_second_time])
def test_a_candidate_that_fails_at_a_later_example_is_no_choice(tf, monkeypatch, make):
    monkeypatch.setattr(calling, "CALLING", 100)  # so that a busy machine calls all three
    bad = np.full(3, np.nan, "float32")
    batches = [np.ones(3, "float32"), bad, np.ones(4, "float32")]
    found = xd.decide(tf.tanh, batches, candidates={"mine": make(tf)}, budget=0.2)
    assert found.objections["mine"] and "XLA" in found.gains and "mine" not in found.gains


@pytest.mark.parametrize("labels", [{1: abs, "1": abs}, {"XLA": abs}, {None: abs, "None": abs}])
def test_candidates_have_labels_of_their_own(tf, labels):
    with pytest.raises(ValueError, match="label"):
        xd.decide(tf.tanh, SHAPES, candidates=labels)


def test_a_better_graph_may_win_and_must_not_be_xla(tf):
    def slow(x):
        for _ in tf.range(300):
            x = tf.tanh(x)
        return x

    def fast(x):
        return slow(x)

    better = {"graph, again": tf.function(fast), "max": max}
    found = xd.decide(slow, [np.ones([3], "float32")], candidates=better, budget=1)
    assert found.objections["graph, again"] == ""
    assert "max" in found.objections  # a built-in function, whose signature nobody knows
