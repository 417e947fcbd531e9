"""Models that no notebook knows, each with what is true about it: the helpers must say the same.

Each builder takes TensorFlow, which the fixture `tf` has started, and returns what a reader would
give to a helper: a function, its arguments, its keyword arguments.
"""

import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import NamedTuple

import numpy as np

HISTORY = []  # what `a_list_that_grows` appends to
ALIVE = []  # what TensorFlow's functions hold weakly: their variables, and the object of a method


@dataclass(frozen=True, eq=False)
class Model:
    """A call and the truth about it.

    build: takes TensorFlow, returns (fn, args, kwargs). changes: a part of the name of each
    variable that the call changes. draws: the operations that draw random numbers, each with its
    layer. refused: the operations that XLA has no code for, each with its layer. kept: what the
    call changes and nobody can put back, a part of its text. eager: whether there is Python to
    run eagerly. same: whether XLA on a CPU gives what the graph gives. slow: takes seconds.
    """

    name: str
    build: Callable
    changes: tuple[str, ...] = ()
    draws: dict[str, str] = field(default_factory=dict)
    refused: dict[str, str] = field(default_factory=dict)
    kept: tuple[str, ...] = ()
    eager: bool = True
    same: bool = True
    slow: bool = False

    @property
    def modes(self):
        return ["eager", "graph", "XLA"] if self.eager else ["graph", "XLA"]

    @property
    def agrees(self):
        """Whether nothing at all sets its modes apart."""
        return self.same and not self.refused


GALLERY: list[Model] = []


def model(**facts):
    """Hang the call that a builder makes in the gallery, under the builder's name."""

    def hang(build):
        GALLERY.append(Model(build.__name__, build, **facts))
        return build

    return hang


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def by_name(name):
    """One of the gallery."""
    return next(each for each in GALLERY if each.name == name)


# Models made of Keras layers


@model()
def words_of_varying_length(tf):
    keras = tf.keras
    layers = [keras.layers.Embedding(20, 8, mask_zero=True), keras.layers.LSTM(6)]
    words = np.int32([[3, 4, 5, 0, 0], [7, 8, 9, 10, 11], [1, 0, 0, 0, 0]])
    return keras.Sequential([*layers, keras.layers.Dense(2)]), (words,), {}


@model(
    draws={"StatelessRandomUniformV2": "augmentation/flip"},
    refused={"ImageProjectiveTransformV3": "augmentation/zoom"},
    changes=("seed_generator",),
)
def augmentation_before_a_base(tf):
    keras, layers = tf.keras, tf.keras.layers
    flip, zoom = layers.RandomFlip(name="flip", seed=1), layers.RandomZoom(0.1, name="zoom", seed=2)
    augmentation = keras.Sequential([flip, zoom], name="augmentation")
    base = keras.Sequential([layers.Conv2D(4, 3), layers.GlobalAveragePooling2D()], name="base")
    images = keras.Input([12, 12, 3])
    outputs = layers.Dense(2)(base(augmentation(images)))
    return keras.Model(images, outputs), (numbers(2, 12, 12, 3),), {"training": True}


@model()
def two_inputs_by_name(tf):
    keras, layers = tf.keras, tf.keras.layers
    inputs = {"left": keras.Input([5], name="left"), "right": keras.Input([3], name="right")}
    joined = layers.Concatenate()([layers.Dense(4)(inputs["left"]), inputs["right"]])
    outputs = {"score": layers.Dense(1)(joined), "both": joined}
    return keras.Model(inputs, outputs), ({"left": numbers(2, 5), "right": numbers(2, 3)},), {}


@model(changes=("memory",))
def a_network_with_a_memory(tf):
    keras = tf.keras
    shape = keras.Input(batch_shape=[2, 4, 3])
    memory = keras.layers.GRU(5, stateful=True, name="memory")
    return keras.Sequential([shape, memory]), (numbers(2, 4, 3),), {}


@model(changes=("moving_mean", "moving_variance"))
def batch_normalisation_in_training(tf):
    keras = tf.keras
    layers = [keras.layers.Dense(4), keras.layers.BatchNormalization()]
    return keras.Sequential([keras.Input([3]), *layers]), (numbers(8, 3),), {"training": True}


@model(draws={"StatelessRandomUniformV2": "drop"}, changes=("seed",), same=False)
def dropout_in_training(tf):
    keras = tf.keras
    layers = [keras.layers.Dense(64), keras.layers.Dropout(0.5, name="drop")]
    return keras.Sequential([keras.Input([3]), *layers]), (numbers(8, 3),), {"training": True}


@model()
def dropout_at_rest(tf):
    fn, args, _ = dropout_in_training(tf)
    return fn, args, {"training": False}


@model()
def a_subclassed_model(tf):
    class Tower(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4, "relu", name="first")
            self.heads = [tf.keras.layers.Dense(1) for _ in range(2)]

        def call(self, x):
            return [head(self.first(x)) for head in self.heads]

    return Tower(), (numbers(2, 3),), {}


@model(refused={"LookupTableFindV2": "words"})
def words_at_the_end(tf):
    keras, layers = tf.keras, tf.keras.layers
    inputs = keras.Input([3])
    best = layers.Lambda(lambda x: tf.argmax(x, -1), output_shape=())(layers.Dense(4)(inputs))
    lookup = layers.StringLookup(vocabulary=["a", "b", "c"], invert=True, name="words")
    return keras.Model(inputs, lookup(best)), (numbers(2, 3),), {}


@model(refused={"StringLower": "tokens"})
def text_at_the_start(tf):
    keras, layers = tf.keras, tf.keras.layers
    tokens = layers.TextVectorization(vocabulary=["the", "cat"], name="tokens")
    text = keras.Input([], dtype="string")
    return keras.Model(text, layers.Embedding(9, 2)(tokens(text))), (np.array(["the cat"]),), {}


@model()
def a_model_of_keras_2(tf):
    """What transformers makes: a library of its own, whose layers are no Keras 3 layers."""
    import tf_keras as keras

    layers = [keras.layers.Dense(4, "relu", input_shape=[3]), keras.layers.Dense(2)]
    return keras.Sequential(layers), (numbers(2, 3),), {}


# Training steps


@model(changes=("weights", "bias"))
def a_step_of_descent_by_hand(tf):
    weights = tf.Variable(numbers(3, 2), name="weights")
    bias = tf.Variable(tf.zeros(2), name="bias")

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights + bias - y) ** 2)
        slopes = tape.gradient(loss, (weights, bias))
        for variable, slope in zip((weights, bias), slopes, strict=True):
            variable.assign_sub(0.1 * slope)
        return loss

    return step, (numbers(4, 3), numbers(4, 2, seed=1)), {}


@model(changes=("kernel", "bias", "iteration", "momentum", "velocity"))
def an_optimiser_made_on_the_first_call(tf):
    keras = tf.keras
    network = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    optimiser = keras.optimizers.Adam(0.01)

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((network(x, training=True) - y) ** 2)
        variables = network.trainable_variables
        slopes = tape.gradient(loss, variables)
        optimiser.apply_gradients(zip(slopes, variables, strict=True))
        return loss

    return step, (numbers(4, 3), numbers(4, 2, seed=1)), {}


@model(changes=("total",))
def nothing_but_a_side_effect(tf):
    total = tf.Variable(tf.zeros(3), name="total")

    def add(x):
        total.assign_add(x)

    return add, (numbers(3),), {}


@model(changes=("scale",))
def a_variable_made_on_the_first_call(tf):
    class Lazy(tf.Module):
        scale = None

        def __call__(self, x):
            if self.scale is None:
                self.scale = tf.Variable(2.0, name="scale")
            return x * self.scale.assign_add(1.0)

    return Lazy(), (numbers(3),), {}


# Functions and modules written by hand


class Encoded(NamedTuple):
    states: object
    attention: object


@model()
def an_encoder_written_by_hand(tf):
    class Encoder(tf.Module):
        def __init__(self, width):
            super().__init__(name="encoder")
            self.projections = {
                key: tf.Variable(numbers(width, width, seed=i), name=key)
                for i, key in enumerate(("query", "key", "value"))
            }

        def __call__(self, x):
            query, key, value = (x @ self.projections[key] for key in ("query", "key", "value"))
            attention = tf.nn.softmax(query @ tf.linalg.matrix_transpose(key) / 3.0)
            return Encoded(x + attention @ value, attention)

    return Encoder(9), (numbers(2, 6, 9),), {}


@model()
def a_loop_until_it_is_small(tf):
    def halve(x):
        steps = 0
        while tf.reduce_max(tf.abs(x)) > 0.1:
            x, steps = x / 2, steps + 1
        return x, steps

    return halve, (numbers(5),), {}


@model()
def a_mask_by_keyword(tf):
    weights = tf.Variable(numbers(4, 4), name="weights")

    def score(x, *, mask=None, training=False):
        x = x @ weights
        x = x if mask is None else tf.where(mask, x, 0.0)
        return tf.reduce_sum(x) if training else x

    return score, (numbers(3, 4),), {"mask": np.array([True, False, True, True]), "training": True}


@model(refused={"EagerPyFunc": ""}, kept=("EagerPyFunc",))
def python_inside(tf):
    def clip(x):
        return tf.py_function(lambda x: np.clip(x, -1, 1), [x], tf.float32) * 2

    return clip, (numbers(5),), {}


@model(kept=("HISTORY",))
def a_list_that_grows(tf):
    def double(x):
        HISTORY.append(1)
        return 2 * x

    return double, (numbers(3),), {}


@model(kept=("calls",))
def a_number_that_counts(tf):
    class Counted(tf.Module):
        calls = 0

        def __call__(self, x):
            self.calls += 1
            return 2 * x

    return Counted(), (numbers(3),), {}


@model(refused={"IteratorGetNext": ""}, kept=("Iterator",), same=False)
def a_pipeline_that_goes_on(tf):
    batches = iter(tf.data.Dataset.range(100))
    return (lambda x: x + tf.cast(next(batches), tf.float32)), (numbers(3),), {}


@model(refused={"LookupTableInsertV2": "", "LookupTableFindV2": ""}, kept=("Lookup",))
def a_table_that_is_written(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, default_value=-1)

    def insert(keys):
        table.insert(keys, 2 * keys)
        return table.lookup(keys)

    return insert, (np.int64([1, 2]),), {}


@model()
def a_wrapper_of_a_compiled_function(tf):
    compiled = tf.function(lambda x: tf.tanh(x) + 1.0, jit_compile=True)

    def wrapped(x, times=2):
        for _ in range(times):
            x = compiled(x)
        return x

    return wrapped, (numbers(3),), {"times": 3}


@model(changes=("state",))
def a_method_that_is_compiled(tf):
    class Filter(tf.Module):
        def __init__(self):
            super().__init__()
            self.state = tf.Variable(tf.zeros(3), name="state")

        @tf.function(jit_compile=True)
        def step(self, x):
            self.state.assign(0.9 * self.state + 0.1 * x)
            return self.state

    ALIVE.append(Filter())
    return ALIVE[-1].step, (numbers(3),), {}


@model(draws={"RandomStandardNormal": ""}, kept=("RandomStandardNormal",), same=False)
def noise_from_a_stream(tf):
    return (lambda x: x + tf.random.normal(x.shape)), (numbers(8),), {}


@model(draws={"StatelessRandomNormalV2": ""}, same=False)
def noise_from_a_seed(tf):
    def noisy(x, seed):
        return x + tf.random.stateless_normal(x.shape, seed, alg="philox")

    return noisy, (numbers(8), np.int32([1, 2])), {}


@model(draws={"StatelessRandomNormalV2": ""}, changes=("StateVar",), same=False)
def noise_from_a_generator(tf):
    generator = tf.random.Generator.from_seed(1, alg="philox")
    return (lambda x: x + generator.normal(x.shape)), (numbers(8),), {}


@model(draws={"numpy.random": ""}, kept=("numpy.random",), same=False)
def noise_from_numpy(tf):
    return (lambda x: x + np.random.normal(size=x.shape).astype("float32")), (numbers(8),), {}


# Arguments of other kinds


@model()
def rows_of_unequal_length(tf):
    rows = tf.ragged.constant([[1.0, 2.0, 3.0], [4.0], []])
    return (lambda rows: tf.reduce_sum(rows * 2.0, axis=1)), (rows,), {}


@model(refused={"SparseTensorDenseMatMul": ""})
def a_table_that_is_mostly_empty(tf):
    table = tf.sparse.from_dense([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    return (lambda table, x: tf.sparse.sparse_dense_matmul(table, x)), (table, numbers(3, 2)), {}


@model()
def numbers_of_half_and_complex(tf):
    def spectrum(x):
        return {
            "half": tf.cast(x, tf.bfloat16) * 2,
            "waves": tf.signal.fft(tf.cast(x, "complex64")),
        }

    return spectrum, (numbers(8),), {}


@model()
def not_a_number(tf):
    return (lambda x: {"nan": x / x, "inf": 1 / x, "none": None}), (np.float32([0, 1]),), {}


# Graphs without their Python


@cache
def _folder():
    """Gone when the process ends."""
    return tempfile.TemporaryDirectory()


@cache
def _saved(tf):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0.0, name="count")
            self.weights = tf.Variable(numbers(3, 2), name="weights")

        @tf.function(input_signature=[tf.TensorSpec([4, 3])])
        def __call__(self, x):
            return {"y": tf.tanh(x @ self.weights) + self.count.assign_add(1.0)}

    folder, counter = str(Path(_folder().name) / "counter"), Counter()
    tf.saved_model.save(counter, folder, signatures=counter.__call__)
    return folder


@model(eager=False, changes=("count",))
def a_saved_model_by_its_folder(tf):
    return _saved(tf), (numbers(4, 3),), {}


@model(eager=False, changes=("count",))
def a_saved_model_by_its_signature(tf):
    loaded = tf.saved_model.load(_saved(tf))
    ALIVE.append(loaded)
    return loaded.signatures["serving_default"], (), {"x": tf.constant(numbers(4, 3))}


@model(eager=False, changes=("count",))
def a_saved_model_loaded(tf):
    return tf.saved_model.load(_saved(tf)), (numbers(4, 3),), {}


@model(eager=False, changes=("total",))
def a_concrete_function(tf):
    total = tf.Variable(0.0, name="total")
    ALIVE.append(total)

    @tf.function
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return x + total

    return add.get_concrete_function(tf.TensorSpec([3])), (tf.constant(numbers(3)),), {}


# Numbers of other sizes


@model(slow=True, changes=("moving_mean", "moving_variance"))
def the_weights_of_a_mobilenet(tf):
    """The moving means before which the mean is zero are rounding alone, about 1e-10.

    The first blocks have such means, so the other thirteen are left out.
    """
    whole = tf.keras.applications.MobileNetV2(
        input_shape=(32, 32, 3), alpha=0.35, weights=None, include_top=False
    )
    network = tf.keras.Model(whole.input, whole.get_layer("block_3_project_BN").output)

    def statistics(x):
        network(x, training=True)
        return {variable.path: variable + 0 for variable in network.variables}

    return statistics, (numbers(16, 32, 32, 3),), {}


@model()
def a_slope_that_is_zero_but_for_rounding(tf):
    """A bias before a normalisation: of its slope only rounding is left."""
    weights, bias = tf.Variable(numbers(6, 4)), tf.Variable(tf.zeros(4))

    def slopes(x):
        with tf.GradientTape() as tape:
            y = x @ weights + bias
            y = (y - tf.reduce_mean(y, 0)) / tf.math.reduce_std(y, 0)
            loss = tf.reduce_mean(tf.sin(y))
        return tape.gradient(loss, {"weights": weights, "bias": bias})

    return slopes, (numbers(32, 6),), {}


@model(same=False)
def tiny_numbers_alone(tf):
    """A difference is one however small the numbers are, when there are no larger ones."""

    def tiny(x):
        return x * (1e-12 if tf.executing_eagerly() else 2e-12)

    return tiny, (np.float32([1.0, 2.0]),), {}
