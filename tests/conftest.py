"""One TensorFlow for all tests, and a clock that moves only when a test says so."""

import itertools

import matplotlib
import pytest

from xla_helpers import prepare_tensorflow

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with its log kept. The switches are set for this process only."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TF_CPP_VMODULE", "")
        environment.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
        prepare_tensorflow()
        import tensorflow

        # XLA reads its flags when it first compiles: now, before a test sets them for a child.
        tensorflow.function(lambda x: x + 1, jit_compile=True, autograph=False)(1.0)
        yield tensorflow


class Clock:
    """Calling it gives the time. Functions made by `takes` move it, and note their labels."""

    def __init__(self):
        self.now = 0.0
        self.labels = []

    def __call__(self):
        return self.now

    def takes(self, *seconds, label="", result=None):
        """A function whose calls last `seconds` in turn; the last of them lasts for all others."""
        durations = itertools.chain(seconds, itertools.repeat(seconds[-1]))

        def function(*args):
            self.now += next(durations)
            self.labels.append(label)
            return result

        return function


@pytest.fixture
def clock():
    return Clock()
