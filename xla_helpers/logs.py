"""What TensorFlow's log says of compilations: how many, of what, for how long."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from .modes import run_functions_eagerly
from .startup import log_path

LOGGED = re.compile(
    r"BuildExecutable on service .* module proto: ([^\s[]+)"  # from XLA's service.cc
    r"|Compilation of XLA executable time: (\S+) (us|ms|s|min|h) .*\n"  # from device_compiler.h
    r"(?!.*OP_REQUIRES failed at xla_)"  # the compilation failed
)
"""The two lines of a compilation: the program's name, then the seconds that it took."""

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # in seconds

PROBE = "xla_helpers_probe"  # part of the name of what is compiled only to see that it is logged


class Compilation(NamedTuple):
    """A program that XLA compiled: its name, and the seconds that it took, to three digits."""

    name: str
    seconds: float


def compilations_in(log: str) -> list[Compilation]:
    """Every compilation in a log, such as the `stderr` of a `Run`.

    The process must have had the switch that `prepare_tensorflow` sets, which children inherit.
    Seconds are those of the log, three digits. Neither a program that was built only to be looked
    at counts nor one that was found in a cache on disk. Introduced in notebook 05.
    """
    return [compilation for compilation in _compilations(log) if PROBE not in compilation.name]


def _compilations(log):
    built, compiled = [], []
    for name, number, unit in LOGGED.findall(log):
        if name:
            built.append(name)
        elif built:
            compiled.append(Compilation(built.pop(), float(number) * UNITS[unit]))
    return compiled


@contextmanager
def watch_compilations() -> Iterator[list[Compilation]]:
    """What XLA compiles in a block, whoever asks for it.

    A name twice is one graph compiled for two shapes. Introduced in notebook 02.

    Yields: a list, filled when the block ends.
    Raises: RuntimeError when compilations cannot be counted in this process, with the mend.

    >>> import tensorflow as tf
    >>> double = tf.function(lambda x: 2 * x, jit_compile=True, autograph=False)
    >>> with watch_compilations() as compiled:
    ...     first, second = double(tf.ones([3])), double(tf.ones([4]))
    >>> len(compiled)
    2
    """
    if not compilations_are_logged():
        raise RuntimeError(
            "Compilations cannot be counted here: a test compilation left no line in TensorFlow's "
            "log. Restart the kernel and call xla_helpers.prepare_tensorflow() before `import "
            "tensorflow`, which reads the switches of its log only once."
        )
    compiled = []
    with _end_of_log() as log:
        yield compiled
        compiled += compilations_in(log.read())


@cache
def compilations_are_logged() -> bool:
    """Compile something tiny, once, and look for its line: the only proof of a read switch."""
    if log_path() is None:
        return False
    with _end_of_log() as log:
        run_probe()
        return bool(_compilations(log.read()))


def _end_of_log():
    """The log, from which only what comes next will be read."""
    log = open(log_path(), encoding="utf-8", errors="replace")
    log.seek(0, os.SEEK_END)
    return log


def run_probe() -> None:
    """Compile and run something tiny, which is never counted among a reader's compilations."""
    import tensorflow as tf

    def xla_helpers_probe(x):
        return x + 1

    with run_functions_eagerly(False):
        tf.function(xla_helpers_probe, jit_compile=True, autograph=False)(tf.constant(1))
