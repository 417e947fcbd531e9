"""One TensorFlow for all tests, and a clock that moves only when a test says so."""

import itertools
import os

import matplotlib
import pytest

from xla_helpers import prepare_tensorflow
from xla_helpers.startup import compilations_are_logged

matplotlib.use("Agg")


@pytest.fixture(scope="session")
def tf():
    """TensorFlow, with its log in a file, for this process only."""
    with pytest.MonkeyPatch.context() as environment:
        environment.setenv("TF_CPP_VMODULE", "")
        environment.setenv("TF_CPP_MIN_LOG_LEVEL", "0")
        prepare_tensorflow()
        import tensorflow

        # It asks once, with a first compilation. Now the log is still here, which pytest takes away
        # for each test, and XLA reads its flags before a test sets them for a child.
        assert compilations_are_logged()
        yield tensorflow


@pytest.fixture
def keep_log(tf):
    """A test calls it first: pytest takes file descriptor 2 from TensorFlow's log for each."""

    def keep():
        log = os.open(prepare_tensorflow(), os.O_WRONLY | os.O_APPEND)
        os.dup2(log, 2)
        os.close(log)

    return keep


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
