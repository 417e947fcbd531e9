"""What is raced, of models as people write them."""

from typing import NamedTuple

import numpy as np
import pytest

import xla_decide as xd
import xla_helpers as xh
from xla_decide.on_cards import compile_example
from xla_decide.plan import Plan

pytestmark = pytest.mark.usefixtures("tf", "keep_log")
ONES = np.ones([4, 3], "float32")


def gan(keras, tf, *, unbuilt=False):
    """A model with a `train_step` of its own and no `call`."""

    class Gan(keras.Model):
        def __init__(self):
            super().__init__()
            inputs = [] if unbuilt else [keras.Input([3])]
            self.generator = keras.Sequential([*inputs, keras.layers.Dense(3)])
            self.judge = keras.Sequential([*inputs, keras.layers.Dense(1)])

        def train_step(self, images):
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(self.judge(self.generator(images)) ** 2)
            weights = self.generator.trainable_variables
            self.optimizer.apply_gradients(zip(tape.gradient(loss, weights), weights, strict=True))
            return {"loss": loss}

    model = Gan()
    model.compile("sgd")
    return model


@pytest.mark.parametrize("unbuilt", [False, True])
def test_a_model_without_a_call_is_asked_for_its_step(tf, unbuilt):
    model = gan(tf.keras, tf, unbuilt=unbuilt)
    before = [variable.numpy() for variable in model.generator.variables]
    found = xd.decide(model, [ONES], step=True, budget=0.2)
    assert "XLA" in found.gains and not found.not_compared
    assert any("had no weights" in note for note in found.notes) == unbuilt
    for variable, value in zip(model.generator.variables, before, strict=False):
        np.testing.assert_array_equal(variable.numpy(), value)


def test_a_step_as_a_function_needs_no_call_either(tf):
    model = gan(tf.keras, tf)
    assert "XLA" in xd.decide(model.train_step, [ONES], budget=0.2).gains
    with pytest.raises(ValueError, match="Sequential is not built yet"):
        xh.check(gan(tf.keras, tf, unbuilt=True).train_step, (ONES,))


def test_a_step_takes_what_its_model_does_not(tf):
    """As that of a Wasserstein GAN takes images, and its model noise."""

    class Maker(tf.keras.Model):
        def __init__(self):
            super().__init__()
            self.dense = tf.keras.layers.Dense(3)

        def call(self, noise):
            return self.dense(tf.ensure_shape(noise, [None, 8]))

        def train_step(self, images):
            return {"loss": tf.reduce_mean((self(tf.zeros([4, 8])) - images) ** 2)}

    model = Maker()
    model.compile("sgd")
    found = xd.decide(model, [ONES], step=True, budget=0.2)
    assert "XLA" in found.gains and any("Maker had no weights" in note for note in found.notes)


class Trajectory(NamedTuple):
    state: np.ndarray
    reward: np.ndarray


def test_a_named_tuple_is_one_argument(tf):
    found = xd.decide(lambda x: x.state + x.reward, [Trajectory(ONES, ONES)], budget=0.1)
    assert "XLA" in found.gains


def test_a_signature_casts_as_it_does_in_a_call(tf):
    signature = [tf.TensorSpec([None, 3], tf.float32)]
    double = tf.function(lambda x: 2.0 * x, input_signature=signature)
    found = xd.decide(double, [np.ones([4, 3])], budget=0.1)  # of float64
    assert "XLA" in found.gains and not found.warnings


@pytest.mark.parametrize("name", ["keras", "tf_keras"])
def test_a_part_without_an_input_is_built(tf, name):
    keras = pytest.importorskip(name)

    class Two(keras.Model):
        def __init__(self):
            super().__init__()
            self.part = keras.Sequential([keras.layers.Dense(3)])

        def call(self, x):
            return self.part(x)

    found = xd.decide(Two(), [ONES], budget=0.2)
    assert "XLA" in found.gains and any("Two had no weights" in note for note in found.notes)


@pytest.mark.parametrize("kind", ["LSTM", "GRU"])
def test_a_layer_that_keras_gives_to_cudnn_is_not_counted_as_its_loop(tf, kind):
    layer = getattr(tf.keras.layers, kind)(4, name="reads")
    model, sequences = tf.keras.Sequential([tf.keras.Input([5, 3]), layer]), np.ones([2, 5, 3])
    with pytest.raises(ValueError, match=r"gives reads to cuDNN.*use_cudnn=False"):
        compile_example(model, [sequences.astype("float32")], Plan(), ["T4"])
