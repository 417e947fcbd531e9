"""One TensorFlow for all tests, and a clock that moves only when a test says so."""

import itertools

import matplotlib
import pytest

from xla_helpers import prepare_tensorflow

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with its log in a file, for this process only."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TF_CPP_VMODULE", "")
        environment.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
        prepare_tensorflow()
        import tensorflow

        # XLA reads its flags at the first compilation: now, before a test sets them for a child.
        tensorflow.function(lambda x: x + 1, jit_compile=True, autograph=False)(1.0)
        yield tensorflow


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
