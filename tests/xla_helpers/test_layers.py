"""Layers by path, and the layers of operations, in the graphs of Keras 3 and of Keras 2."""

import pytest

import xla_helpers as xh

PATHS = ["dense_1", "one/dense", "one/d.x", "two/dense", "two/dense_1"]


@pytest.fixture(params=["keras", "tf_keras"])
def keras(tf, request):
    """Both generations of Keras."""
    return pytest.importorskip(request.param)


@pytest.fixture
def nested(keras):
    """A layer, and two models in which the same name stands for two layers."""
    layers = keras.layers

    def inner(name, *names):
        return keras.Sequential([layers.Dense(3, name=n) for n in names], name=name)

    parts = [layers.Dense(3, name="dense_1"), inner("one", "dense", "d.x")]
    return keras.Sequential([keras.Input([3]), *parts, inner("two", "dense", "dense_1")])


def places(tf, fn, layers):
    """The layers of the matrix products of a function of two rows, in order."""
    graph = tf.function(fn).get_concrete_function(tf.ones([2, 3])).graph
    products = [op.name for op in graph.get_operations() if op.type == "MatMul"]
    return [xh.layer_at(name, layers) for name in products]


def test_a_model_is_found_however_it_is_reached(tf, nested):
    ways = [nested, nested.__call__, nested.predict, tf.function(nested), lambda x: nested(x)]
    assert [list(xh.layers_of(fn)) for fn in ways] == [PATHS] * 5
    one, two = nested.layers[-2:]  # several models are parts of the paths
    assert list(xh.layers_of(lambda x: two(one(x)))) == PATHS[1:]


def test_layers_that_stand_alone_and_layers_that_hold_others(keras):
    assert list(xh.layers_of(keras.layers.Dense(1, name="alone"))) == ["alone"]
    both = keras.layers.Bidirectional(keras.layers.LSTM(2, name="lstm"), name="both")
    assert [path for path in xh.layers_of(both) if not path.endswith("cell")] == [
        *("both", "both/forward_lstm", "both/backward_lstm")
    ]


def test_a_second_call_and_a_gradient_stand_in_the_same_layers(tf, nested):
    def gradient(x):
        with tf.GradientTape() as tape:
            y = nested(nested(x))
        return tape.gradient(y, nested.trainable_variables)

    found = places(tf, gradient, xh.layers_of(nested))
    assert found[:10] == PATHS * 2 and set(found[10:]) == set(PATHS)


def test_a_model_without_a_scope_of_its_own_is_looked_past(tf, keras):
    inner = keras.Sequential([keras.Input([3]), keras.layers.Dense(3, name="d")], name="inner")
    outer = keras.Sequential([keras.Input([3]), inner])
    call = outer.get_layer("inner").call
    assert places(tf, call, xh.layers_of(outer)) == ["inner/d"]


def test_the_layers_of_a_subclass_and_what_it_does_itself(tf, keras):
    class Twice(keras.Model):
        def __init__(self):
            super().__init__(name="twice")
            self.first = keras.layers.Dense(3, name="dense")
            self.others = [keras.layers.Dense(3, name="dense_2")]

        def call(self, x):
            return self.others[0](self.first(x)) @ tf.ones([3, 3])

    model = Twice()
    layers = xh.layers_of(tf.function(model))
    assert places(tf, lambda x: model(x), layers) == ["dense", "dense_2", None]


def test_an_operation_outside_of_all_layers_is_in_none(tf, nested):
    assert places(tf, lambda x: x @ tf.ones([3, 3]), xh.layers_of(nested)) == [None]
    assert xh.layer_at("dense_5/MatMul", xh.layers_of(nested)) is None  # of which of the two?
    for inner_model in ("one", "one_1"):  # which is a model, and no layer
        assert xh.layer_at(f"top_1/{inner_model}/MatMul", xh.layers_of(nested)) is None


def test_a_scope_of_another_kind_is_no_layer(tf):
    layers = xh.layers_of(tf.keras.Sequential([tf.keras.layers.Dropout(0.5, name="dropout")]))
    assert xh.layer_at("sequential_1/dropout_1/Mul", layers) == "dropout"
    assert xh.layer_at("sequential_1/dropout/Mul", layers) is None  # of tf.nn.dropout
