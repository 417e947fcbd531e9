"""TensorFlow's log: the file that it goes to, and the compilations that it names."""

import os
import re
from collections.abc import Iterator
from contextlib import contextmanager
from functools import cache
from typing import NamedTuple

from .modes import functions_run_eagerly

LOGGED = re.compile(
    r"BuildExecutable on service .* module proto: ([^\s[]+)"  # from XLA's service.cc
    # From device_compiler.h. The line below it says so where the compilation failed.
    r"|Compilation of XLA executable time: (\S+) (us|ms|s|min|h) .*\n"
    r"(.*OP_REQUIRES failed at xla_)?"
)
"""The two lines of a compilation: the program's name, then the seconds that it took."""

UNITS = {"us": 1e-6, "ms": 1e-3, "s": 1.0, "min": 60.0, "h": 3600.0}  # in seconds

IN_BACKGROUND = re.compile(r"--tf_xla_async_compilation(?!=(false|0)\b)")

PROBE = "xla_helpers_probe"  # the name of a program that no count contains

_path: str | None = None


class Compilation(NamedTuple):
    """A program that XLA compiled: its name, and the seconds that it took, to three digits."""

    name: str
    seconds: float


def log_path() -> str | None:
    """The file that TensorFlow's log goes to; None where it goes to the terminal."""
    return _path


def log_to(path: str) -> None:
    """From here on the log is in this file."""
    global _path
    _path = path


def compilations_in(log: str) -> list[Compilation]:
    """Every compilation in a log, without the probe's.

    Neither a program that was built only to be looked at counts nor one that was found in a cache
    on disk.
    """
    built, compiled = list[str](), list[Compilation]()
    for name, number, unit, has_failed in LOGGED.findall(log):
        if name:
            built.append(name)
        elif built:  # else it was found in a cache on disk
            program = built.pop()
            if PROBE not in program and not has_failed:
                compiled.append(Compilation(program, float(number) * UNITS[unit]))
    return compiled


@contextmanager
def watch_compilations() -> Iterator[list[Compilation]]:
    """List what XLA compiles in a block, whoever asks for it.

    Each entry has a `name` and the `seconds` that it took, three digits as TensorFlow logs them. A
    name that comes twice is one graph compiled for two shapes.

    Yields:
        A list, filled when the block ends.

    Raises:
        RuntimeError: When compilations cannot be counted in this process; it says how to fix that.

    Example:
        >>> import tensorflow as tf
        >>> double = tf.function(lambda x: 2 * x, jit_compile=True, autograph=False)
        >>> with watch_compilations() as compiled:
        ...     first, second = double(tf.ones([3])), double(tf.ones([4]))
        >>> len(compiled)
        2
    """
    if _compiles_in_background():
        raise RuntimeError(
            "Compilations cannot be counted here: with --tf_xla_async_compilation they go on in "
            "the background, and TensorFlow's log does not say when one ends."
        )
    if not compilations_are_logged():
        raise RuntimeError(
            "Compilations cannot be counted here: TensorFlow's log does not name them. Restart the "
            "kernel and call xla_helpers.prepare_tensorflow() before `import tensorflow`."
        )
    compiled: list[Compilation] = []
    start = os.path.getsize(str(_path))
    yield compiled
    compiled += compilations_in(_logged_since(start))


def compilations_are_logged() -> bool:
    """Whether TensorFlow's log names what XLA compiles."""
    is_there = _path is not None and os.path.exists(_path)  # someone may have emptied the folder
    return is_there and not _compiles_in_background() and _probe_is_logged()


def _compiles_in_background():
    return bool(IN_BACKGROUND.search(os.environ.get("TF_XLA_FLAGS", "")))


@cache
def _probe_is_logged():
    """Compile something tiny, once, and look for its line: the only proof of a read switch."""
    import tensorflow as tf

    def xla_helpers_probe(x):
        return x + 1

    start = os.path.getsize(str(_path))
    with functions_run_eagerly(False):
        tf.function(xla_helpers_probe, jit_compile=True, autograph=False)(tf.constant(1))
    return "Compilation of XLA executable" in _logged_since(start)


def _logged_since(start):
    """What was logged after the first `start` bytes."""
    with open(str(_path), "rb") as log:
        log.seek(start)
        return log.read().decode("utf-8", errors="replace")
