"""Models that no notebook knows. One line above each says what is known of it.

A builder takes TensorFlow, which the fixture `tf` has started, and returns a call as a reader has
it: what is called, its arguments, its keyword arguments.
"""

import tempfile
from collections import namedtuple
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import partial

import numpy as np

ALIVE = []  # TensorFlow's functions hold their variables, and the object of a method, weakly


@dataclass(frozen=True, eq=False)
class Model:
    """A call and what is known of it.

    truth: "same", "different", "refused" or "not compared": what can be said of its modes. why: in
    words, where that is not plain. refuses: the operations that XLA has no code for, each with its
    layer. random_ops: those that draw random numbers. changes: a part of the name of each variable
    that a call changes. unrestored: what it changes and nobody can put back. python: whether there
    is Python to run eagerly.
    """

    name: str
    build: Callable
    truth: str
    why: str = ""
    refuses: dict[str, str] = field(default_factory=dict)
    random_ops: tuple[str, ...] = ()
    changes: tuple[str, ...] = ()
    unrestored: tuple[str, ...] = ()
    python: bool = True


GALLERY: list[Model] = []


def judged(truth, why="", **facts):
    """Add the model that is built by the function below."""

    def add(build):
        GALLERY.append(Model(build.__name__, build, truth, why, **facts))
        return build

    return add


agrees = partial(judged, "same")  # results, and values left in variables
differs = partial(judged, "different")  # another result in some mode, or one instead of an error
not_comparable = partial(judged, "not compared")  # each call may give another result


def refused(operations, **facts):
    """XLA has no code for these operations."""
    return judged("refused", refuses=operations, **facts)


def numbers(*shape, seed=0):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


# Models made of Keras layers


@agrees()
def words_of_varying_length(tf):
    keras = tf.keras
    layers = [keras.layers.Embedding(20, 8, mask_zero=True), keras.layers.LSTM(6)]
    words = np.int32([[3, 4, 5, 0, 0], [7, 8, 9, 10, 11], [1, 0, 0, 0, 0]])
    model = keras.Sequential([*layers, keras.layers.Dense(2)])
    model(words)  # which builds it
    return model, (words,), {}


@refused(
    {"ImageProjectiveTransformV3": "augmentation/zoom"},
    random_ops=("StatelessRandomUniformV2",),
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


@agrees()
def two_inputs_by_name(tf):
    keras, layers = tf.keras, tf.keras.layers
    inputs = {"left": keras.Input([5], name="left"), "right": keras.Input([3], name="right")}
    joined = layers.Concatenate()([layers.Dense(4)(inputs["left"]), inputs["right"]])
    outputs = {"score": layers.Dense(1)(joined), "both": joined}
    return keras.Model(inputs, outputs), ({"left": numbers(2, 5), "right": numbers(2, 3)},), {}


@agrees(changes=("memory",))
def a_network_with_a_memory(tf):
    keras = tf.keras
    shape = keras.Input(batch_shape=[2, 4, 3])
    memory = keras.layers.GRU(5, stateful=True, name="memory")
    return keras.Sequential([shape, memory]), (numbers(2, 4, 3),), {}


@not_comparable("it draws", random_ops=("StatelessRandomUniformV2",), changes=("seed",))
def dropout_in_training(tf):
    keras = tf.keras
    layers = [keras.layers.Dense(64), keras.layers.Dropout(0.5, name="drop")]
    return keras.Sequential([keras.Input([3]), *layers]), (numbers(8, 3),), {"training": True}


@agrees()
def dropout_at_rest(tf):
    fn, args, _ = dropout_in_training(tf)
    return fn, args, {"training": False}


@agrees()
def a_subclassed_model(tf):
    class Tower(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.first = tf.keras.layers.Dense(4, "relu", name="first")
            self.heads = [tf.keras.layers.Dense(1) for _ in range(2)]

        def call(self, x):
            return [head(self.first(x)) for head in self.heads]

    tower = Tower()
    tower(numbers(2, 3))  # which builds it
    return tower, (numbers(2, 3),), {}


@refused({"LookupTableFindV2": "words"})
def words_at_the_end(tf):
    keras, layers = tf.keras, tf.keras.layers
    inputs = keras.Input([3])
    best = layers.Lambda(lambda x: tf.argmax(x, -1), output_shape=())(layers.Dense(4)(inputs))
    lookup = layers.StringLookup(vocabulary=["a", "b", "c"], invert=True, name="words")
    return keras.Model(inputs, lookup(best)), (numbers(2, 3),), {}


@refused({"StringLower": "tokens"})
def text_at_the_start(tf):
    keras, layers = tf.keras, tf.keras.layers
    tokens = layers.TextVectorization(vocabulary=["the", "cat"], split=None, name="tokens")
    text = keras.Input([], dtype="string")
    return keras.Model(text, layers.Embedding(9, 2)(tokens(text))), (np.array(["cat"]),), {}


@agrees()
def a_model_of_keras_2(tf):
    """What transformers makes: a library of its own, whose layers are no Keras 3 layers."""
    import tf_keras as keras

    layers = [keras.layers.Dense(4, "relu", input_shape=[3]), keras.layers.Dense(2)]
    return keras.Sequential(layers), (numbers(2, 3),), {}


@agrees(python=False)
def a_model_exported_by_keras(tf):
    keras = tf.keras
    layers = [keras.layers.Dense(4, "relu"), keras.layers.Dense(2)]
    export = partial(keras.Sequential([keras.Input([3]), *layers]).export, verbose=False)
    return loaded(tf, export).serve, (numbers(2, 3),), {}


# Training steps


@agrees(changes=("weights",))
def a_step_of_descent_by_hand(tf):
    weights = tf.Variable(numbers(3, 2), name="weights")

    def step(x, y):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean((x @ weights - y) ** 2)
        weights.assign_sub(0.1 * tape.gradient(loss, weights))
        return loss

    return step, (numbers(4, 3), numbers(4, 2, seed=1)), {}


def step_of(tf, network, optimizer, loss_of):
    def step(x, y):
        with tf.GradientTape() as tape:
            loss = loss_of(y, network(x, training=True))
        variables = network.trainable_variables
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    return step


@agrees(changes=("kernel", "bias", "iteration", "momentum", "velocity"))
def an_optimizer_made_on_the_first_call(tf):
    keras = tf.keras
    network = keras.Sequential([keras.Input([3]), keras.layers.Dense(2)])
    step = step_of(tf, network, keras.optimizers.Adam(0.01), keras.losses.MeanSquaredError())
    return step, (numbers(4, 3), numbers(4, 2, seed=1)), {}


def classifier(tf):
    """A small network for images, with a batch normalization, and its loss."""
    keras, layers = tf.keras, tf.keras.layers
    parts = [layers.Conv2D(4, 3, activation="relu"), layers.BatchNormalization(), layers.Flatten()]
    network = keras.Sequential([keras.Input([8, 8, 3]), *parts, layers.Dense(3)])
    return network, keras.losses.SparseCategoricalCrossentropy(from_logits=True)


@agrees(changes=("kernel", "moving_mean", "iteration"))
def a_step_of_a_convolution(tf):
    network, loss_of = classifier(tf)
    step = step_of(tf, network, tf.keras.optimizers.SGD(0.1), loss_of)
    return step, (numbers(8, 8, 8, 3), np.arange(8) % 3), {}


@agrees(changes=("total",))
def nothing_but_a_side_effect(tf):
    total = tf.Variable(tf.zeros(3), name="total")

    def add(x):
        total.assign_add(x)

    return add, (numbers(3),), {}


@agrees(changes=("scale",))
def a_variable_made_on_the_first_call(tf):
    class Lazy(tf.Module):
        scale = None

        def __call__(self, x):
            if self.scale is None:
                self.scale = tf.Variable(2.0, name="scale")
            return x * self.scale.assign_add(1.0)

    return Lazy(), (numbers(3),), {}


# Functions and modules written by hand


@agrees()
def an_encoder_written_by_hand(tf):
    matrices = [tf.Variable(numbers(9, 9, seed=i)) for i in range(3)]
    Encoded = namedtuple("Encoded", "states attention")

    def encode(x):
        query, key, value = (x @ matrix for matrix in matrices)
        attention = tf.nn.softmax(query @ tf.linalg.matrix_transpose(key) / 3.0)
        return Encoded(x + attention @ value, attention)

    return encode, (numbers(2, 6, 9),), {}


@agrees()
def a_loop_until_it_is_small(tf):
    def halve(x):
        steps = 0
        while tf.reduce_max(tf.abs(x)) > 0.1:
            x, steps = x / 2, steps + 1
        return x, steps

    return halve, (numbers(5),), {}


@agrees(changes=("state",))
def a_loop_that_keeps_a_state(tf):
    class Smoothed(tf.Module):
        def __init__(self):
            super().__init__()
            self.state = tf.Variable(tf.zeros(3), name="state")

        def __call__(self, rows):
            state = self.state.read_value()
            for row in rows:
                state = 0.9 * state + 0.1 * tf.tanh(row)
            self.state.assign(state)
            return state

    return Smoothed(), (numbers(6, 3),), {}


@agrees()
def a_mask_by_keyword(tf):
    weights = tf.Variable(numbers(4, 4), name="weights")

    def score(x, *, mask=None, training=False):
        x = x @ weights
        x = x if mask is None else tf.where(mask, x, 0.0)
        return tf.reduce_sum(x) if training else x

    return score, (numbers(3, 4),), {"mask": np.array([True, False, True, True]), "training": True}


@refused({"EagerPyFunc": ""})
def python_inside(tf):
    def clip(x):
        return tf.py_function(lambda x: np.clip(x, -1, 1), [x], tf.float32) * 2

    return clip, (numbers(5),), {}


@refused({"IteratorGetNext": ""}, unrestored=("an iterator",))
def a_pipeline_that_goes_on(tf):
    batches = iter(tf.data.Dataset.range(100))
    return (lambda x: x + tf.cast(next(batches), tf.float32)), (numbers(3),), {}


@refused({"LookupTableInsertV2": "", "LookupTableFindV2": ""}, unrestored=("a table",))
def a_table_that_is_written(tf):
    table = tf.lookup.experimental.MutableHashTable(tf.int64, tf.int64, default_value=-1)

    def insert(keys):
        table.insert(keys, 2 * keys)
        return table.lookup(keys)

    return insert, (np.int64([1, 2]),), {}


@agrees()
def a_wrapper_of_a_compiled_function(tf):
    compiled = tf.function(lambda x: tf.tanh(x) + 1.0, jit_compile=True)

    def wrapped(x, times=2):
        for _ in range(times):
            x = compiled(x)
        return x

    return wrapped, (numbers(3),), {"times": 3}


@agrees(changes=("state",))
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


@not_comparable("the stream goes on with each call", random_ops=("RandomStandardNormal",))
def noise_from_a_stream(tf):
    return (lambda x: x + tf.random.normal(x.shape)), (numbers(8),), {}


@not_comparable("XLA draws other numbers", random_ops=("StatelessRandomNormalV2",))
def noise_from_a_seed(tf):
    def noisy(x, seed):
        return x + tf.random.stateless_normal(x.shape, seed, alg="philox")

    return noisy, (numbers(8), np.int32([1, 2])), {}


@not_comparable("it draws", random_ops=("StatelessRandomNormalV2",), changes=("StateVar",))
def noise_from_a_generator(tf):
    generator = tf.random.Generator.from_seed(1, alg="philox")
    return (lambda x: x + generator.normal(x.shape)), (numbers(8),), {}


@not_comparable("a graph keeps the numbers that NumPy drew when it was traced")
def noise_from_numpy(tf):
    return (lambda x: x + np.random.normal(size=x.shape).astype("float32")), (numbers(8),), {}


# Arguments of other kinds


@agrees()
def rows_of_unequal_length(tf):
    rows = tf.ragged.constant([[1.0, 2.0, 3.0], [4.0], []])
    return (lambda rows: tf.reduce_sum(rows * 2.0, axis=1)), (rows,), {}


@refused({"SparseTensorDenseMatMul": ""})
def a_table_that_is_mostly_empty(tf):
    table = tf.sparse.from_dense([[0.0, 2.0, 0.0], [1.0, 0.0, 0.0]])
    return (lambda table, x: tf.sparse.sparse_dense_matmul(table, x)), (table, numbers(3, 2)), {}


@agrees()
def numbers_of_half_and_complex(tf):
    def spectrum(x):
        return tf.cast(x, tf.bfloat16) * 2, tf.signal.fft(tf.cast(x, "complex64"))

    return spectrum, (numbers(8),), {}


@agrees()
def not_a_number(tf):
    return (lambda x: {"nan": x / x, "inf": 1 / x, "none": None}), (np.float32([0, 1]),), {}


# Graphs without their Python


def loaded(tf, save):
    """What TensorFlow loads from the folder that `save` writes."""
    with tempfile.TemporaryDirectory() as folder:
        save(folder)
        ALIVE.append(tf.saved_model.load(folder))
    return ALIVE[-1]


def counter(tf):
    class Counter(tf.Module):
        def __init__(self):
            super().__init__()
            self.count = tf.Variable(0.0, name="count")
            self.weights = tf.Variable(numbers(3, 2), name="weights")

        @tf.function(input_signature=[tf.TensorSpec([4, 3])])
        def __call__(self, x):
            return {"y": tf.tanh(x @ self.weights) + self.count.assign_add(1.0)}

    made = Counter()
    return loaded(tf, partial(tf.saved_model.save, made, signatures=made.__call__))


@agrees(python=False, changes=("count",))
def a_saved_model_by_its_signature(tf):
    signature = counter(tf).signatures["serving_default"]
    return signature, (), {"x": tf.constant(numbers(4, 3))}


@agrees(python=False, changes=("count",))
def a_saved_model_loaded(tf):
    return counter(tf), (numbers(4, 3),), {}


@agrees(python=False, changes=("total",))
def a_concrete_function(tf):
    total = tf.Variable(0.0, name="total")
    ALIVE.append(total)

    @tf.function
    def add(x):
        total.assign_add(tf.reduce_sum(x))
        return x + total

    return add.get_concrete_function(tf.TensorSpec([3])), (tf.constant(numbers(3)),), {}


# Numbers of other sizes


@agrees()
def a_slope_that_is_zero_but_for_rounding(tf):
    """A bias before a normalization: of its slope only rounding is left."""
    weights, bias = tf.Variable(numbers(6, 4)), tf.Variable(tf.zeros(4))

    def slopes(x):
        with tf.GradientTape() as tape:
            y = x @ weights + bias
            y = (y - tf.reduce_mean(y, 0)) / tf.math.reduce_std(y, 0)
            loss = tf.reduce_mean(tf.sin(y))
        return tape.gradient(loss, {"weights": weights, "bias": bias})

    return slopes, (numbers(32, 6),), {}


@differs("eagerly it is half as large")
def tiny_numbers_alone(tf):
    """A difference is one however small the numbers are, when there are no larger ones."""

    def tiny(x):
        return x * (1e-12 if tf.executing_eagerly() else 2e-12)

    return tiny, (np.float32([1.0, 2.0]),), {}


# What the modes do not agree on, and what is no result


@differs("XLA shifts all bits out, a graph no more than 31 places")
def a_shift_beyond_the_last_bit(tf):
    return (lambda x, by: tf.bitwise.left_shift(x, by)), (np.int32([1, 1]), np.int32([3, 40])), {}


@differs("XLA takes an entry that is there")
def an_index_that_is_not_there(tf):
    return (lambda table, ids: tf.gather(table, ids)), (numbers(4, 2), np.int32([1, 9])), {}


@differs("XLA leaves out the check")
def a_check_of_the_input(tf):
    def root(x):
        tf.debugging.assert_non_negative(x)
        return tf.sqrt(tf.abs(x))

    return root, (np.float32([1.0, -1.0]),), {}


@not_comparable("it counts its calls in Python")
def a_result_that_counts(tf):
    calls = []

    def count(x):
        calls.append(1)
        return x + len(calls)

    return count, (np.float32(1.0),), {}


@not_comparable("there is no result")
def nothing_at_all(tf):
    return (lambda x: None), (numbers(3),), {}


# What people bring to `decide`: what is called, example calls, options


def a_fit_with_batch_normalization(tf):
    network, loss_of = classifier(tf)
    network.compile("sgd", loss_of)
    return network, [(numbers(8, 8, 8, 3), np.arange(8) % 3)], {"step": True}


def two_inputs_of_varying_length(tf):
    keras, layers = tf.keras, tf.keras.layers
    inputs = {
        "words": keras.Input([None], dtype="int32", name="words"),
        "places": keras.Input([None, 2], name="places"),
    }
    embedded = layers.Embedding(20, 4)(inputs["words"])
    joined = layers.Concatenate()([embedded, inputs["places"]])
    network = keras.Model(inputs, layers.GlobalAveragePooling1D()(joined))
    lengths = (5, 5, 9)
    words = [np.arange(2 * n, dtype="int32").reshape(2, n) for n in lengths]
    batches = [{"words": w, "places": numbers(*w.shape, 2)} for w in words]
    return network, batches, {}


def text_from_transformers(tf):
    from transformers import TFGPT2LMHeadModel

    from xla_helpers import find_checkpoint

    writer = TFGPT2LMHeadModel.from_pretrained(find_checkpoint("tiny-gpt2"))
    ALIVE.append(writer)
    ids = np.array([[46, 390, 31]], "int32")
    options = {"attention_mask": np.ones_like(ids), "max_new_tokens": 4, "pad_token_id": 0}
    return writer.generate, [(ids,)], {"kwargs": options}


BROUGHT = [
    a_fit_with_batch_normalization,
    two_inputs_of_varying_length,
    text_from_transformers,
]
