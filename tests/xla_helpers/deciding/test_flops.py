"""Floating-point operations, against counts made by hand, or by a layer of ones."""

import pytest

from xla_helpers.deciding.flops import Flops, UnknownSizesError, count_flops
from xla_helpers.programs import compiler_ir

PRODUCT = 2 * 4**3  # of two square matrices with four rows


@pytest.fixture(scope="module")
def flops(tf):
    """Those of a call."""
    from tensorflow.compiler.xla.service import hlo_pb2

    def count(fn, *args):
        serialized = compiler_ir(tf.function(fn, jit_compile=True), args, "hlo_serialized")
        return count_flops(hlo_pb2.HloModuleProto.FromString(serialized))

    return count


@pytest.fixture(scope="module")
def square(tf):
    return tf.ones([4, 4])


def gradients(tf, layer):
    """A function that gives those of the squares of a layer's results, the input's too."""

    def find(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(layer(x) ** 2)
        return tape.gradient(total, [x, *layer.trainable_variables])

    return find


def test_a_dense_layer_counts_two_for_each_product_that_is_added(tf, flops):
    layer = tf.keras.layers.Dense(7, activation="relu")
    layer.build([3, 5])
    assert flops(layer, tf.ones([3, 5])) == Flops(2 * 3 * 5 * 7)


@pytest.mark.parametrize(
    "one, other, count",
    [([6, 3, 5], [6, 5, 2], 2 * 6 * 3 * 5 * 2), ([3, 5], [5, 1], 2 * 3 * 5), ([3, 0], [0, 2], 0)],
)
def test_matrices_are_multiplied_one_by_one(tf, flops, one, other, count):
    assert flops(tf.matmul, tf.ones(one), tf.ones(other)) == Flops(count)


def test_a_sum_over_named_axes_is_a_product(tf, flops):
    def scores(q, k):
        return tf.einsum("bqhd,bkhd->bhqk", q, k)

    q, k = tf.ones([2, 5, 3, 8]), tf.ones([2, 7, 3, 8])
    assert flops(scores, q, k) == Flops(2 * 2 * 3 * 5 * 7 * 8)


@pytest.mark.parametrize(
    "kind, given",
    [
        ("Conv2D", {}),
        ("Conv2D", {"strides": 2, "padding": "same"}),
        ("Conv2D", {"groups": 2, "padding": "same"}),
        ("Conv2DTranspose", {"strides": 2, "padding": "same"}),
    ],
)
def test_a_convolution_counts_where_its_filter_meets_data(tf, flops, kind, given):
    """Of ones alone, each result is the number of products that it is a sum of."""
    make = getattr(tf.keras.layers, kind)
    layer = make(6, 3, use_bias=False, kernel_initializer="ones", **given)
    images = tf.ones([2, 9, 9, 4])
    forward = 2 * int(tf.reduce_sum(layer(images)))
    assert flops(layer, images) == Flops(forward)
    assert flops(gradients(tf, layer), images) == Flops(3 * forward)


def test_a_convolution_of_each_channel_counts_where_its_filter_meets_data(tf, flops):
    ones = {"depthwise_initializer": "ones", "use_bias": False, "padding": "same"}
    layer = tf.keras.layers.DepthwiseConv2D(3, depth_multiplier=2, **ones)
    images = tf.ones([2, 5, 5, 4])
    forward = 2 * int(tf.reduce_sum(layer(images)))
    assert flops(layer, images) == Flops(forward)
    assert flops(gradients(tf, layer), images) == Flops(3 * forward)


def test_a_training_step_has_the_products_of_the_way_back(tf, flops):
    hidden, last = (tf.keras.layers.Dense(units, use_bias=False) for units in (8, 2))
    model = tf.keras.Sequential([tf.keras.layers.Input([5]), hidden, last])
    model.compile(optimizer="adam", loss="mse")
    first, second = 2 * 3 * 5 * 8, 2 * 3 * 8 * 2
    forward_and_weights = 2 * (first + second)  # nobody needs the gradient of the input
    batch = tf.ones([3, 5]), tf.ones([3, 2])
    assert flops(model.train_step, batch) == Flops(forward_and_weights + second)


def test_complex_numbers_count_four_times_and_whole_numbers_do_not(tf, flops, square):
    assert flops(lambda x: x @ x, tf.cast(square, tf.complex64)) == Flops(4 * PRODUCT)
    assert flops(lambda x: x @ x, tf.cast(square, tf.int32)) == Flops(0)


def test_what_xla_alone_writes_as_a_product_does_not_count(tf, flops):
    assert flops(lambda x: tf.image.resize(x, [7, 7]), tf.ones([1, 5, 5, 3])) == Flops(0)


def test_a_sum_of_products_of_numbers_is_no_product_of_matrices(tf, flops, square):
    assert flops(lambda x: tf.reduce_sum(x + x * x), square) == Flops(0)


def test_a_function_that_is_called_twice_counts_twice(tf, flops, square):
    inner = tf.function(lambda x: x @ x)
    assert flops(lambda x: inner(x) + inner(x + 1), square) == Flops(2 * PRODUCT)


def test_what_nothing_needs_does_not_count(tf, flops):
    """Keras calls the cell once more than there are steps, to see what shape it returns."""
    layer = tf.keras.layers.LSTM(4)
    layer.build([2, 5, 3])
    cell = 2 * 2 * (3 + 4) * 16
    assert flops(layer, tf.ones([2, 5, 3])) == Flops(5 * cell)


def test_loops_count_as_often_as_they_turn(tf, flops, square):
    def nested(x):
        for _ in tf.range(3):
            for _ in tf.range(4):
                x = tf.tanh(x @ x)
        return x

    assert flops(nested, square) == Flops(12 * PRODUCT)


def test_loops_of_the_way_back_turn_as_often_as_those_forward(tf, flops):
    def scan(x):
        return tf.scan(lambda a, b: tf.tanh(a @ b), x)

    def back(x):
        with tf.GradientTape() as tape:
            tape.watch(x)
            total = tf.reduce_sum(scan(x))
        return tape.gradient(total, x)

    assert flops(back, tf.ones([9, 4, 4])) == Flops(3 * 8 * PRODUCT)


def test_of_a_loop_without_a_known_end_nothing_counts_and_there_may_be_more(tf, flops, square):
    def grow(x):
        while tf.reduce_sum(x) < 1000:
            x = x @ x
        return x @ x

    assert flops(grow, square) == Flops(PRODUCT, least=True)


def test_of_a_condition_the_branch_with_least_counts(tf, flops, square):
    def either(x):
        return tf.cond(tf.reduce_sum(x) > 3, lambda: x @ x @ x, lambda: x @ x)

    def same(x):
        return tf.cond(tf.reduce_sum(x) > 3, lambda: x @ x, lambda: x @ tf.transpose(x))

    assert flops(either, square) == Flops(PRODUCT, least=True)
    assert flops(same, square) == Flops(PRODUCT)


def test_sizes_that_a_run_decides_are_refused(tf, flops, square):
    def chosen(x):
        return tf.boolean_mask(x, x[:, 0] > 0) @ x

    with pytest.raises(UnknownSizesError, match="known only while it runs"):
        flops(chosen, square)
