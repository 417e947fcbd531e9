"""Layers by path, and the layers of operations, in the graphs of Keras 3 and of Keras 2."""

import pytest

from xla_helpers.layers import layer_at, layers_of, without_jit


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


def products(tf, fn):
    """The names of the matrix products of a function of two rows, in order."""
    operations = tf.function(fn).get_concrete_function(tf.ones([2, 3])).graph.get_operations()
    return [op.name for op in operations if op.type == "MatMul"]


PATHS = ["dense_1", "one/dense", "one/d.x", "two/dense", "two/dense_1"]


def test_a_nested_layer_has_its_path(nested):
    assert list(layers_of(nested)) == PATHS


def test_a_model_is_found_however_it_is_reached(tf, nested):
    ways = [nested.__call__, nested.predict, tf.function(nested), lambda x: nested(x)]
    assert [list(layers_of(fn)) for fn in ways] == [PATHS] * 4


def test_several_models_are_parts_of_the_paths(nested):
    one, two = nested.layers[-2:]
    assert list(layers_of(lambda x: two(one(x)))) == PATHS[1:]


def test_what_is_no_layer_is_not_found(keras):
    accuracy = keras.metrics.Mean()
    assert layers_of(lambda x: accuracy(abs(x))) == {}


def test_a_layer_alone_is_found_by_its_name(keras):
    assert list(layers_of(keras.layers.Dense(1, name="alone"))) == ["alone"]


def test_a_layer_that_holds_others_is_listed_but_the_cell_of_a_loop_is_not(keras):
    wrapped = keras.layers.Bidirectional(keras.layers.LSTM(2, name="lstm"), name="both")
    assert list(layers_of(wrapped)) == ["both", "both/forward_lstm", "both/backward_lstm"]


def test_an_operation_is_placed_in_the_layer_that_made_it(tf, nested):
    layers = layers_of(nested)
    assert [layer_at(name, layers) for name in products(tf, lambda x: nested(x))] == PATHS


def test_a_second_call_and_a_gradient_stand_in_the_same_layers(tf, nested):
    def gradient(x):
        with tf.GradientTape() as tape:
            y = nested(nested(x))
        return tape.gradient(y, nested.trainable_variables)

    layers = layers_of(nested)
    places = [layer_at(name, layers) for name in products(tf, gradient)]
    assert places[:10] == PATHS * 2
    assert set(places[10:]) == set(PATHS)


def test_a_model_without_a_scope_of_its_own_is_looked_past(tf, keras):
    inner = keras.Sequential([keras.Input([3]), keras.layers.Dense(3, name="d")], name="inner")
    outer = keras.Sequential([keras.Input([3]), inner])
    [name] = products(tf, outer.get_layer("inner").call)
    assert layer_at(name, layers_of(outer)) == "inner/d"


def test_the_layers_of_a_subclass_and_what_it_does_itself(tf, keras):
    class Twice(keras.Model):
        def __init__(self):
            super().__init__(name="twice")
            self.first = keras.layers.Dense(3, name="dense")
            self.others = [keras.layers.Dense(3, name="dense_2")]

        def call(self, x):
            return self.others[0](self.first(x)) @ tf.ones([3, 3])

    model = Twice()
    layers = layers_of(tf.function(model))
    places = [layer_at(name, layers) for name in products(tf, lambda x: model(x))]
    assert places == ["dense", "dense_2", None]


def test_a_scope_of_another_kind_is_no_layer(tf):
    layers = layers_of(tf.keras.Sequential([tf.keras.layers.Dropout(0.5, name="dropout")]))
    assert layer_at("sequential_1/dropout_1/Mul", layers) == "dropout"
    assert layer_at("sequential_1/dropout/Mul", layers) is None  # of tf.nn.dropout
    assert layer_at("dropout_1", layers) is None  # the name of an operation


def test_a_name_that_two_places_could_have_has_none(tf, nested):
    layers = layers_of(nested)
    assert layer_at("dense_5/MatMul", layers) is None


def test_layers_that_do_not_support_xla_are_found_at_any_depth(tf):
    layers = tf.keras.layers
    inner = tf.keras.Sequential([layers.RandomFlip(), layers.RandomZoom(0.1, name="z")], name="aug")
    found = without_jit(tf.keras.Sequential([inner, layers.Dense(1)]))
    assert found == {"aug/z": inner.layers[-1]}
    assert without_jit(lambda x: x) == {}


def test_what_a_model_does_itself_is_in_no_layer(tf, keras):
    class Itself(keras.Model):
        def call(self, x):
            return x @ tf.ones([3, 3])

    model = Itself(name="itself")
    [name] = products(tf, lambda x: model(x))
    assert layer_at(name, layers_of(model)) is None
