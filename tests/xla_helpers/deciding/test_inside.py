"""The layer that is compiled alone: which one, that it is, and that nothing is left behind."""

from types import SimpleNamespace

import numpy as np
import pytest

from xla_helpers.deciding.findings import Findings, Inside, label_of_part, merged
from xla_helpers.deciding.inside import (
    _called_instead,
    _none,
    _shares,
    candidate,
    compiled_at,
    inside,
)
from xla_helpers.deciding.plan import Order, case_of
from xla_helpers.evidence import observe
from xla_helpers.operations import Refusal
from xla_helpers.profiles import Profile

X = np.ones([3, 8], np.float32)


@pytest.fixture(params=["keras", "tf_keras"])
def keras(tf, request):
    """Both generations of Keras."""
    return pytest.importorskip(request.param)


def network(keras, *before):
    """A model of three layers and a layer, each with its own name."""
    layers = keras.layers
    wide = [layers.Dense(8, name=name) for name in ("one", "two")]
    large = [*wide, layers.BatchNormalization(name="three")]
    parts = [keras.Sequential(large, name="large"), layers.Dense(2, name="small")]
    return keras.Sequential([*before, *parts], name="outer")


def asked_python(tf, keras, name="python"):
    """A layer that XLA refuses."""

    class Python(keras.layers.Layer):
        def call(self, x):
            return tf.ensure_shape(tf.py_function(lambda x: 2 * x, [x], tf.float32), x.shape)

    return Python(name=name)


def found(what, *args, **options):
    """What the part says of a call."""
    said = []
    case = case_of(what, [args], options)
    inside(case, Order("inside", shapes=(0,), seconds=60.0), said.append)
    whole = Findings()
    for one in said:
        whole = merged(whole, one)
    return whole


def programs(fn, *args):
    """How many programs of XLA a call runs."""
    fn(*args)
    with observe() as seen:
        fn(*args)
    return seen[0].programs


# Which one


def recorded(**seconds):
    """A profile with so many seconds in an operation of each place, written with two underscores
    for a slash."""
    starts, now = [], 0.0
    for name, length in seconds.items():
        starts.append((now, f"{name.replace('__', '/')}/op"))
        now += length
    return Profile(1, (*starts, (now, "")))


PLACES = dict.fromkeys(["m", "m/a", "m/b", "m/b/c", "m/b/d"])


def test_a_part_has_the_time_of_all_below_it_and_the_largest_comes_first():
    shares = _shares(recorded(m__a=2.0, m__b__c=1.0, m__b__d=2.0, m=1.0, other=2.0), PLACES, set())
    assert list(shares.items()) == [
        ("m", 0.75),
        ("m/b", 0.375),
        ("m/a", 0.25),
        ("m/b/d", 0.25),
        ("m/b/c", 0.125),
    ]


def test_what_holds_something_refused_and_what_takes_no_time_is_no_candidate():
    shares = _shares(recorded(m__a=1.0, m__b__c=3.0), PLACES, {"m/b/d"})
    assert list(shares) == ["m/b/c", "m/a"]
    assert _shares(recorded(m__a=1.0), PLACES, {"m/a", ""}) == {}


def test_of_equal_ones_the_outer_one_comes_first():
    assert list(_shares(recorded(m__b__c=3.0), PLACES, {"m/a"})) == ["m/b", "m/b/c"]


def test_a_part_that_compiles_is_found(tf, keras):
    known = found(network(keras, asked_python(tf, keras)), X)
    assert known.inside.path.split("/")[0] in ("large", "small")
    assert 0 < known.inside.share < 1
    assert known.left_out == ()


def test_a_whole_model_is_a_part_of_the_function_around_it(tf, keras):
    model = network(keras)
    known = found(lambda x: tf.strings.length(tf.strings.as_string(model(x))), X)
    assert known.inside.path == "outer"


def test_an_argument_may_be_named_like_one_of_profile(tf, keras):
    model = network(keras, asked_python(tf, keras))
    case = case_of(lambda x, *, calls: model(x) * calls, [X], {"kwargs": {"calls": 0.5}})
    said = []
    inside(case, Order("inside", shapes=(0,), seconds=60.0), said.append)
    assert said[0].inside


def test_the_whole_is_no_part_of_itself(tf, keras):
    assert found(network(keras), X).inside.path not in ("", "outer")


@pytest.mark.parametrize(("other", "path"), [(0.0, "first"), (1.0, "large")])
def test_the_next_largest_is_taken_when_the_largest_gives_another_result(
    tf, keras, monkeypatch, other, path
):
    class First(keras.layers.Layer):
        def call(self, x):
            return x + (other if "call" in vars(first) else 0.0)  # where it is compiled

    first = First(name="first")
    model = network(keras, asked_python(tf, keras), first)
    number = "_1" if hasattr(first, "path") else ""  # of a scope of Keras 3
    names = {layer: f"outer{number}__{layer}{number}" for layer in ("first", "large", "small")}
    profiled = recorded(**{names["small"]: 1.0, names["first"]: 3.0, names["large"]: 2.0})
    monkeypatch.setattr("xla_helpers.deciding.inside.profile", lambda *args, **kwargs: profiled)
    known = found(model, X)
    assert (known.inside.path, known.left_out) == (path, ())
    assert known.inside.share == {"first": 1 / 2, "large": 1 / 3}[path]


def test_what_cannot_be_compared_is_told(tf, keras):
    """Noise is drawn from a stream, so no two calls are alike."""

    class Noisy(keras.layers.Layer):
        def call(self, x):
            return x @ tf.random.normal([8, 8])

    model = keras.Sequential([asked_python(tf, keras), Noisy(name="noisy")])
    known = found(model, X)
    assert known.inside.path == "noisy"
    [sentence] = known.left_out
    assert sentence.startswith("XLA in noisy: Results were not compared")


def test_it_says_why_there_is_none(tf):
    def clip(x):
        return tf.py_function(lambda x: x, [x], tf.float32) * 2

    [why] = found(clip, X).left_out
    assert "no Keras layer" in why and "around EagerPyFunc (test_inside.py, line" in why
    assert "`fresh`" in found(lambda: clip, X, fresh=True).left_out[0]


def test_a_model_of_which_every_layer_is_refused_has_none(tf, keras):
    known = found(keras.Sequential([asked_python(tf, keras, "p")]), X)
    assert known.inside is None
    assert "EagerPyFunc in" in known.left_out[0]


def test_reasons_are_told_for_each_that_was_tried_and_the_others_are_counted():
    assert _none({"a": "too large", "b": "ValueError: no"}, 5, ()) == (
        "a: too large; b: ValueError: no. There was no time to try 3 more."
    )
    refusals = [Refusal(kind, "", "", "") for kind in "ABCD"]
    assert _none({}, 0, refusals).endswith("or text: A, B, C, ….")


# Compiled alone


def test_one_layer_is_compiled_and_the_model_is_as_it_was(tf, keras):
    model = network(keras, asked_python(tf, keras))
    expected = tf.function(model)(X)
    part = tf.function(compiled_at(model, "large"))
    assert programs(part, tf.constant(X)) == 1
    np.testing.assert_allclose(part(X), expected, rtol=1e-4, atol=1e-5)
    assert not any("call" in vars(layer) for layer in [model, *model._flatten_layers()])
    assert programs(tf.function(model), tf.constant(X)) == 0


def test_a_training_step_compiles_forwards_and_backwards_and_moves_its_variables(tf, keras):
    model = network(keras, asked_python(tf, keras))
    model.compile("sgd", "mse")
    case = case_of(model, [(X, np.ones([3, 2], np.float32))], {"step": True})
    before = [variable.numpy() for variable in model.trainable_variables]
    step = candidate(case, "large")
    assert programs(step, *case.examples[0].args) >= 2
    moved = model.trainable_variables[0].numpy() - before[0]
    assert np.abs(moved).max() > 0


def test_a_signature_is_kept(tf, keras):
    model = network(keras)
    model(X)
    signature = [tf.TensorSpec([None, 8], tf.float32)]
    part = candidate(case_of(model, [X], {"signature": signature}), "large")
    part(X), part(X[:2])
    assert part.experimental_get_tracing_count() == 1


def test_a_layer_that_the_first_call_makes_is_found(tf):
    keras = tf.keras

    class Late(keras.layers.Layer):
        inner = None

        def build(self, shape):
            self.inner = keras.layers.Dense(600, name="inner")
            self.inner.build(shape)
            self.built = True

        def call(self, x):
            return tf.strings.length(tf.strings.as_string(self.inner(x)))

    assert found(keras.Sequential([Late(name="late")]), X).inside.path == "late/inner"


def test_a_condition_in_python_is_converted_as_keras_2_does(tf):
    layers = pytest.importorskip("tf_keras").layers

    class Halved(layers.Layer):
        def call(self, x):
            if tf.reduce_sum(x) > 0:
                x = x / 2
            return x

    layer = Halved(name="halved")
    part = tf.function(compiled_at(lambda x: layer(x), "halved"))
    assert part(X)[0, 0] == 0.5 and part(-X)[0, 0] == -1.0


def test_the_model_is_as_it_was_after_an_error():
    layer = SimpleNamespace(call=1)
    with pytest.raises(ArithmeticError), _called_instead(layer, 2):
        assert layer.call == 2
        raise ArithmeticError
    assert vars(layer) == {"call": 1}


def test_a_layer_that_is_not_there_or_not_called_is_an_error(tf, keras):
    model = network(keras)
    model(X)
    with pytest.raises(ValueError, match="no layer has the path huge"):
        tf.function(compiled_at(model, "huge"))(X)
    idle = keras.layers.Dense(1, name="idle")
    with pytest.raises(RuntimeError, match="idle does its work without"):
        tf.function(compiled_at(lambda x: (idle, model(x))[1], "idle"))(X)


def test_a_label_fits_into_a_result_file():
    def label(path):
        return label_of_part(Findings(inside=Inside(path, "Dense", 0.5)))

    assert label("large/one") == "XLA in large/one"
    assert label("") == "XLA in "
    long = label(f"{'block/' * 9}dense_1")
    assert len(long) == 40 and long.startswith("XLA in …") and long.endswith("block/dense_1")
