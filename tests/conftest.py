"""A clock that moves only when a test says so, and what compiles."""

import itertools
from functools import partial

import matplotlib
import pytest

matplotlib.use("Agg")


class Clock:
    """A call gives the time. The functions that `takes` makes move it, and note their labels."""

    def __init__(self):
        self.now, self.labels = 0.0, []

    def __call__(self):
        return self.now

    def takes(self, *seconds, label="", result=None):
        """A function whose calls take `seconds` in turn, and the last of them from then on."""
        durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))

        def function(*args):
            self.now += next(durations)
            self.labels.append(label)
            return result

        return function


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def jit(tf):
    """`tf.function` with ``jit_compile=True``."""
    return partial(tf.function, jit_compile=True)
