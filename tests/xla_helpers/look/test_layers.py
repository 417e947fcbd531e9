"""Layers by path, and the layers of operations, in the graphs of Keras 3 and of Keras 2."""

from types import SimpleNamespace

import pytest

import xla_helpers as xh
from xla_helpers.look.profiles import Profile

PATHS = ["dense_1", "one/dense", "one/d.x", "two/dense", "two/dense_1"]
OUTSIDE = "not in a layer"


@pytest.fixture(params=["keras", "tf_keras"])
def keras(tf, request):
    """Both generations of Keras."""
    return pytest.importorskip(request.param)


@pytest.fixture
def nested(keras):
    """A layer, and two models in which the same name stands for two layers."""

    def inner(name, *names):
        return keras.Sequential([keras.layers.Dense(3, name=n) for n in names], name=name)

    parts = [keras.layers.Dense(3, name="dense_1"), inner("one", "dense", "d.x")]
    return keras.Sequential([keras.Input([3]), *parts, inner("two", "dense", "dense_1")])


def layer(path, layers):
    """The layer on which the time of an operation is booked."""
    (found,) = Profile(1, ((0.0, path), (1.0, ""))).seconds_by(layers)
    return found


def places(tf, fn, layers):
    """The layers of the matrix products of a function of two rows, in order."""
    graph = tf.function(fn).get_concrete_function(tf.ones([2, 3])).graph
    return [layer(op.name, layers) for op in graph.get_operations() if op.type == "MatMul"]


def test_a_model_is_found_however_it_is_reached(tf, nested):
    ways = [nested, nested.__call__, nested.predict, tf.function(nested), lambda x: nested(x)]
    assert [list(xh.layers_of(fn)) for fn in ways] == [PATHS] * 5
    one, two = nested.layers[-2:]  # several models are parts of the paths
    assert list(xh.layers_of(lambda x: two(one(x)))) == PATHS[1:]


def test_layers_that_stand_alone_and_layers_that_hold_others(keras):
    assert list(xh.layers_of(keras.layers.Dense(1, name="alone"))) == ["alone"]
    both = keras.layers.Bidirectional(keras.layers.LSTM(2, name="lstm"), name="both")
    assert {"both", "both/forward_lstm", "both/backward_lstm"} <= xh.layers_of(both).keys()


def test_a_second_call_and_a_gradient_stand_in_the_same_layers(tf, nested):
    def gradient(x):
        with tf.GradientTape() as tape:
            y = nested(nested(x))
        return tape.gradient(y, nested.trainable_variables)

    found = places(tf, gradient, xh.layers_of(nested))
    assert found[:10] == PATHS * 2 and set(found[10:]) == set(PATHS)


def test_an_operation_outside_of_all_layers_is_in_none(tf, nested):
    layers = xh.layers_of(nested)
    assert places(tf, lambda x: nested(x) @ tf.ones([3, 3]), layers) == [*PATHS, OUTSIDE]
    assert layer("dense_5/MatMul", layers) == OUTSIDE  # of which of the two?
    assert layer("top_1/one_1/MatMul", layers) == OUTSIDE  # of a model, which is no layer


def test_the_name_of_an_attribute_is_not_a_global_name(tf, nested):
    """`inspect.getclosurevars` takes it for one before Python 3.13."""
    box = SimpleNamespace(model=lambda x: x, nested=lambda x: x)
    ways = [
        "lambda x: box.model(x)",
        "lambda x: box.nested(x) + 1",
        "lambda model: model.nested",
    ]
    for way in ways:
        fn = eval(way, {"box": box, "model": nested, "nested": nested})
        assert xh.layers_of(fn) == {}
    assert list(xh.layers_of(eval("lambda x: model(x)", {"model": nested}))) == PATHS
