"""The gradients of a training step, which agree with those worked out by hand."""

import numpy as np
import pytest

from xla_helpers.deciding.gradients import gradients, has_gradients

X, Y = np.float32([[1.0, 2.0], [3.0, 4.0]]), np.float32([[1.0], [0.0]])
KERNEL = np.float32([[0.5], [-0.5]])


def compiled(keras, base=None):
    model = (base or keras.Sequential)([keras.Input([2]), keras.layers.Dense(1, name="only")])
    model.compile("sgd", "mse")
    model.layers[-1].kernel.assign(KERNEL)
    return model


@pytest.mark.parametrize("weight", [None, np.float32([1.0, 0.0])])
def test_gradients_of_the_loss_by_path(tf, weight):
    data = (X, Y) if weight is None else (X, Y, weight)
    found = gradients(compiled(tf.keras), data)
    weights = np.ones(2, "float32") if weight is None else weight
    slopes = weights[:, None] * (X @ KERNEL - Y)  # the mean over two rows, times two
    kernel, bias = (found[name] for name in sorted(found, reverse=True))
    assert [name.rsplit("/")[-1] for name in sorted(found, reverse=True)] == ["kernel", "bias"]
    np.testing.assert_allclose(kernel, X.T @ slopes, rtol=1e-5)
    np.testing.assert_allclose(bias, slopes.sum(0), rtol=1e-5)


def test_a_variable_without_a_gradient_is_left_out(tf):
    model = compiled(tf.keras)
    model.layers[-1].trainable = False
    assert gradients(model, (X, Y)) == {}


def test_only_the_step_of_keras_follows_them(tf):
    class Own(tf.keras.Sequential):
        def train_step(self, data):
            return {}

    assert has_gradients(compiled(tf.keras)) and not has_gradients(compiled(tf.keras, Own))
    assert not has_gradients(None)
