"""The same random numbers in every mode, so that the rest of a computation can be compared.

XLA makes other floating-point numbers than a graph of the same random bits; the bits are the same.
"""

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from unittest.mock import patch

import numpy as np

from ..operations import Draw

ROOM = "tensorflow.python.ops.gen_stateless_random_ops_v2"
"""Where TensorFlow takes its stateless draws from."""

UNIFORM = "StatelessRandomUniformV2"
"""The draw of which no function is computed that could be rounded otherwise."""

EDGE = 2.0
"""Standard deviations at which a truncated normal distribution ends."""


@contextmanager
def draws_aligned() -> Iterator[None]:
    """In the block, functions that are traced draw numbers that are the same in every mode.

    It holds for the stateless draws, uniform, normal and truncated, of which the dropout of Keras
    is made; their distributions stay. What was traced before draws as it did.
    """
    with (
        patch(f"{ROOM}.stateless_random_uniform_v2", _drawn_by(_uniform)),
        patch(f"{ROOM}.stateless_random_normal_v2", _drawn_by(_normal)),
        patch(f"{ROOM}.stateless_truncated_normal_v2", _drawn_by(_truncated)),
    ):
        yield


def draws_are_equal(draws: Iterable[Draw]) -> bool:
    """Whether aligned draws have the same bits in every mode; others differ in the last digits."""
    return all(draw.operation == UNIFORM for draw in draws)


def _drawn_by(of_uniform):
    """Instead of an operation that draws; `of_uniform` makes its numbers of uniform ones."""

    def draw(shape, key, counter, alg, dtype=np.float32, name=None):
        import tensorflow as tf

        bits = tf.raw_ops.StatelessRandomUniformFullIntV2(
            shape=shape, key=key, counter=counter, alg=alg, dtype=tf.uint32
        )
        whole = tf.cast(tf.bitwise.right_shift(bits, tf.constant(9, tf.uint32)), tf.float32)
        return tf.cast(of_uniform(whole * 2.0**-23), dtype, name=name)

    return draw


def _uniform(numbers):
    """numbers: from 0 to below 1, in steps of 2 to the power of -23."""
    return numbers


def _normal(numbers):
    import tensorflow as tf

    return tf.math.ndtri(numbers + 2.0**-24)  # which is infinite at 0


def _truncated(numbers):
    """Those between `-EDGE` and `EDGE`."""
    import tensorflow as tf

    least = 0.5 * tf.math.erfc(EDGE / np.float32(np.sqrt(2)))
    return tf.math.ndtri(least + (1 - 2 * least) * numbers)
